// The audit log of a publisher's account.

import { AuditEntries } from "../../../shared/account/audit";
import type { KeptPublisher } from "../../../shared/generated/openapi";
import { get } from "../../api";
import { audit as text } from "../../messages/publishers";
import { Part } from "./part";

export const Audit = ({ publisher: { publisher_id } }: { publisher: KeptPublisher }) => (
  <Part title={text.title} intro={text.intro}>
    <AuditEntries
      cacheKey={`audit ${publisher_id}`}
      load={(cursor) => get("/publishers/{publisher_id}/audit", { publisher_id, limit: 50, cursor })}
    />
  </Part>
);

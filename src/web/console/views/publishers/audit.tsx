// The audit log of a publisher's account.

import { AuditEntries } from "../../../shared/account/audit";
import { publishersApi as api } from "../../api/publishers";
import { audit as text } from "../../messages/publishers";
import type { Publisher } from "../../types/publishers";
import { Part } from "./part";

export const Audit = ({ publisher: { publisher_id: id } }: { publisher: Publisher }) => (
  <Part title={text.title} intro={text.intro}>
    <AuditEntries cacheKey={`audit ${id}`} load={(cursor) => api.audit(id, cursor)} />
  </Part>
);

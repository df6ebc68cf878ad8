// Report keys of a publisher.

import { ReportKeys as Keys } from "../../../shared/report-keys";
import type { KeptPublisher } from "../../../shared/generated/openapi";
import { get, post, remove } from "../../api";
import { reportKeys as text } from "../../messages/publishers";
import { may } from "../../session";
import { Part } from "./part";

const MAX_LABEL = 100;

export const ReportKeys = ({ publisher: { publisher_id, closed } }: { publisher: KeptPublisher }) => (
  <Keys
    cacheKey={`report_keys ${publisher_id}`}
    calls={{
      list: () => get("/publishers/{publisher_id}/report_keys", { publisher_id }),
      create: (label, scope) => post("/publishers/{publisher_id}/report_keys", { publisher_id }, { label, scope }),
      revoke: (key_id) => remove("/publishers/{publisher_id}/report_keys/{key_id}", { publisher_id, key_id }),
    }}
    words={text}
    longestLabel={MAX_LABEL}
    mayChange={!closed && may("manage")}
    frame={(keys) => (
      <Part title={text.title} intro={text.intro}>
        {keys}
      </Part>
    )}
  />
);

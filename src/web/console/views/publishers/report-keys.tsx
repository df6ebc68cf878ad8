// Report keys of a publisher.

import { ReportKeys as Keys } from "../../../shared/report-keys";
import { publishersApi as api } from "../../api/publishers";
import { reportKeys as text } from "../../messages/publishers";
import { may } from "../../session";
import type { Publisher } from "../../types/publishers";
import { Part } from "./part";

const MAX_LABEL = 100;

export const ReportKeys = ({ publisher: { publisher_id: id, closed } }: { publisher: Publisher }) => (
  <Keys
    cacheKey={`report_keys ${id}`}
    calls={{
      list: () => api.reportKeys(id),
      create: (label, scope) => api.createReportKey(id, label, scope),
      revoke: (keyId) => api.revokeReportKey(id, keyId),
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

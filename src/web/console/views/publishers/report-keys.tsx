// Report keys of a publisher.

import { ReportKeys as Keys } from "../../../shared/report-keys";
import { publishersApi as api } from "../../api/publishers";
import { reportKeys as text } from "../../messages/publishers";
import { may } from "../../session";
import { Part } from "./part";

const MAX_LABEL = 100;

export const ReportKeys = ({ publisherId }: { publisherId: string }) => (
  <Keys
    cacheKey={`report_keys ${publisherId}`}
    calls={{
      list: () => api.reportKeys(publisherId),
      create: (label, scope) => api.createReportKey(publisherId, label, scope),
      revoke: (keyId) => api.revokeReportKey(publisherId, keyId),
    }}
    words={text}
    longestLabel={MAX_LABEL}
    mayChange={may("manage")}
    frame={(create, list) => (
      <Part title={text.title} intro={text.intro} action={create}>
        {list}
      </Part>
    )}
  />
);

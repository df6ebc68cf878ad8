// Report keys of a publisher.

import { ReportKeys as Keys } from "../../../shared/report-keys";
import { publishersApi as api } from "../../api/publishers";
import { reportKeys as text } from "../../messages/publishers";
import { may } from "../../session";

const LONGEST_LABEL = 100;

export const ReportKeys = ({ publisherId }: { publisherId: string }) => (
  <Keys
    cacheKey={`report_keys ${publisherId}`}
    calls={{
      list: () => api.reportKeys(publisherId),
      create: (label) => api.createReportKey(publisherId, label),
      revoke: (keyId) => api.revokeReportKey(publisherId, keyId),
    }}
    words={text}
    longestLabel={LONGEST_LABEL}
    mayChange={may("manage")}
    frame={(create, list) => (
      <section aria-labelledby="report-keys-title">
        <div class="section-head">
          <div>
            <h2 id="report-keys-title">{text.title}</h2>
            <p class="note">{text.intro}</p>
          </div>
          {create}
        </div>
        {list}
      </section>
    )}
  />
);

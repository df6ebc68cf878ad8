// The account's report keys.

import { Page } from "../../../shared/account/page";
import { ReportKeys } from "../../../shared/report-keys";
import { api } from "../../api";
import { keys as text } from "../../messages/settings";
import { may, session } from "../../session";

const MAX_LABEL = 64;
const CALLS = { list: api.reportKeys, create: api.createReportKey, revoke: api.revokeReportKey };

export const Keys = () => {
  const role = session.value?.member.role;
  return (
    <ReportKeys
      cacheKey="report_keys"
      calls={CALLS}
      words={text}
      longestLabel={MAX_LABEL}
      mayChange
      mayReachUsers={role !== undefined && may(role, "users")}
      frame={(keys) => (
        <Page section="keys" note={text.intro}>
          {keys}
        </Page>
      )}
    />
  );
};

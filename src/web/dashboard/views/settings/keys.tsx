// The account's report keys.

import { Page } from "../../../shared/account/page";
import { ReportKeys } from "../../../shared/report-keys";
import { api } from "../../api";
import { keys as text } from "../../messages/settings";
import { may } from "../../session";

const MAX_LABEL = 64;
const CALLS = { list: api.reportKeys, create: api.createReportKey, revoke: api.revokeReportKey };

export const Keys = () => (
  <ReportKeys
    cacheKey="report_keys"
    calls={CALLS}
    words={text}
    longestLabel={MAX_LABEL}
    mayChange
    mayReachUsers={may("users")}
    frame={(keys) => (
      <Page section="keys" note={text.intro}>
        {keys}
      </Page>
    )}
  />
);

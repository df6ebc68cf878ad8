// The account's report keys.

import { Page } from "../../../shared/account/page";
import { ReportKeys } from "../../../shared/report-keys";
import { get, post, remove } from "../../api";
import { keys as text } from "../../messages/settings";
import { may } from "../../session";

const MAX_LABEL = 64;

export const Keys = () => (
  <ReportKeys
    cacheKey="report_keys"
    calls={{
      list: () => get("/report_keys", {}),
      create: (label, scope) => post("/report_keys", {}, { label, scope }),
      revoke: (key_id) => remove("/report_keys/{key_id}", { key_id }),
    }}
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

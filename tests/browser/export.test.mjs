// A member exports a report: by mouse and again by keyboard alone, on a wide screen and on a phone. The files are the public
// API's own bytes.

import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { WAYS } from "./support/hands.mjs";
import { DEMO } from "./support/signpost.mjs";
import { suite } from "./support/suite.mjs";
import { exportReport } from "./tasks/export.mjs";

let cookie;
let key;
const shared = suite({}, async (signpost) => {
  cookie = await signpost.signIn();
  ({ api_key: key } = await signpost.dashboard(cookie, "POST", "/report_keys", { label: "Looker" }));
});

for (const [Hand, width] of WAYS) {
  test(`a member exports a report by ${Hand.handName} at ${width} px`, async () => {
    const page = await shared.open({ cookie, width });
    const readReport = async (query, mediaType) => {
      const answer = await shared.signpost.report(key, query, mediaType);
      return answer.text();
    };
    await exportReport(page, new Hand(page), { publisher: DEMO, readReport });
    await closePage(page);
  });
}

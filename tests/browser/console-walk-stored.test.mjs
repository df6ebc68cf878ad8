// An operator's questions about objects: a batch that its receiver refuses, and an object that is nearly full. Both states
// are made in the databases on disk, and end there, as they would with other code or after a move.

import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { today } from "./support/facts.mjs";
import { Mouse } from "./support/hands.mjs";
import { addPartner } from "./support/partner.mjs";
import { changeOutboxes, resizeOutboxes } from "./support/stored.mjs";
import { suite } from "./support/suite.mjs";
import * as walk from "./tasks/console-walk.mjs";

let admin;
const shared = suite({ facts: false }, async (signpost) => {
  admin = await signInToConsole(signpost);
});

/** Until the sums of an app's day have arrived in the reports. */
async function untilInReports(signpost, app) {
  const path = `/reconcile?app=${app}&date=${today()}`;
  while ((await signpost.operator("GET", path)).ledger_micro_usd === 0) await new Promise((resolve) => setTimeout(resolve, 500));
}

test("a batch that is refused is found, its sums are compared, and it arrives once it can be read", async () => {
  const { signpost } = shared;
  const app = "46000000";
  const partner = await addPartner(signpost, "refused", app);
  await partner.earn("user-1");
  await untilInReports(signpost, app);
  // Other code wrote countries in another way, which this code cannot read.
  const trigger = (change) =>
    `CREATE TRIGGER of_other_code_${change} AFTER ${change} ON forwards WHEN NEW.sums IS NOT NULL BEGIN
       UPDATE forwards SET sums = replace(NEW.sums, '"DE"', '"Germany"') WHERE destination = NEW.destination;
     END;`;
  await signpost.restart((objects) => changeOutboxes(objects, app, ["INSERT", "UPDATE"].map(trigger).join("")));
  await partner.earn("user-2");

  const page = await shared.open({ cookie: admin });
  const hand = new Mouse(page);
  await walk.followAttention(page, hand, "Sums refused", "sent again every 5 minutes", /^Compare the sums: /);
  await page.getByRole("heading", { name: "Service" }).waitFor();
  const limits = walk.part(page, "Near a limit");
  await limits.getByText("Sums refused").waitFor();
  const day = walk.part(page, "Reconcile a day");
  await day.getByText(/ agrees so far: \$1\.25 still waits /).waitFor();

  // The code that reads them is deployed. The batch goes out with the next one, or after 5 minutes.
  await signpost.restart((objects) =>
    changeOutboxes(
      objects,
      app,
      `DROP TRIGGER of_other_code_INSERT;
       DROP TRIGGER of_other_code_UPDATE;
       UPDATE forwards SET sums = replace(sums, '"Germany"', '"DE"'), due_ms = 0 WHERE sums IS NOT NULL;`,
    ),
  );
  await partner.earn("user-3");
  await walk.isWell(page, hand);
  await walk.follow(page, hand, "Service");
  await walk.compareDay(page, hand, app, today());
  await day.getByText(/ agrees: every reward and reversal is in the ledger\.$/).waitFor();
  await day.getByRole("row", { name: "Counted in the ledger" }).getByText("$3.75").waitFor();
  await closePage(page);
});

test("an object at 85 % is found with its size, and leaves the list when it is smaller", async () => {
  const { signpost } = shared;
  const app = "47000000";
  const partner = await addPartner(signpost, "large", app);
  await partner.earn("user-1");
  await signpost.restart((objects) => resizeOutboxes(objects, app, 8_500_000_000));
  await partner.earn("user-2");

  const page = await shared.open({ cookie: admin });
  const hand = new Mouse(page);
  const object = `outbox-${app}-0`;
  await walk.followAttention(page, hand, "Storage nearly full", "a second app with more outboxes", `See the app: ${object}`);
  await page.getByRole("heading", { name: "App of large" }).waitFor();
  await walk.follow(page, hand, "Service");
  await page.getByRole("heading", { name: "Service" }).waitFor();
  const limits = walk.part(page, "Near a limit");
  await limits.getByText("8.50 GB of 10 GB").waitFor();
  await limits.getByRole("meter", { name: object }).waitFor();

  await signpost.restart((objects) => resizeOutboxes(objects, app, 7_500_000_000));
  await partner.earn("user-3");
  await walk.isWell(page, hand);
  await closePage(page);
});

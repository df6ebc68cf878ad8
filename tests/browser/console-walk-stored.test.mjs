// An operator's questions about objects: a batch that its receiver does not answer, a day that differs, an object that
// is nearly full, and what instances report. The test makes and ends these states in the databases on disk, since
// otherwise they need other code, a move or days.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { addDays, today } from "./support/facts.mjs";
import { Mouse } from "./support/hands.mjs";
import { addPartner } from "./support/partner.mjs";
import { changeLedgers, changeOutboxes, changeReported, resizeOutboxes } from "./support/stored.mjs";
import { suite } from "./support/suite.mjs";
import * as walk from "./tasks/console-walk.mjs";

let admin;
const shared = suite({ facts: false }, async (signpost) => {
  admin = await signInToConsole(signpost);
});

/** Waits until the reports have this much of an app's day, in micro-USD. The page does not refresh a comparison. */
async function untilInReports(signpost, app, amount) {
  const path = `/reconcile?app=${app}&date=${today()}`;
  while ((await signpost.operator("GET", path)).ledger_micro_usd < amount)
    await new Promise((resolve) => setTimeout(resolve, 500));
}

test("a batch without an answer is found, its sums are compared, and it arrives once its ledger answers", async () => {
  const { signpost } = shared;
  const app = "46000000";
  const partner = await addPartner(signpost, "late", app);
  await partner.earn("user-1");
  await untilInReports(signpost, app, 1_250_000);
  // The ledger's database fails, and four tries have failed. The next try is due once the outbox has something to send.
  await signpost.restart((objects) => {
    changeLedgers(
      objects,
      `CREATE TRIGGER fails BEFORE UPDATE ON marks WHEN NEW.source LIKE 'outbox-${app}-%'
         BEGIN SELECT RAISE(ABORT, 'it fails'); END;`,
    );
    const behind = `json_object('seen', value ->> '$.mark', 'attempts', 4, 'due_ms', ${Date.now() + 15_000})`;
    changeOutboxes(
      objects,
      app,
      `UPDATE positions SET seen = seen + 64, known = json_set(known, '$.ledger.behind',
         (SELECT ${behind} FROM json_each(known) WHERE key = 'ledger')) WHERE known LIKE '%ledger%';`,
    );
  });
  await partner.earn("user-2");

  const page = await shared.open({ cookie: admin });
  const hand = new Mouse(page);
  await walk.followAttention(page, hand, "Totals late", "are sent again automatically", /^Compare the totals: /);
  await page.getByRole("heading", { name: "Service" }).waitFor();
  const unsent = walk.part(page, "Not in the reports yet");
  await unsent.getByText("Totals late").waitFor();
  const day = walk.part(page, "Reconcile a day");
  await day.getByText(/ agrees so far: \$1\.25 still waits /).waitFor();

  // The ledger works again. The batch goes out when it is due, which is now.
  await signpost.restart((objects) => {
    changeLedgers(objects, "DROP TRIGGER fails;");
    changeOutboxes(
      objects,
      app,
      "UPDATE positions SET known = json_set(known, '$.ledger.behind.due_ms', 0) WHERE known LIKE '%behind%';",
    );
  });
  await partner.earn("user-3");
  await walk.isWell(page, hand);
  await untilInReports(signpost, app, 3_750_000);
  await walk.follow(page, hand, "Service");
  await walk.compareDay(page, hand, app, today());
  await day.getByText(/ agrees: every reward and reversal is in the ledger\.$/).waitFor();
  await day.getByRole("row", { name: "Counted in the ledger" }).getByText("$3.75").waitFor();
  await closePage(page);
});

/** Opens items of an app's outbox, as nights and tries without an answer do. */
function openItems(objects, app, ...items) {
  const rows = items.map(
    ([kind, subject, reason, payout]) => `(${kind}, '${subject}', ${Date.now()}, '${reason}', ${payout})`,
  );
  changeOutboxes(
    objects,
    app,
    `INSERT INTO attention (kind, subject, since_ms, reason, payout) VALUES ${rows.join()};`,
  );
}

const [DIFFERS, LATE] = [8, 9];

test("a day that differs leads to its comparison, and sums that wait are found, until they are gone", async () => {
  const { signpost } = shared;
  const app = "49000000";
  const partner = await addPartner(signpost, "differs", app);
  await partner.earn("user-1");
  const yesterday = addDays(today(), -1);
  await signpost.restart((objects) =>
    openItems(
      objects,
      app,
      [DIFFERS, yesterday, "ledger_behind", "'1.25'"],
      [LATE, "ledger: batch after 999", "no_answer", "NULL"],
    ),
  );
  await partner.earn("user-2");

  const page = await shared.open({ cookie: admin });
  const hand = new Mouse(page);
  const outbox = `outbox-${app}-0`;
  const day = `Compare the day: ${outbox}: ${yesterday}`;
  await walk.followAttention(
    page,
    hand,
    "Totals differ from the ledger",
    "Compare the day, and tell the developers.",
    day,
  );
  await page.getByRole("heading", { name: "App of differs" }).waitFor();
  assert.ok(page.url().endsWith(`/console/apps/${app}?date=${yesterday}`), page.url());
  // The ledger has what the outbox reported; the item stays, since the night found another log.
  await walk
    .part(page, "Reconcile a day")
    .getByText(/ agrees: every reward and reversal is in the ledger\.$/)
    .waitFor();

  const late = `Compare the totals: ${outbox}: ledger: batch after 999`;
  await walk.followAttention(page, hand, "Totals late", "are sent again automatically", late);
  await page.getByRole("heading", { name: "Service" }).waitFor();
  const row = walk.part(page, "Not in the reports yet").getByRole("row", { name: /Totals late/ });
  await row.getByText(`${outbox}: ledger: batch after 999`).waitFor();
  await row.getByText("The last try had no answer.").waitFor();

  const end = `UPDATE attention SET is_open = 0, changes = changes + 1 WHERE kind IN (${DIFFERS}, ${LATE});`;
  await signpost.restart((objects) => changeOutboxes(objects, app, end));
  await partner.earn("user-3");
  await walk.isWell(page, hand);
  await closePage(page);
});

test("the service's page shows what instances reported and rewards from old clicks", async () => {
  const { signpost } = shared;
  const app = "50000000";
  await addPartner(signpost, "reported", app);
  await signpost.operator("GET", "/service");
  const now = Date.now();
  // The page shows yesterday from 02:00 UTC on, when every outbox has told of it, and the day before until then.
  const yesterday = Math.floor(now / 86_400_000) - 1;
  const rewards = [yesterday - 1, yesterday].map(
    (day) => `('outbox-${app}-0', ${app}, ${day}, 40, 10, 4), ('outbox-${app}-1', ${app}, ${day}, 10, 0, 0)`,
  );
  await signpost.restart((objects) =>
    changeReported(
      objects,
      `INSERT INTO attention_figures (isolate, figure, kind, number, at_ms) VALUES
         ('one', 'shed', 'conversion', 12, ${now}), ('two', 'shed', 'conversion', 3, ${now}),
         ('one', 'panics', '', 2, ${now}), ('long-gone', 'clicks_uncounted', '', 9, ${now - 2 * 86_400_000}),
         ('one', 'memory_bytes', '', ${100 * 2 ** 20}, ${now}), ('two', 'memory_bytes', '', ${110 * 2 ** 20}, ${now});
       INSERT INTO attention_rewards (source, app, day, rewards, after_24_h, by_superseded_terms) VALUES
         ${rewards.join(", ")};`,
    ),
  );

  const page = await shared.open({ cookie: admin });
  const hand = new Mouse(page);
  await page.goto("/console/service");
  const room = walk.part(page, "Requests refused under overload");
  await room
    .getByRole("row", { name: /^Postbacks 2 instances, last at / })
    .getByText("15", { exact: true })
    .waitFor();
  const instances = walk.part(page, "Instances of edge and origin");
  await instances.getByText("Faults in the code").waitFor();
  await instances.getByText("110 of 128 MB").waitFor();
  assert.equal(await instances.getByText("Clicks not counted").count(), 0, "after 24 hours it is left out");
  const old = walk.part(page, "Rewards from old clicks and old terms");
  await old.getByText("50 rewards. 10 (20.0%) came more than 24 hours after the click, and 4 (8.0%)").waitFor();
  const row = old.getByRole("row", { name: /^App of reported/ });
  await row.getByText("10 (20.0%)").waitFor();
  await hand.press(row.getByRole("link"));
  await page.getByRole("heading", { name: "App of reported" }).waitFor();
  await walk.part(page, "Reconcile a day").getByText("No rewards on this day.").waitFor();
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
  await walk.followAttention(
    page,
    hand,
    "Storage nearly full",
    "a second app with more outboxes",
    `See the app: ${object}`,
  );
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

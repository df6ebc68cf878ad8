// The operator's work with advertisers, by mouse and again by keyboard alone, on a wide screen and on a phone; and how the
// pages look.

import assert from "node:assert/strict";
import { test } from "node:test";
import { members, postbackUrl, untilReported, views } from "./gallery/console-advertisers.mjs";
import { closePage, WIDTHS } from "./support/browser.mjs";
import { answerFor } from "./support/console.mjs";
import { look } from "./support/gallery.mjs";
import { HANDS, WAYS } from "./support/hands.mjs";
import { addPartner } from "./support/partner.mjs";
import { suite } from "./support/suite.mjs";
import { USER_AGENT } from "./support/signpost.mjs";
import * as tasks from "./tasks/console-advertisers.mjs";

let cookies;
const shared = suite({ facts: false }, async (signpost) => {
  cookies = await members(signpost);
});

/** An offer of an advertiser, clicked by a user of the demo: the click id. */
async function clicked({ base, operator }, advertiser) {
  const { offer_id, terms_revision, updated_at, ...document } = await operator("GET", "/offers/23817");
  const goals = [{ id: `${advertiser}-1`, ttl: "Play", instr: "", payout_usd: 1, ord: 1, gl_val: "play" }];
  await operator("PUT", `/offers/${advertiser}`, { ...document, advertiser_id: advertiser, goals });
  await operator("POST", "/refresh");
  const path = `/v2/tracking/click?rid=${advertiser}-1&app=10000001&user_id=player-1`;
  for (;;) {
    const answer = await fetch(base + path, {
      redirect: "manual",
      headers: { "CF-IPCountry": "DE", "User-Agent": USER_AGENT },
    });
    const id = /[?&]clickid=([^&]+)/.exec(answer.headers.get("Location") ?? "")?.[1];
    if (id) return id;
    // The edge hears of a new offer some seconds later.
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

for (const [Hand, width] of WAYS) {
  test(`an admin gives an advertiser tokens and finds a refused postback by ${Hand.handName} at ${width} px`, async () => {
    const { signpost } = shared;
    const id = `partner-${width}`;
    const page = await shared.open({
      width,
      cookie: cookies.admin,
      refusals: [[412, "/v1/operator/advertisers/brindlefox-games"]],
    });
    const hand = new Hand(page);
    await tasks.createAdvertiser(page, hand, id, "Kite Partners");
    await tasks.rename(page, hand, `Kite Partners ${width}`);
    const first = await tasks.issue(page, hand);
    const second = await tasks.issue(page, hand);
    const third = await tasks.issue(page, hand, first.serial);
    await tasks.revoke(page, hand, second.serial);
    const { name, tokens } = await signpost.operator("GET", `/advertisers/${id}`);
    assert.deepEqual([name, tokens.map(({ token_id }) => token_id)], [`Kite Partners ${width}`, [third.serial]]);

    // A token that was revoked is still used.
    const bound = { operator: signpost.operator.bind(signpost), base: signpost.base };
    const click = await clicked(bound, id);
    const url = postbackUrl(signpost, { click_id: click, token: second.token, goal: "play" });
    await tasks.check(page, hand, url, "It would be answered 401, invalid_token");
    await tasks.check(
      page,
      hand,
      postbackUrl(signpost, { click_id: click, token: third.token, goal: "play" }),
      "It would be answered 200, approved",
    );
    const none = await signpost.operator("GET", `/advertisers/${id}/postbacks`);
    assert.deepEqual(none.postbacks, [], "a check is no postback");
    // The edge follows within two minutes; until then it takes the token.
    const wrong = postbackUrl(signpost, { click_id: click, token: first.token.replace(/.$/, "x"), goal: "play" });
    assert.equal((await fetch(wrong)).status, 401);
    await untilReported(signpost, id, "invalid_token");
    await tasks.diagnose(page, hand, first.token);
    await closePage(page);
  });
}

for (const Hand of HANDS) {
  test(`a token shows when it was last used, and goes on showing it once it is revoked, by ${Hand.handName}`, async () => {
    const { signpost } = shared;
    const id = `used-${Hand.handName}`;
    const partner = await addPartner(signpost, id, `4600000${HANDS.indexOf(Hand)}`);
    const [{ token_id: first }] = (await signpost.operator("GET", `/advertisers/${id}`)).tokens;
    const { token_id: second } = await signpost.operator("POST", `/advertisers/${id}/token`);
    await partner.convert(await partner.click("player-1"));
    await untilReported(signpost, id, "approved");

    const page = await shared.open({ cookie: cookies.admin });
    await page.goto(`/console/advertisers/${id}`);
    const rowOf = (serial) => page.getByRole("table", { name: "Tokens" }).getByRole("row").filter({ hasText: serial });
    await rowOf(first).getByText("Valid", { exact: true }).waitFor();
    // The times of issue and of last use. The latter arrives with the postbacks.
    await rowOf(first).getByText(/UTC$/).nth(1).waitFor();
    await rowOf(second).getByText("Not within 90 days").waitFor();
    await tasks.revoke(page, new Hand(page), first);
    await rowOf(first).getByText("Revoked", { exact: true }).waitFor();
    await rowOf(first)
      .getByText(/^Last used \d+ (seconds?|minutes?) ago. Postbacks with it are refused.$/)
      .waitFor();
    // A filter of answers that no postback passes does not hide the tokens.
    await page.getByRole("combobox", { name: "Answer" }).selectOption("too_fast");
    await page.getByText("No postback has this answer").waitFor();
    await rowOf(first).getByText("Revoked", { exact: true }).waitFor();
    await rowOf(second).getByText("Valid", { exact: true }).waitFor();
    await closePage(page);
  });
}

test("support reads tokens and postbacks and changes none", async () => {
  const page = await shared.open({ cookie: cookies.support });
  await page.goto("/console/advertisers/brindlefox-games");
  await page.getByRole("table", { name: "Tokens" }).waitFor();
  for (const name of ["Issue a token", /^Revoke/, "Rename"]) {
    assert.equal(await page.getByRole("button", { name }).count(), 0, String(name));
  }
  await page.getByRole("table", { name: "Postbacks" }).getByText("Parameter missing").waitFor();
  await closePage(page);
});

test("a stranger's text turns nothing that stands beside it", async () => {
  const page = await shared.open({ cookie: cookies.admin });
  // Without its last sign the text would reverse the text after it; with that sign, it would end its own isolation.
  const json = {
    http_status: 409,
    code: "already_rewarded",
    verdict: "The user had the reward already.",
    remedy: "Nothing has to be done.",
    error: null,
    transaction_id: null,
    click: { app_id: "10000001", offer_id: "23817", goal_id: "410271", user_id: "\u2067resu\u2069\u202E" },
    parameters: [{ name: "txn", value: "\u202Edro\u0007" }],
  };
  await answerFor(page, "POST", "postback_check", { json });
  await page.goto("/console/advertisers/brindlefox-games");
  await page.getByRole("textbox", { name: "Postback URL" }).fill("https://signpost.example/?txn=x");
  await page.getByRole("button", { name: "Check it" }).click();
  for (const shown of ["[U+2067]resu[U+2069][U+202E]", "[U+202E]dro[U+0007]"]) {
    const text = page.getByText(shown, { exact: true });
    await text.waitFor();
    assert.equal(await text.evaluate((element) => getComputedStyle(element).unicodeBidi), "isolate");
  }
  await closePage(page);
});

for (const name of Object.keys(views({}))) {
  for (const width of WIDTHS) test(`${name} at ${width} px`, () => look(shared, name, views(cookies)[name], width));
}

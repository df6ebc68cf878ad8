// The operator's work with offers, by mouse and again by keyboard alone, on a wide screen and on a phone; and how the pages
// look.

import assert from "node:assert/strict";
import { test } from "node:test";
import { members, views } from "./gallery/console-offers.mjs";
import { closePage, WIDTHS } from "./support/browser.mjs";
import { look } from "./support/gallery.mjs";
import { WAYS } from "./support/hands.mjs";
import { suite } from "./support/suite.mjs";
import * as tasks from "./tasks/console-offers.mjs";

let cookies;
const shared = suite({ facts: false }, async (signpost) => {
  cookies = await members(signpost);
});

const line = (resource) => `${JSON.stringify(resource)}\n`;

for (const [Hand, width] of WAYS) {
  const by = `by ${Hand.handName} at ${width} px`;

  test(`an admin creates an offer, corrects it and switches it off ${by}`, async () => {
    const { signpost } = shared;
    const id = `kite-${width}`;
    const refusals = [
      [404, `/v1/operator/offers/${id}`],
      [404, `/v1/operator/offers/${id}/terms`],
      [400, `/v1/operator/offers/${id}`],
      [412, `/v1/operator/offers/${id}`],
    ];
    const page = await shared.open({ width, cookie: cookies.admin, refusals });
    const hand = new Hand(page);
    const goal = `${id}-1`;
    await tasks.createOffer(page, hand, { id, goal, takenGoal: "410271", name: "Kite Racer" });
    const made = await signpost.operator("GET", `/offers/${id}`);
    assert.deepEqual(made.geo_tgt, { include: ["DE", "AT"], exclude: [] });
    assert.deepEqual(made.goals, [
      { id: goal, ttl: "Reach level 10", instr: "", payout_usd: 1.25, ord: 1, gl_val: null },
    ]);

    await tasks.lowerPayout(page, hand, "0.9");
    const { terms_since, goals } = await signpost.operator("GET", `/offers/${id}`);
    assert.equal(goals[0].payout_usd, 0.9);
    assert.ok(terms_since > 0, "clicks made before are paid by the new terms");

    await tasks.meetAnother(page, hand, async () => {
      const { offer_id, terms_revision, updated_at, ...document } = await signpost.operator("GET", `/offers/${id}`);
      await signpost.operator("PUT", `/offers/${id}`, {
        ...document,
        click_cap: { dur: "DAILY", lim: 70 },
        goals: document.goals.map((goal) => ({ ...goal, ttl: "Reach level 12" })),
      });
    });
    await tasks.switchOff(page, hand, "Kite Racer");
    const off = await signpost.operator("GET", `/offers/${id}`);
    assert.deepEqual([off.active, off.click_cap], [false, { dur: "DAILY", lim: 70 }]);

    const twin = { ...off, name: `Twin of ${id}`, goals: [{ ...off.goals[0], id: `${goal}-twin` }] };
    const { offer_id, terms_revision, updated_at, ...document } = twin;
    await signpost.operator("PUT", `/offers/${id}-twin`, { ...document, goals: twin.goals });
    await signpost.operator("PUT", `/offers/${id}`, { ...document, name: `One ${id}`, goals: off.goals });
    await tasks.editMany(page, hand, id, [`One ${id}`, `Twin of ${id}`]);
    for (const one of [id, `${id}-twin`]) {
      const { click_cap, goals: raised } = await signpost.operator("GET", `/offers/${one}`);
      assert.deepEqual([click_cap.lim, raised[0].payout_usd], [900, 0.99]);
    }
    await closePage(page);
  });

  test(`an admin imports a file ${by}`, async () => {
    const { signpost } = shared;
    const id = `import-${width}`;
    const { offer_id, terms_revision, updated_at, ...document } = await signpost.operator("GET", "/offers/23990");
    const goals = document.goals.map((goal, index) => ({ ...goal, id: `${id}-${index}` }));
    const advertiser = line({ kind: "advertiser", id, name: "Imported" });
    const offer = { kind: "offer", id, ...document, advertiser_id: id, goals };
    const raised = { ...offer, goals: goals.map((goal) => ({ ...goal, payout_usd: 5.25 })) };
    const files = {
      wrong: line({ kind: "offer", id }) + advertiser + "no JSON\n",
      right: advertiser + line(offer),
      raised: advertiser + line(raised),
    };
    const isKept = async () => {
      const { offers } = await signpost.operator("GET", "/offers?limit=1000");
      return offers.some((offer) => offer.offer_id === id);
    };
    const page = await shared.open({ width, cookie: cookies.admin, refusals: [[400, "/v1/operator/import"]] });
    await tasks.importFile(page, new Hand(page), files, isKept);
    await closePage(page);
  });
}

test("a file that is dropped is checked", async () => {
  const page = await shared.open({ cookie: cookies.admin });
  await page.goto("/console/import");
  await page.getByText("Drop an NDJSON file here").first().waitFor();
  const files = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['{"kind":"advertiser","id":"dropped","name":"Dropped"}\n'], "dropped.ndjson"));
    return data;
  });
  await page.locator(".drop").dispatchEvent("drop", { dataTransfer: files });
  await page.getByText("1 resource is ready to import").waitFor();
  await closePage(page);
});

test("the list is filtered, and its address has the filter", async () => {
  const page = await shared.open({ cookie: cookies.admin });
  await page.goto("/console/offers");
  const list = page.getByRole("table", { name: "Offers" });
  await list.getByText("Cinderwick: Kingdom Builder").first().waitFor();
  await page.getByLabel("Name, ID or promoted app").fill("cinderwick");
  await list.getByText("Marble Orchard").first().waitFor({ state: "detached" });
  await page.getByText("2 offers", { exact: true }).waitFor();
  await page.getByLabel("Name, ID or promoted app").fill("");
  await page.getByLabel("State").selectOption({ label: "Switched off" });
  await page.waitForURL(/\?state=off$/);
  await list.getByText("Drift Harbor 3D").waitFor();
  await page.reload();
  await list.getByText("Drift Harbor 3D").waitFor();
  assert.equal(await list.getByText("Marble Orchard").count(), 0);
  await page.getByLabel("Name, ID or promoted app").fill("nothing is called this");
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await list.getByText("Marble Orchard").first().waitFor();
  await closePage(page);
});

test("a filter is one question, after a pause, and has pages of what it leaves", async () => {
  const page = await shared.open({ cookie: cookies.admin });
  const asked = [];
  // Two offers a page, as the real server gives them.
  await page.route(/\/v1\/operator\/offers\?/, (route) => {
    const url = new URL(route.request().url());
    asked.push(url.searchParams.get("q"));
    url.searchParams.set("limit", "2");
    return route.continue({ url: url.href });
  });
  await page.goto("/console/offers?state=active");
  const list = page.getByRole("table", { name: "Offers" });
  await list.getByRole("row").nth(2).waitFor();
  await page.getByRole("button", { name: "Load more" }).click();
  await list.getByRole("row").nth(3).waitFor();
  asked.length = 0;
  await page.getByLabel("Name, ID or promoted app").pressSequentially("glyph");
  await list.getByText("Marble Orchard").first().waitFor({ state: "detached" });
  await list.getByText("Glyph Garden").first().waitFor();
  assert.deepEqual(asked, ["glyph"]);
  await page.getByLabel("Name, ID or promoted app").fill("no offer is called this");
  await page.getByText("No offer matches").waitFor();
  assert.equal(asked.length, 2);
  await closePage(page);
});

test("support reads an offer and changes none", async () => {
  const page = await shared.open({ cookie: cookies.support });
  await page.goto("/console/offers");
  await page.getByRole("table", { name: "Offers" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Create an offer" }).count(), 0);
  assert.equal(await page.getByRole("link", { name: "Import", exact: true }).count(), 0);
  await page.goto("/console/offers/23990");
  await page.getByText("Your role can only view offers.").waitFor();
  assert.ok(await page.getByRole("textbox", { name: "Name", exact: true }).isDisabled());
  for (const name of ["Review and save", "Switch off"]) {
    assert.equal(await page.getByRole("button", { name }).count(), 0, name);
  }
  await page.goto("/console/import");
  await page.getByText("Your role does not include this").waitFor();
  await closePage(page);
});

for (const name of Object.keys(views({}))) {
  for (const width of WIDTHS) test(`${name} at ${width} px`, () => look(shared, name, views(cookies)[name], width));
}

// The gallery's own checks: a view that is not accessible, or that is wider than the screen, fails.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { checkView } from "./support/gallery.mjs";
import { suite } from "./support/suite.mjs";

let cookie;
const shared = suite({ facts: false }, async (signpost) => {
  cookie = await signpost.signIn();
});

async function spoil(edit) {
  const page = await shared.open({ cookie, width: 360 });
  await page.goto("/dashboard");
  await page.getByText("No numbers yet").waitFor();
  await checkView(page);
  await page.evaluate(edit);
  await checkView(page);
  await closePage(page);
}

test("axe finds a picture without a text", async () => {
  const addPicture = () => document.querySelector("main").append(document.createElement("img"));
  await assert.rejects(spoil(addPicture), /findings of axe/);
});

test("content beside the screen is found", async () => {
  const widen = () => (document.querySelector("h1").style.width = "2000px");
  await assert.rejects(spoil(widen), /beside the screen/);
});

test("a message in the console is found", async () => {
  await assert.rejects(
    spoil(() => console.warn("a warning")),
    /messages in the console/,
  );
});

test("a breach of the page's policy is found", async () => {
  const breach = () =>
    document.body.append(Object.assign(document.createElement("style"), { textContent: "p { color: red }" }));
  await assert.rejects(spoil(breach), /messages in the console/);
});

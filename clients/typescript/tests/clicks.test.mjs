// Click URLs: their parameters, what is refused, and the signatures of docs/INTEGRATING.md ("Signed clicks").

import assert from "node:assert/strict";
import { test } from "node:test";
import { clickUrl, InvalidParameter, micros, signClick, signedClickUrl } from "@signpost/client";
import { sign } from "../../../fixtures/signers/sign.mjs";

const BASE = "https://track.example.com/v2/tracking/click?rid=410271&app=10000001";
const SECRET = "demo_click_secret_of_lumen_arcade";

test("parameters are appended and encoded, and absent ones are left out", () => {
  assert.equal(
    clickUrl(BASE, { userId: "a@b.c", gaid: "x y", idfa: "", c1: "level-7", c3: undefined, placement: "shop" }),
    `${BASE}&user_id=a%40b.c&gaid=x%20y&c1=level-7&placement=shop`,
  );
});

test("values that Signpost would refuse are refused before a request", async () => {
  for (const click of [
    ...["", "a b", "é", "x".repeat(129), "null", "undefined", "None", "(null)"].map((userId) => ({ userId })),
    ...[{ c1: "a/b" }, { c5: "x".repeat(257) }, { placement: "x".repeat(65) }].map((more) => ({
      userId: "u",
      ...more,
    })),
    { userId: "u", ...Object.fromEntries(["c1", "c2", "c3", "c4"].map((name) => [name, "x".repeat(193)])) },
    {},
  ]) {
    assert.throws(() => clickUrl(BASE, click), InvalidParameter, JSON.stringify(click));
    await assert.rejects(signedClickUrl(BASE, click, SECRET), InvalidParameter);
  }
  assert.throws(() => clickUrl(`${BASE}&user_id={your_user_id}`, { userId: "u" }), InvalidParameter);
  await assert.rejects(signedClickUrl("https://x.example/?rid=1", { userId: "u" }, SECRET), InvalidParameter);
  await assert.rejects(signClick(SECRET, "10000001", "u", 1.5), InvalidParameter);
});

test("signatures are those of the documents and of the signer", async () => {
  assert.equal(
    await signedClickUrl(BASE, { userId: "player-1" }, SECRET),
    `${BASE}&user_id=player-1&sig=072c09166b69db5c005670f5a1a0b7903c194e347d67a7bd2c23fa2d4f93a1c4`,
  );
  assert.equal(
    await signedClickUrl(BASE, { userId: "player-1" }, SECRET, 1800000000),
    `${BASE}&user_id=player-1&exp=1800000000&sig=a0bf445a0e1dc3ba0b500e2a95a2170f208249977d746981f0f5f98753160774`,
  );
  for (const [secret, user, exp] of [
    ["é \u2028", "a@b", undefined],
    ["x".repeat(100), "A-_.@0", 4102444800],
  ]) {
    assert.equal(await signClick(secret, "00000001", user, exp), sign(secret, "00000001", user, exp));
  }
});

test("amounts become whole millionths", () => {
  for (const [amount, expected] of [
    [0.1, 100_000],
    [8261.010605, 8_261_010_605],
    [-100.1234, -100_123_400],
    [3_999_999_999.999999, 3_999_999_999_999_999],
  ])
    assert.equal(micros(amount), expected);
  assert.equal(micros(0.1) + micros(0.2), micros(0.3));
  assert.throws(() => micros(1e10), RangeError);
});

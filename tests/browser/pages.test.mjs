// Every page and dialog, on a wide screen and on a phone, in light and dark.

import { test } from "node:test";
import { makePageMembers } from "./gallery/members.mjs";
import { pages } from "./gallery/pages.mjs";
import { WIDTHS } from "./support/browser.mjs";
import { look } from "./support/gallery.mjs";
import { suite } from "./support/suite.mjs";

let views;
const shared = suite({}, async (signpost) => {
  views = pages(await makePageMembers(signpost));
});

for (const name of Object.keys(pages({}))) {
  for (const width of WIDTHS) test(`${name} at ${width} px`, () => look(shared, name, views[name], width));
}

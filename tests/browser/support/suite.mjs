// One Signpost and one browser for a test file.

import { after, before } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { startSignpost } from "./signpost.mjs";

/** Registers start and end with the file's tests; the members are there once a test runs. */
export function suite(options) {
  const shared = {
    open: (page) => openPage(shared.browser, shared.signpost, page),
  };
  before(async () => {
    // One after the other, so that what has started is ended when the next fails.
    shared.browser = await launch();
    shared.signpost = await startSignpost(options);
  });
  after(async () => {
    await shared.browser?.close();
    await shared.signpost?.stop();
  });
  return shared;
}

// One Signpost and one browser for a test file.

import { after, before } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { startSignpost } from "./signpost.mjs";

/**
 * Registers start and end with the file's tests; a test can use the members. `prepare` runs in the same hook, because
 * Node 20 does not wait for a file's first hook before it starts the second.
 */
export function suite(options, prepare) {
  const shared = {
    open: (page) => openPage(shared.browser, shared.signpost, page),
  };
  before(async () => {
    // One after the other, so that what has started is ended when the next fails.
    shared.browser = await launch();
    shared.signpost = await startSignpost(options);
    await prepare?.(shared.signpost);
  });
  after(async () => {
    await shared.browser?.close();
    await shared.signpost?.stop();
  });
  return shared;
}

// Start of the dashboard: asks for the overview, then draws the page in place of the shell's static one.

import { render } from "preact";
import { App } from "./app";
import { startRouter } from "./router";
import { startSession } from "./session";

// The shell preloads the overview, which is often there before this script. Then the numbers are drawn at once instead of
// grey lines first, which takes a third of the time on a slow phone.
const WAIT_MILLISECONDS = 80;

async function start() {
  const known = startSession();
  startRouter();
  await Promise.race([known, new Promise((resolve) => setTimeout(resolve, WAIT_MILLISECONDS))]);
  const root = document.getElementById("app")!;
  root.replaceChildren();
  render(<App />, root);
}

void start();

// Start of a site: asks who is signed in, then draws the page in place of the shell's static one.

import { type FunctionComponent, render } from "preact";
import { startRouter } from "./navigation";
import { startSession } from "./session";

// The shell preloads the first answer, which often arrives before this script. Then the numbers are drawn at once,
// without grey lines first. Measured with 150 ms, 1.6 Mbit/s and a four times slower CPU: 0.9 s instead of 1.15 s.
const WAIT_MILLISECONDS = 80;

export async function start(App: FunctionComponent) {
  const known = startSession();
  startRouter();
  await Promise.race([known, new Promise((resolve) => setTimeout(resolve, WAIT_MILLISECONDS))]);
  const root = document.getElementById("app")!;
  root.replaceChildren();
  render(<App />, root);
}

// Both servers for tests in another language: prints a line of JSON with their addresses and keys, and ends with its standard
// input. `--faulty` leaves Signpost out.

import { callbackCases } from "./cases.mjs";
import { startFaulty } from "./faulty.mjs";
import { startLoop } from "./signpost.mjs";

const faulty = await startFaulty();
const loop = process.argv.includes("--faulty") ? undefined : await startLoop();
console.log(JSON.stringify({ faulty: faulty.url, cases: callbackCases(), ...loop?.settings }));
process.stdin.resume().on("end", async () => {
  await loop?.signpost.stop();
  await faulty.stop();
});

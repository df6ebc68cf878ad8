// Text of the settings that only the console has.

import type { Role } from "../types";

/** The events that the operator's alarms report. */
export const alarmsIntro =
  "A signed webhook tells you when a publisher's receiver fails, rewards are given up, a cap is at 80% or used up, ad figures are late, a final day changes, a publisher waits for approval, or an object is restored or nearly full.";

/** The secrets that a removed member of the operator has made or seen. */
export const removal = {
  known: (role: Role) =>
    (role === "support"
      ? "Support sees the callback URLs, and no keys or tokens. If they were an admin before, all of this stays valid. "
      : "All of this stays valid. ") + "Replace what they must no longer use.",
  publishers:
    "every Pub-Key; report keys that they made; invites and recovery links that they made for publishers; callback URLs, with any key in them; secrets of apps that they imported.",
  advertisers: "the tokens that they issued.",
  audit: "it says what they made. The operator’s token, if they had it, is replaced where Signpost is deployed.",
};

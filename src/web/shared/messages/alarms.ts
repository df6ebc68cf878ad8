// Text about the URL that receives alarms.

import { timeText } from "../format";
import type { AlarmTry } from "../types";

export const alarms = {
  emptyTitle: "No alarms yet",
  empty: "Without an address, Signpost shows problems only on its pages.",
  set: "Set an address",
  change: "Change the address",
  setIt: "Set the address",
  address: "Address",
  addressHint: "An https URL of yours that takes a POST with JSON.",
  setText: "A new address gets a new secret, and all waiting messages.",
  secretTitle: "Copy the secret now",
  secretText: "Verify the signature of each message with it. It is shown only this once.",
  secret: "Secret",
  setAt: "Set on",
  unreadable: "The address can no longer be read. Set it again.",
  lastTry: "Last message",
  never: "Nothing sent yet",
  answered: ({ at, http_status: status, error }: AlarmTry) =>
    `${timeText(at)}: ${status === null ? `no answer (${error})` : `answered ${status}`}`,
  waiting: "Messages waiting",
  test: "Send a test",
  testing: "Sending…",
  tested: (status: number | null, error: string | null) =>
    status === null ? `There was no answer (${error}).` : `The address answered ${status}.`,
  end: "End alarms",
  endTitle: "End alarms?",
  endText: "Nobody is told of problems from now on. Unsent messages are discarded.",
  ended: "Alarms were ended.",
};

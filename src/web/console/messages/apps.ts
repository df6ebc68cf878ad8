// Text of an app in the console.

import { amount, count, timeText } from "../../shared/format";
import { plural } from "../../shared/messages/plural";
import type { App } from "../../shared/generated/openapi";

const ROUNDINGS = { down: "rounded down", up: "rounded up", nearest: "rounded to the nearest" };

export const app = {
  title: "App",
  nav: "App",
  settings: "App",
  rewards: "Its rewards",
  toPublisher: "Its publisher",
  toList: "All publishers",
  appId: "App-Id",
  notFound: "There is no app with this App-Id.",
};

export const document = {
  title: "Current settings",
  publisher: "Publisher",
  platform: "Platform",
  currency: "Currency",
  currencyText: ({ name, per_usd: perUsd, decimals = 0, rounding = "down" }: App["currency"]) =>
    `${amount(perUsd)} ${name} for 1 USD, ${plural(decimals, "decimal", "decimals")}, ${ROUNDINGS[rounding]}`,
  callback: "Callback",
  noCallback: "None: rewards wait",
  events: "Called for",
  defaultEvents: "approved, reversed",
  secrets: "Secrets of the callback",
  secret: "one, hidden",
  twoSecrets: "two (not shown); calls are signed with both",
  legacy: "and one for the older MD5 signature",
  fallback: "Fallback URL",
  noFallback: "None: our own page is shown",
  signing: "Signed clicks",
  signed: "required",
  signedByTwo: "required; two secrets are accepted",
  unsigned:
    "not required: anyone can click as its users. Their own rewards may then be refused, and one person can collect under many user IDs",
  shards: "Outboxes",
  terms: "Terms",
  termsText: (revision: number) => `in force since ${timeText(revision)}`,
};

export const decisions = {
  title: "Your settings for this app",
  intro: "The publisher changes the other settings in the dashboard.",
  hosts: "Hosts for its fallback URL, one per line",
  hostsHint: "Hosts that the publisher may choose for its fallback URL, for example play.example.com. At most 20.",
  ports: "Ports for its callback, besides 443",
  portsHint: "Ports that the publisher may choose for its callback. Separated by commas, at most 20.",
  badPort: "Enter numbers from 0 to 65535, separated by commas.",
  rewards: "Rewards per user per day",
  rewardsHint: "From 1 to 1,000. Rewards beyond that are held until you decide. Empty: no limit.",
  badRewards: "Enter a whole number from 1 to 1,000, or nothing.",
  blocked: "Blocked offers, one ID per line",
  blockedHint: (lines: number) =>
    `${plural(lines, "offer", "offers")} blocked, of at most 1,000. The app's users do not see them, and clicks on them are refused.`,
  none: "none",
  noLimit: "no limit",
  confirmTitle: (name: string) => `Change ${name}?`,
  confirm: "Save the changes",
  change: (field: string, before: string, after: string) => `${field}: ${before} → ${after}`,
  listChange: (field: string, added: string | false, removed: string | false) =>
    `${field}: ${[added && `add ${added}`, removed && `remove ${removed}`].filter(Boolean).join("; ")}`,
  effect: "Clicks and offer lists use the change within two minutes.",
  triesAgain: "If its callback was failing, it is tried again at once.",
  names: {
    fallback_hosts: "Fallback hosts",
    callback_ports: "Callback ports",
    max_rewards_per_user_day: "Rewards per user per day",
    blocked_offers: "Blocked offers",
  },
  andMore: (shown: string, more: number) => `${shown} and ${count(more)} more`,
};

export const terms = {
  title: "Terms of older clicks",
  intro:
    "A click is paid in the currency that the app had when the click was made, even if the conversion comes weeks later. " +
    "To correct a mistyped rate, you can have clicks made before now paid in the current currency.",
  now: (rate: string) => `The current currency: ${rate}.`,
  none: "Each click is paid under the terms in force when it was made.",
  since: (at: number) =>
    `Clicks made before ${timeText(at)} are paid under the current terms; later clicks under the terms in force when they were made.`,
  pay: "Pay clicks before now under current terms",
  payTitle: "Pay clicks before now under current terms?",
  payText: (rate: string) => [
    `Future conversions of clicks made before now are paid at ${rate}. Users may get more or less than they were shown.`,
    "Rewards already paid stay as they are.",
    "This cannot be undone, only moved to a later time.",
    "Correct the currency first. Two minutes after the correction, do this again for clicks that were still made under the old terms.",
  ],
  payIt: "Pay them under current terms",
  done: "Clicks made before now are paid under the current terms.",
};

export const callback = {
  title: "State of the callback",
  failures: "Failures in a row",
  next: (at: number) => `The next try is on ${timeText(at)}.`,
  waiting: "Waiting to be sent",
  dead: "Given up",
  reserving: "Waiting for a cap check",
  enable: "Switch on again",
  enableTitle: "Switch the callback on again?",
  enableText:
    "Waiting rewards are sent at once. If the receiver tells us to stop again, its callback is switched off again.",
  enabled: "The callback is switched on again.",
  test: "Send a test",
  testTitle: "Send a test to the receiver?",
  testText: (host: string) =>
    `One call with example values goes to ${host} now. Its transaction_id begins with “test-”, so the receiver pays nothing. It does not appear in the log. The answer may take up to 20 seconds.`,
  sendIt: "Send the test",
  sent: "The test was sent.",
  result: "Result of the test",
  accepted: (status: number) => `The receiver accepted the call (${status}).`,
  refused: (status: number) => `The receiver answered ${status}. Only 2xx counts as delivered.`,
  noAnswer: (why: string) =>
    `The receiver did not answer (${why.replace(/^no answer: (Error: )?/, "").replace(/\.$/, "")}).`,
};

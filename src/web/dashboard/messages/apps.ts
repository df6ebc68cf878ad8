// Text of the apps: the list, and the settings of one.

import { count } from "../../shared/format";
import type { OwnCallbackEvent, Platform, Rounding } from "../types";
import { PLATFORM_NAMES } from "../../shared/messages/apps";
import { plural } from "../../shared/messages/plural";

export const ROUNDING_NAMES: Record<Rounding, string> = {
  down: "Down",
  up: "Up",
  nearest: "To the nearest, halves up",
};

export const apps = {
  title: "Apps",
  intro: "Each app has its own App-Id, currency and callback.",
  add: "Set up an app",
  addTest: "Add a test app",
  app: "App",
  appId: "App-Id",
  platform: "Platform",
  currency: "Currency",
  rate: (perUsd: string, name: string) => `${perUsd} ${name} for 1 USD`,
  callback: "Callback",
  noCallback: "None: rewards wait",
  blocked: "Blocked offers",
  clicks: "Clicks",
  signed: "Signed",
  unsigned: "Not signed",
  more: "Show more apps",
  emptyTitle: "No apps yet",
  empty:
    "Set up your first app to get its App-Id. You need a name, a platform and a currency. Or add a test app to try everything first.",
  emptyAnalyst: "An owner or a developer of your account can set up the first one.",
  name: "Name",
  nameHint: "Only people in your account see it.",
  platformHint: "It cannot be changed later.",
  signHint:
    "Next, have your backend sign tracking URLs, and then require signed clicks. Until then anyone can click as any of your users.",
  platforms: {
    ios: "offers for iPhone and iPad",
    android: "offers for Android",
    web: "offers for any device",
  } satisfies Record<Platform, string>,
  create: "Set up the app",
  aboutTest:
    "A test app lists test offers only. Nobody is paid, and your reports leave it out. Its callbacks are real, so you can test your receiver. It always stays a test app.",
  testName: "Test app",
  createTest: "Add the test app",
  created: (name: string, id: string) => `${name} was set up. Its App-Id is ${id}.`,
  tooMany: "Your account has reached its limit of apps. Ask your account manager for more.",
  tooManyTests: "Your account has 20 test apps, the maximum. Reuse one of them.",
  notApproved: "Your account cannot have apps until your account manager approves it.",
  nav: "App",
  settings: "App settings",
  offers: "Offers",
  log: "Rewards",
  notFound: "Your account has no app with this App-Id.",
  toList: "All apps",
  idNote: (platform: Platform) => `${PLATFORM_NAMES[platform]} app`,
};

/** The steps of a test app. */
export const testLoop = {
  title: "Try it with test offers",
  intro:
    "This is a test app. It lists test offers, pays nobody, and is not in your figures. Its callbacks are real and signed.",
  steps: [
    { step: "Set the callback below, and add its secret to your receiver." },
    { step: "Make a tracking URL for a test offer, and open it.", link: "Offers" },
    { step: "On the test page, report the goal as approved, pending, held, rejected or reversed." },
    { step: "See the reward, and how your receiver answered.", link: "Rewards" },
  ],
};

export const appForm = {
  general: {
    title: "General",
    currencyName: "Currency",
    currencyHint: "The name your users see, for example “Coins”.",
    perUsd: "Units for 1 USD",
    perUsdHint: "At most 6 decimals.",
    badRate: "Enter a number above 0 and up to 1,000,000,000, with at most 6 decimals.",
    decimals: "Decimals",
    rounding: "Rounding",
    exampleTitle: "Example",
    example: (payout: string, value: string, name: string) =>
      `An offer that pays ${payout} USD gives ${value} ${name}.`,
    exampleNothing: "Small payouts give users nothing. Raise the rate, or allow decimals.",
    noExample: "The example appears once the rate is a number.",
    frozen: "Users who clicked earlier are paid at the rate that applied when they clicked.",
  },
  callback: {
    title: "Callback",
    intro:
      "We call your receiver at this URL when one of your users earns a reward. It then pays the user in your app.",
    none: "There is no callback yet. Rewards wait until there is one; none is lost.",
    switchedOff: {
      title: "Callbacks are switched off.",
      since: (at: string) => `Callbacks have been switched off since ${at}.`,
      text: "Your receiver told us to stop. Rewards wait; none is lost. Fix the receiver and test it below, then switch callbacks on again.",
      enable: "Switch on again",
      done: "Callbacks are switched on again.",
    },
    url: "Callback URL",
    urlHint: "https, on port 443. With GET it may have macros, which we replace with the values of the reward.",
    method: "Method",
    methods: {
      GET: "values in the URL, the signature in its last parameter and in headers",
      POST: "values as JSON in the body, the signature in headers",
    },
    events: "Call me when a reward is",
    eventHints: {
      approved: "a user has earned it: pay it",
      reversed: "it was taken back: deduct it from the user (the value is negative)",
      pending: "it waits for a check: pay nothing yet",
      rejected: "it will not be paid",
    } satisfies Record<OwnCallbackEvent, string>,
    noEvents: "Choose at least one.",
    noMacros: "The URL has no macros, so all values are added to it.",
    usedMacros: (used: number, all: number) => `Macros: ${count(used)} of ${count(all)} used`,
    onlyThese: "The URL has macros, so only their values are sent, with the time and the signature.",
    noPostMacros: "With POST the URL may not have macros. The body has all values.",
    macro: "Macro",
    meaning: "Replaced with",
    inUrl: "In the URL",
    used: "used",
    insert: "Add",
    insertMacro: (name: string) => `Add {${name}} to the URL`,
    inserted: (name: string) => `{${name}} was added.`,
    unknownMacro: (name: string, known: string | null) =>
      `{${name}} is not a macro, so the URL cannot be saved.${known ? ` Do you mean {${known}}?` : ""}`,
    strayBrace: "Remove the { or } that is not part of a macro.",
    noTransaction: "Without {transaction_id} your receiver cannot tell a repeated call from a new reward. Add it.",
    preview: "Preview",
    previewTitle: "What would be sent",
    previewText: "An example with these settings. Nothing was sent or saved.",
    remove: "Remove the callback",
    removeTitle: "Remove the callback?",
    removeText: "Rewards wait until you set a new callback, which gets a new secret.",
    removed: "The callback was removed.",
    secretTitle: "Copy the callback secret now",
    secretText: "Your receiver uses it to check that a call is ours. It is shown only this once.",
    secret: "Callback secret",
    secretNote: "We make a secret and sign each call with it. It is shown once, when it is made.",
    rotate: "Rotate the secret",
    goOn: "Continue the rotation",
    rotating: "Each call is signed with two secrets for now. Test your receiver, then end the old secret.",
    endFormer: "End the old secret",
    endFormerTitle: "End the old secret?",
    endFormerText: "A receiver that has only the old secret will refuse every call.",
    formerEnded: "The old secret was ended.",
  },
  clicks: {
    title: "Signed clicks",
    intro: "Without a signature, anyone with a tracking URL can click as any of your users.",
    unsigned:
      "Clicks of this app need no signature. If someone else clicks as one of your users, that user’s own reward may be refused or held. One person can also collect a reward many times, under many user IDs.",
    signed: "Clicks of this app need a signature from your backend. Clicks without one are refused.",
    sign: "Require signed clicks",
    signTitle: "Require signed clicks?",
    signText:
      "Within two minutes, every click without a valid signature is refused. Your backend must sign tracking URLs by then: existing unsigned links stop working.",
    renew: "Make a new secret",
    renewTitle: "Make a new click secret?",
    renewText: "The old secret stays valid until you end it.",
    make: "Make the secret",
    madeTitle: "Copy the click secret now",
    made: "Your backend signs tracking URLs with it. It is shown only this once. Keep it out of the app itself.",
    secret: "Click secret",
    both: "Two click secrets are accepted for now.",
    endFormerTitle: "End the old click secret?",
    endFormerText: "Clicks that are signed with it are refused within two minutes.",
    stop: "Stop requiring signed clicks",
    stopTitle: "Stop requiring signed clicks?",
    stopText: "Clicks without a signature are counted again, whoever made them. All click secrets end.",
    stopped: "Signed clicks are no longer required.",
  },
  ask: {
    label: "Send this to your account manager",
    port: (app: string, id: string, port: string, host: string) =>
      `Please allow port ${port} for the callbacks of ${app} (App-Id ${id}) to ${host}.`,
    host: (app: string, id: string, host: string) =>
      `Please allow ${host} as a fallback host of ${app} (App-Id ${id}).`,
  },
  fallback: {
    title: "Fallback URL",
    intro: "A user who can no longer get an offer is sent here instead of to an error page.",
    url: "Fallback URL",
    hint: "It begins with https://. Leave it empty to show our own page. Your account manager must allow each new host.",
  },
  blocked: {
    title: "Blocked offers",
    intro: "Your users do not see these offers, and clicks on them are refused.",
    list: "Offer IDs, one per line",
    hint: (lines: number, most: number) => `${plural(lines, "offer", "offers")} of at most ${count(most)}.`,
    tooMany: (lines: number, most: number) =>
      `These are ${count(lines)} offers; at most ${count(most)} can be blocked.`,
    see: "See the offers of this app",
  },
};

/** The meaning of each macro, in the order in which values are sent. */
export const MACROS: Record<string, string> = {
  user_id: "your user, as in the click",
  value: "the reward in the app's currency; negative when it is reversed, 0 when it is pending or rejected",
  payout: "the reward in USD",
  currency: "the name of the app's currency",
  transaction_id: "the ID of the reward, the same each time it is sent: pay each ID once",
  offer_id: "the offer",
  goal_id: "the goal that the user reached",
  goal_value: "the level or amount of the goal, if it has one",
  app_id: "this app",
  gaid: "the Android advertising ID, as in the click",
  idfa: "the iOS advertising ID, as in the click",
  c1: "your own value c1, as in the click",
  c2: "your own value c2",
  c3: "your own value c3",
  c4: "your own value c4",
  c5: "your own value c5",
  country: "the country of the click, two letters",
  click_ts: "the time of the click, in UNIX seconds",
  conversion_ts: "the time of the conversion, in UNIX seconds",
  status: "approved, reversed, pending or rejected",
  original_transaction_id: "for all but approved: the ID of the reward concerned",
  pending_value: "for pending and rejected: the reward that is not paid",
  reason: "the reason in words, if the advertiser gave one",
  ts: "the time of this call, in UNIX seconds",
};

// Text of the editor of an offer and of its preview.

import { count } from "../../shared/format";

export const editor = {
  wrong: "Some fields need a correction. Each says what is wrong.",
  preview: "Preview",
  general: "General",
  advertiserUnknown: "No advertiser has this ID.",
  activeHint: "An offer that is off is not listed and cannot be clicked.",
  links: "Where a click leads",
  targeting: "Countries",
  unknownCountries: (codes: string[]) =>
    codes.length === 1 ? `${codes[0]} is not a country code.` : `${codes.join(", ")} are not country codes.`,
  goals: "Goals",
  goalsHint: "The goals that a user is paid for, in the order shown. The payout of the offer is their sum.",
  goal: (number: number) => `Goal ${count(number)}`,
  addGoal: "Add a goal",
  removeGoal: (number: number) => `Remove goal ${count(number)}`,
  retired: (ids: string[]) => `Retired goals, no longer clickable and still paid: ${ids.join(", ")}.`,
  limits: "Caps and times",
  endBeforeStart: "Must be after the start.",
  rules: "What is paid",
  required: "Must not be empty.",
  badNumber: (least: number, most: number) => `Must be a whole number from ${count(least)} to ${count(most)}.`,
  badPayout: "Must be dollars with at most 6 decimals, such as 1.25, and at most 1,000,000.",
  badId: "Use letters, digits and hyphens, at most 64.",
  twice: "Another goal of this offer has this ID.",
  onlyRises: (since: string) => `It can only be moved later: ${since} or after.`,
  inFuture: "Must not be in the future.",
  badTime: "Enter a date and a time, such as 25 Nov 2026, 14:30.",
};

const CAP_HINT = "UTC day. Empty: no cap.";

export const fields = {
  advertiser_id: { label: "Advertiser ID" },
  name: { label: "Name" },
  off_type: { label: "Type" },
  os: { label: "Device" },
  s_id: { label: "Promoted app", hint: "The bundle or package ID, such as com.example.game." },
  ic_url: { label: "Icon URL" },
  ctg: { label: "Categories" },
  desc: { label: "Description", hint: "Text or HTML; users see it as text. Up to 10,000 characters." },
  active: { label: "Switched on" },
  lp_url: { label: "Landing page URL", hint: "Usually the store. https, http, market, itms-apps or itms-appss." },
  target_url: {
    label: "Tracking URL of the advertiser",
    hint: "Clicks go here instead of the landing page. The advertiser sends {click_id} back; other macros are {user_id}, {app_id}, {offer_id}, {goal_id}, {country}, {gaid}, {idfa}, {c1} to {c5}.",
  },
  click_id_max: {
    label: "Longest click ID",
    hint: "The most characters that the advertiser's system returns uncut: 50 to 1,000. Empty: 255.",
  },
  include: { label: "Only in these countries", hint: "Codes such as DE, AT. Empty: everywhere." },
  exclude: { label: "Not in these countries", hint: "Codes such as US, CA. Empty: none." },
  click_cap: { label: "Clicks a day", hint: CAP_HINT },
  conversion_cap: { label: "Conversions a day", hint: CAP_HINT },
  starts_at: { label: "Starts at, UTC", hint: "Such as 25 Nov 2026, 14:30. Empty: at once." },
  ends_at: { label: "Ends at, UTC", hint: "Such as 31 Dec 2026, 23:59; a date alone is 00:00. Empty: never." },
  conversion_window_days: { label: "Days to convert", hint: "After the click, 1 to 90. Empty: 30." },
  once_per: { label: "A goal is paid" },
  min_seconds_to_convert: {
    label: "Minimum time to convert",
    hint: "Seconds from the click, 1 to 86,400. Faster conversions are held for review. Empty: no minimum.",
  },
  terms_since: {
    label: "Apply current terms to clicks before",
    hint: "Such as 25 Nov 2026, 14:30 in UTC. Earlier clicks are paid under the current terms. The time can only be moved later. Empty: each click keeps its own terms.",
  },
};

export const goalFields = {
  id: { label: "Goal ID", hint: "Unique among all offers. It appears in links." },
  ttl: { label: "Title" },
  instr: { label: "Steps", hint: "One step per line." },
  payout_usd: { label: "Payout in USD", hint: "At most 6 decimals." },
  ord: { label: "Order", hint: "The lowest comes first." },
  gl_val: { label: "Event code", hint: "The goal's name in the advertiser's postbacks. Empty: the goal ID." },
};

export const preview = {
  title: (name: string) => `Preview of “${name}”`,
  text: "Nothing is saved. Values are samples for an app where $1 is 1,000 Coins.",
  loading: "Making the preview…",
  redirect: "A click leads to",
  listed: "The API returns",
  goals: "Goals",
  value: "Reward",
  payout: "Payout",
  json: "As JSON",
  noText: "No description.",
};

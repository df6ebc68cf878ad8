// Text of the list of offers and of an offer's page.

import { plural } from "../../shared/messages/plural";
import { count, money, percent, timeText } from "../../shared/format";
import type { Category, Offer, OfferType } from "../../shared/generated/openapi";

export const TYPE_NAMES: Record<OfferType, string> = {
  CPE: "CPE, engagement",
  CPI: "CPI, install",
  CPA: "CPA, action",
  CPR: "CPR, registration",
  CPL: "CPL, lead",
  CPC: "CPC, click",
  APK_INSTALL: "APK install",
  APK_REGISTER: "APK registration",
};
export const OFFER_TYPES = Object.keys(TYPE_NAMES) as OfferType[];

export const CATEGORY_NAMES: Record<Category, string> = {
  SINGLE_STEP: "Single step",
  MULTI_REWARD: "Multi reward",
  DEPOSIT: "Deposit",
  GAMING: "Gaming",
  FINANCE: "Finance",
  SURVEY: "Survey",
  NEW: "New",
};
export const CATEGORIES = Object.keys(CATEGORY_NAMES) as Category[];

export const STATE_NAMES = {
  active: "Active",
  not_started: "Not started",
  ended: "Ended",
  off: "Switched off",
};
export type OfferState = keyof typeof STATE_NAMES;

export type OncePer = NonNullable<Offer["once_per"]>;
export const ONCE_PER_NAMES: Record<OncePer, string> = { user: "once for each user", click: "once for each click" };

/** Leaves out the used part until it has loaded. */
const usedOf = (used?: number) => (used === undefined ? "" : `${count(used)} of `);

/** Changes several offers at once. */
export const editMany = {
  ticked: (offers: number) =>
    offers === 0 ? "Select offers to change several at once." : plural(offers, "offer", "offers"),
  edit: "Change…",
  clear: "Clear the selection",
  all: (offers: number) => `Select all ${count(offers)} shown`,
  title: (offers: number) => `Change ${plural(offers, "offer", "offers")}`,
  intro: "Choose what to change. Everything else stays as it is. You see each change before it is saved.",
  doneSoFar: (done: number, left: number) =>
    `${plural(done, "offer was", "offers were")} changed. ${plural(left, "offer is", "offers are")} left.`,
  keep: "No change",
  state: "State",
  states: { on: "Switch on", off: "Switch off" },
  payout: "Payouts, change in %",
  payoutHint: "Such as -10 or 2.5, for all goals. Empty: no change.",
  badPayout: "Enter a number of at least -100, with at most 2 decimals.",
  fields: {
    click_cap: "Click cap for each day",
    conversion_cap: "Conversion cap for each day",
    starts_at: "Starts (UTC)",
    ends_at: "Ends (UTC)",
  },
  doing: { set: "Set to…", remove: "Remove" },
  valueOf: (field: string) => `${field}: new value`,
  timeHint: "UTC, such as 25 Nov 2026, 14:30.",
  look: "See the changes",
  offer: "Offer",
  previewTitle: (offers: number) => `${plural(offers, "offer changes", "offers change")}`,
  summary: (changing: number, same: number) =>
    changing === 0
      ? "Nothing would change."
      : same === 0
        ? "Nothing is saved yet."
        : `Nothing is saved yet. ${plural(same, "offer stays as it is", "offers stay as they are")}.`,
  newTerms: (offers: number) =>
    `${plural(offers, "offer gets", "offers get")} new terms. Earlier clicks keep their terms.`,
  running: (done: number, all: number) =>
    `${count(done)} of ${count(all)} so far. If you close this, the rest is not changed.`,
  back: "Back",
  save: (offers: number) => `Change ${plural(offers, "offer", "offers")}`,
  done: (offers: number) => `${plural(offers, "offer was", "offers were")} changed.`,
};

export const offers = {
  tick: (name: string) => `Select ${name}`,
  title: "Offers",
  intro: "Offers that users can click and earn from. Changes are live within two minutes.",
  create: "Create an offer",
  import: "Import",
  search: "Name, ID or promoted app",
  advertiser: "Advertiser",
  allAdvertisers: "All advertisers",
  type: "Type",
  allTypes: "All types",
  state: "State",
  allStates: "All states",
  offer: "Offer",
  payout: "Payout",
  payoutNote: (goals: number) => plural(goals, "goal", "goals"),
  caps: "Daily caps used",
  clickCap: (limit: number, used?: number) => usedOf(used) + plural(limit, "click", "clicks"),
  conversionCap: (limit: number, used?: number) => usedOf(used) + plural(limit, "conversion", "conversions"),
  figures: "Last 30 days",
  noClicks: "No clicks",
  reached: (clicks: number, conversions: number) =>
    `${plural(clicks, "click", "clicks")}, ${plural(conversions, "conversion", "conversions")}`,
  paid: (usd: number) => `${money(usd)} paid`,
  figuresFailed: "The figures of the last 30 days could not be loaded.",
  noFigures: "The figures of this offer could not be loaded.",
  startsAt: (at: number) => `starts ${timeText(at)}`,
  endsAt: (at: number) => `ends ${timeText(at)}`,
  endedAt: (at: number) => `since ${timeText(at)}`,
  shown: (offers: number, isAll: boolean) =>
    isAll ? plural(offers, "offer", "offers") : `The first ${plural(offers, "offer", "offers")} by ID`,
  emptyTitle: "No offers yet",
  empty: "Create one, or import many from a file.",
  noneTitle: "No offer matches",
  clear: "Clear the filters",
  createText: "The ID cannot be changed later. Letters, digits and hyphens, at most 64.",
  offerId: "Offer ID",
  badId: "Use letters, digits and hyphens, at most 64.",
  openEditor: "Continue to the editor",
};

export const nearCaps = {
  title: (offers: number) => `${plural(offers, "daily cap is", "daily caps are")} nearly used up`,
  hint: "A cap that is used up stops clicks or rewards until 00:00 UTC.",
  click: (used: number, limit: number) => `${count(used)} of ${plural(limit, "click", "clicks")}`,
  conversion: (used: number, limit: number) => `${count(used)} of ${plural(limit, "conversion", "conversions")}`,
  share: (used: number, limit: number) => (limit === 0 ? "closed" : percent(used / limit)),
  all: (caps: number) => `Show all ${count(caps)}`,
  failed: "Caps nearly used up could not be loaded.",
};

export const offer = {
  title: "Offer",
  id: "ID",
  toList: "All offers",
  fresh: (id: string) => `New offer ${id}`,
  freshText: "There is no offer with this ID yet. It is created when you save.",
  notFound: "There is no offer with this ID",
  updatedAt: (at: number) => `changed ${timeText(at)}`,
  deactivate: "Switch off",
  activate: "Switch on",
  deactivateTitle: (name: string) => `Switch off “${name}”?`,
  deactivateText:
    "Within about two minutes it leaves the lists and cannot be clicked. Conversions of earlier clicks are still paid.",
  activateTitle: (name: string) => `Switch on “${name}”?`,
  activateText: "It is listed and can be clicked within two minutes, if it has started and not ended.",
  activated: "The offer is switched on.",
  deactivated: "The offer is switched off.",
  readOnly: "Your role can only view offers. An admin can change them.",
  figures: {
    label: "Figures of the last 30 days",
    clicks: "Clicks",
    conversions: "Conversions",
    payout: "Payout",
    note: "last 30 days, UTC",
    clickCap: "Click cap",
    conversionCap: "Conversion cap",
    today: "used today, UTC",
    noCap: "No cap",
    of: (limit: number) => `of ${count(limit)}`,
    rate: (ratio: string) => `${ratio} of clicks`,
    asOf: (at: number) => `As of ${timeText(at)}`,
  },
  terms: {
    title: "Terms",
    intro: "A click is paid under the terms that were in force when it was made.",
    revision: "In force from",
    until: "Until",
    inForce: "In force",
    number: (revision: number) => `Revision ${revision}`,
    window: "Window",
    days: (days: number) => plural(days, "day", "days"),
    goals: "Goals",
    advertiser: "Advertiser",
    all: (revisions: number) => `Show all ${count(revisions)}`,
    since: (at: number) => `Clicks made before ${timeText(at)} are paid under the current terms, too.`,
    pay: "Pay clicks before now under current terms",
    payTitle: "Pay clicks before now under current terms?",
    payText: [
      "Future conversions of clicks made before now are paid under the current terms. Users may get more or less than they were shown.",
      "Rewards already paid stay as they are.",
      "This cannot be undone, only moved to a later time.",
      "Correct the offer first. Two minutes after the correction, do this again for clicks that were still made under the old terms.",
    ],
    payIt: "Pay them under current terms",
    payDone: "Clicks made before now are paid under the current terms.",
  },
};

export const review = {
  button: "Review and save",
  title: "Save these changes?",
  createTitle: "Create this offer?",
  nothing: "There is nothing to save.",
  summary: (name: string, goals: number, usd: number, isActive: boolean) =>
    `“${name}” pays ${money(usd)} for ${plural(goals, "goal", "goals")} and is ${isActive ? "live within two minutes, unless it starts later" : "switched off"}.`,
  save: "Save",
  create: "Create",
  saved: "The offer is saved. It is live within two minutes.",
  created: "The offer is created. It is live within two minutes.",
  changes: "What changes",
  field: "Field",
  before: "Before",
  after: "After",
  none: "none",
  newTerms: "This makes new terms",
  newTermsText: "Clicks made before you save keep the terms they were made under; later clicks get the new terms.",
  raise: "Pay earlier clicks under the new terms, too",
  raiseHint:
    "Use this to correct a mistake. It cannot be undone: users who clicked for a higher payout get the lower one. New clicks still get the old terms for up to two minutes; afterwards, include them with the button under “Terms”.",
  taken: "Somebody else has created an offer with this ID. Nothing was saved. Choose another ID.",
  goalRetired: (id: string) => `Goal ${id}`,
  retired: "retired: no longer clickable, still paid",
  fresh: "new",
};

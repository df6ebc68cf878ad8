// Text of the advertisers, their tokens and their postbacks.

import { frame } from "../messages";
import { plural } from "../../shared/messages/plural";
import { timeText } from "../../shared/format";

export const advertisers = {
  title: "Advertisers",
  intro: "Companies that pay for offers and report conversions by postback.",
  create: "Create an advertiser",
  search: "Name or ID",
  name: "Name",
  nameHint: "Publishers do not see it.",
  id: "Advertiser ID",
  idHint: "It cannot be changed later. Letters, digits and hyphens, at most 64.",
  badId: "Use letters, digits and hyphens, at most 64.",
  taken: "An advertiser with this ID already exists.",
  created: (name: string) => `“${name}” was created.`,
  advertiser: "Advertiser",
  tokens: "Valid tokens",
  newest: "Newest token",
  noToken: "None: its postbacks are refused",
  shown: (advertisers: number, isAll: boolean) =>
    `${isAll ? "" : "The first "}${plural(advertisers, "advertiser", "advertisers")}`,
  emptyTitle: "No advertisers yet",
  empty: "Create one, then its offers.",
  noneTitle: "No advertiser matches",
  clear: "Clear the filter",
  toList: "All advertisers",
  notFound: "There is no advertiser with this ID",
  rename: "Rename",
  renamed: "The advertiser was renamed.",
};

export const itsOffers = {
  title: "Its offers",
  open: "Open in Offers",
  none: "This advertiser has no offer yet.",
};

export const tokens = {
  title: "Tokens",
  intro:
    "A token proves that a postback comes from this advertiser. The two newest tokens are valid. A revoked token is listed if postbacks came with it in the last 90 days.",
  serial: "Serial",
  issuedAt: "Issued",
  lastUsed: "Last used",
  notUsed: "Not within 90 days",
  unknown: "Unknown",
  state: "State",
  valid: "Valid",
  revokedState: "Revoked",
  usedBefore: (ago: string) => `Last used ${ago} ago. Postbacks with it are refused.`,
  issue: "Issue a token",
  issueTitle: "Issue a token?",
  issueText: "It is shown once. The two newest tokens are valid.",
  issueEnds: (serial: string) =>
    `It is shown once. Only the two newest tokens are valid: the oldest, serial ${serial}, is refused within two minutes.`,
  issuedTitle: "The new token",
  issuedText:
    "Copy it now: it is not shown again. Give it to the advertiser for the token parameter of its postbacks. The two newest tokens are valid, so the previous one stays valid until you issue another.",
  token: "Token",
  revoke: "Revoke",
  revokeTitle: (serial: string) => `Revoke token ${serial}?`,
  revokeText: "Postbacks with it are refused within two minutes. This cannot be undone.",
  revokeLast: "It is the only valid token: all postbacks of this advertiser are refused until you issue another.",
  revoked: (serial: string) => `Token ${serial} was revoked. Its postbacks are refused within two minutes.`,
  emptyTitle: "No token yet",
  empty: "Postbacks of this advertiser are refused until it has one.",
};

export const doctor = {
  title: "Postbacks",
  intro:
    "The newest 1,000 postbacks that came with a token of this advertiser, or for a click of its offers. Secrets are not shown.",
  code: "Answer",
  allCodes: "All answers",
  at: "When",
  answer: "Answer",
  verdict: "What happened, and how to fix it",
  about: "About",
  offer: "Offer",
  goal: (id: string) => `Goal ${id}`,
  reward: "Its reward",
  parameters: (parameters: number) => plural(parameters, "parameter", "parameters"),
  parameter: "Parameter",
  value: "Value",
  noParameters: "It had no parameters.",
  notShown: (postbacks: number, since: number | null) =>
    `${plural(postbacks, "more postback", "more postbacks")} came${since === null ? "" : ` since ${timeText(since)}`} and ${postbacks === 1 ? "is" : "are"} not shown: in a flood, most are only counted.`,
  emptyTitle: "No postback has come yet",
  empty: "Postbacks appear here within seconds. Check below how a postback would be answered.",
  noneTitle: "No postback has this answer",
  clear: "Show all answers",
  more: "Load older ones",
  shown: (postbacks: number) => `The newest ${plural(postbacks, "postback", "postbacks")}`,
  stopped: "New ones are not being loaded.",
  live: "New ones appear automatically.",
  kept: "While older ones are shown, new ones are not added.",
};

/** The words of the doctor that differ for all advertisers. */
export const refused = {
  title: frame.refused,
  intro:
    "The newest postbacks that were refused, of all advertisers. Those beyond a conversion cap are not listed, and of each advertiser at most 50 with the same answer. The advertiser's page may have more.",
  emptyTitle: "No refused postbacks",
  empty:
    "A refused postback appears here within seconds. If it has neither a token of an advertiser nor a valid click ID, it is not kept.",
};

export const check = {
  title: "Check a postback URL",
  intro: "Shows what Signpost would answer. Nothing is counted.",
  url: "Postback URL",
  urlHint: "The whole URL, with the click ID and the token.",
  button: "Check it",
  would: (status: number, code: string) => `It would be answered ${status}, ${code}`,
  click: "The click",
  app: "App",
  offer: "Offer",
  goal: "Goal",
  user: "User",
  clickedAt: "Clicked",
  country: "Country",
  placement: "Placement",
  error: (words: string) => `The sender is told: ${words}`,
  noClick: "It has no click ID of ours.",
  erased: "The user was erased after the click, so the rest of the click is not shown.",
  parameters: "Parameters as Signpost reads them",
  empty: "Paste a URL first.",
};

/** Names for the codes of answers. A code that is new to this page is shown by its own name. */
export const CODE_NAMES: Record<string, string> = {
  approved: "Approved",
  pending: "Pending",
  rejected: "Rejected",
  reversed: "Reversed",
  duplicate: "Repeated",
  missing_field: "Parameter missing",
  invalid_parameter: "Parameter not valid",
  invalid_click_id: "Click ID not ours",
  unknown_goal: "Unknown goal",
  invalid_token: "Token not valid",
  conversion_capped: "Cap reached",
  duplicate_txn: "txn used before",
  already_rewarded: "Already rewarded",
  after_restore: "After a restore, held",
  suspended: "Publisher suspended, held",
  too_fast: "Too fast, held",
  too_many_today: "Too many today, held",
  conversion_window_closed: "Too late",
  unavailable: "Busy",
  internal_error: "Failed",
  payload_too_large: "Too large",
  unsupported_media_type: "Not a form",
  not_found: "Wrong URL",
};

export const codeName = (code: string) => CODE_NAMES[code] ?? code;

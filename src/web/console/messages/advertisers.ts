// Text of the advertisers, their tokens and their postbacks.

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
  taken: "There is an advertiser with this ID already.",
  created: (name: string) => `“${name}” is created.`,
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
  renamed: "The advertiser is renamed.",
};

export const itsOffers = {
  title: "Its offers",
  open: "Open in Offers",
  none: "This advertiser has no offer yet.",
};

export const tokens = {
  title: "Tokens",
  intro:
    "A token proves that a postback comes from this advertiser. The two newest tokens are valid. A revoked one is listed if postbacks came with it within 90 days.",
  serial: "Serial",
  issuedAt: "Issued",
  lastUsed: "Last used",
  notUsed: "Not within 90 days",
  unknown: "Not known",
  state: "State",
  valid: "Valid",
  revokedState: "Revoked",
  usedBefore: (ago: string) => `Last used ${ago} ago. Postbacks with it are refused.`,
  issue: "Issue a token",
  issueTitle: "Issue a token?",
  issueText: "It is shown once. The two newest tokens are valid.",
  issueEnds: (serial: string) =>
    `It is shown once. The two newest tokens are valid: the older one, serial ${serial}, is refused within two minutes.`,
  issuedTitle: "The new token",
  issuedText:
    "Copy it now: it is not shown again. Give it to the advertiser for the token parameter of its postbacks. The two newest tokens are valid, so the one before goes on working until you issue another.",
  token: "Token",
  revoke: "Revoke",
  revokeTitle: (serial: string) => `Revoke token ${serial}?`,
  revokeText: "Postbacks with it are refused within two minutes. This cannot be undone.",
  revokeLast: "It is the only valid token: no postback of this advertiser is taken until you issue another.",
  revoked: (serial: string) => `Token ${serial} is revoked. Its postbacks are refused within two minutes.`,
  emptyTitle: "No token yet",
  empty: "Postbacks of this advertiser are refused until it has one.",
};

export const doctor = {
  title: "Postbacks",
  intro:
    "The newest 1,000 that came with a token of this advertiser, or for a click of its offers. Secrets are not shown.",
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
    `${plural(postbacks, "further postback", "further postbacks")} came${since === null ? "" : ` since ${timeText(since)}`} and ${postbacks === 1 ? "is" : "are"} not shown: in a flood most are only counted.`,
  emptyTitle: "No postback has come yet",
  empty: "They are shown within seconds of their arrival. Check below how a postback would be answered.",
  noneTitle: "No postback was answered like this",
  clear: "Show all answers",
  more: "Load older ones",
  shown: (postbacks: number) => `The newest ${plural(postbacks, "postback", "postbacks")}`,
  stopped: "New ones are not being loaded.",
  live: "New ones appear by themselves.",
  kept: "With older ones shown, new ones do not appear by themselves.",
};

export const check = {
  title: "Check a postback URL",
  intro: "Shows what Signpost would answer. Nothing is counted.",
  url: "Postback URL",
  urlHint: "The whole address, with the click ID and the token.",
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
  error: (words: string) => `The sender reads: ${words}`,
  noClick: "It refers to no click of ours.",
  erased: "The user was erased after the click, so nothing else of it is shown.",
  parameters: "What Signpost reads in it",
  empty: "Paste a URL first.",
};

/** Names for the codes of answers. A code that is new here is shown as it is. */
export const CODE_NAMES: Record<string, string> = {
  approved: "Approved",
  pending: "Pending",
  rejected: "Rejected",
  reversed: "Reversed",
  duplicate: "Repeated",
  missing_field: "Something is missing",
  invalid_parameter: "A parameter is wrong",
  invalid_click_id: "Not a click of ours",
  unknown_goal: "Unknown goal",
  invalid_token: "Token not valid",
  conversion_capped: "Cap reached",
  duplicate_txn: "txn used before",
  already_rewarded: "Rewarded before",
  after_restore: "After a restore, held",
  suspended: "Publisher suspended, held",
  too_fast: "Too fast, held",
  too_many_today: "Too many today, held",
  conversion_window_closed: "Too late",
  unavailable: "Busy",
  internal_error: "Failed",
  payload_too_large: "Too large",
  unsupported_media_type: "Not a form",
  not_found: "Wrong address",
};

export const codeName = (code: string) => CODE_NAMES[code] ?? code;

// Text of the search.

import { plural } from "../../shared/messages/plural";

export const commands = {
  publisher: "New publisher",
  offer: "New offer",
  advertiser: "New advertiser",
  import: "Import offers",
  held: "Approve held rewards",
};

export const search = {
  title: "Search",
  label: "Search",
  /** Shown only if there is room. */
  placeholder: "Name or ID",
  hint: "A name or a part of it, any ID, a key, a page or an action.",
  shortcut: (keys: string) => `Press ${keys} to search.`,
  note: "Type a part of a name, or paste a transaction ID, click ID, user ID, App-Id, offer or goal ID, or a key.",
  nothingYet: "Search for a name, an ID or a key",
  nothingYetText:
    "Signpost does not store the text you paste, and no server sees it in a URL. Keys never appear in a URL.",
  beginnings:
    "Paste a Pub-Key in full. For a report key, the beginning with its publisher is enough, such as sk_lumen-arcade. For a valid token, the beginning with its serial is enough.",
  noneTitle: "No match",
  none: "Check the spelling, or paste the whole text.",
  noKey: "No key or token matches. Check that you pasted all of it.",
  needsApp: "Is it a user ID?",
  needsAppText: "Without an app, only the newest rewards are searched. Enter the app to search all of its rewards.",
  searchInApp: "Search in this app",
  several: (number: number) => plural(number, "match", "matches"),
  columns: { name: "Name", kind: "Kind", where: "Where" },
  names: {
    publisher: "Publisher",
    app: "App",
    advertiser: "Advertiser",
    offer: "Offer",
    goal: "Goal",
    report_key: "Report key",
    pub_key: "Pub-Key",
    token: "Advertiser's token",
    reward: "Reward",
    user: "User",
    click: "Click",
  },
  notApproved: "not approved",
  notActive: "not active",
  incomplete: "A part of Signpost did not answer, so there may be more matches.",
  serial: (id: string) => `Serial ${id}`,
  keyId: "key",
  credentials: {
    valid: { badge: "Valid", note: "" },
    revoked_key: { badge: "Revoked", note: "Requests for reports with it are refused." },
    revoked_token: { badge: "Revoked", note: "Postbacks with it are refused." },
    begun_key: {
      badge: "Not a whole key",
      note: "It is only the beginning of a key, or nobody issued it. Paste the whole key to see which one it is, and whether it is valid.",
    },
    begun_token: {
      badge: "Not a whole token",
      note: "It is only the beginning of a token, or nobody issued it. The token with this serial is valid.",
    },
  },
  ofPublisher: (publisher: string) => `of publisher ${publisher}`,
  ofAdvertiser: (advertiser: string) => `of advertiser ${advertiser}`,
  ofOffer: (offer: string) => `of offer ${offer}`,
  inApp: (app: string) => `in app ${app}`,
  user: {
    title: (user: string) => `User ${user}`,
    table: "Rewards of this user",
    newest: "The newest 100 rewards.",
    none: "This user has no reward in this app.",
    all: "Open as a list",
  },
  click: {
    title: "Click",
    note: "The contents of the click ID, decrypted for you only. Nothing was stored.",
    app: "App",
    termsOf: (offer: string, app: string) => `Offer ${offer}, app ${app}`,
    shard: "Outbox",
    became: "Rewards of this click",
    nothing:
      "No conversion of this click has arrived. If the advertiser says it sent one, look at how its postbacks were answered:",
    postbacks: (advertiser: string) => `Postbacks of ${advertiser}`,
    itsOffer: "its offer",
    hiddenTitle: { expired: "Click that is no longer stored", erased: "Click of a user who was erased" },
    hidden: {
      expired:
        "Signpost issued this click ID. Its record was deleted when the time for conversions ended, so a conversion that comes now is refused.",
      erased:
        "Signpost issued this click ID. The user was erased after the click, so data that identifies the user is not shown. A conversion that comes is still paid.",
    },
    nothingCame: {
      expired: "No conversion of this click came in time.",
      erased: "No conversion of this click has arrived.",
    },
  },
};

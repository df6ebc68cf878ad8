// Text of every view: the frame, errors, the account menu, charts and tables.

import { HIGHEST } from "#site";
import { count, dateText, timeText } from "../format";
import type { Role } from "../types";
import { ROLE_NAMES } from "./names";
import { plural } from "./plural";

export const common = {
  product: "Signpost",
  title: (...parts: string[]) => [...parts, "Signpost"].join(" · "),
  skip: "Skip to content",
  navigation: "Main",
  overview: "Overview",
  reports: "Reports",
  apps: "Apps",
  rewards: "Rewards",
  settings: "Settings",
  loading: "Loading…",
  more: "Load more",
  cancel: "Cancel",
  close: "Close",
  done: "Done",
  retry: "Try again",
  copy: "Copy",
  copied: "Copied.",
  copyFailed: "Your browser did not allow the copy. Select the text and copy it by hand.",
  none: "—",
  never: "Never",
  notFoundTitle: "Page not found",
  notFound: "There is no page at this address.",
  toOverview: "Go to the first page",
  requestId: (id: string) => `Request ID ${id}`,
  stale: (at: string) => `This is as of ${at}. It could not be refreshed.`,
  contact: "Contact support",
  viewFailed: "This page could not be loaded",
  viewFailedHint: "Signpost may have been updated, or the connection failed. Reload the page.",
  reload: "Reload",
  leaveTitle: "Leave without saving?",
  leaveText: "Your changes on this page are not saved.",
  leave: "Leave",
  stay: "Stay here",
};

export const dataThrough = (at: string | null | undefined, final?: string | null) =>
  at ? `Data through ${timeText(at)}${final ? `, final through ${dateText(final)}` : ""}` : "No data yet";

export const errors = {
  title: "This could not be loaded",
  part: "This part could not be calculated",
  network: "There is no connection to Signpost. Check your network, then try again.",
  unavailable: "Signpost is busy and did not answer in time.",
  tooMany: "Too many requests in a short time.",
  again: (seconds: number) => `Try again in ${plural(seconds, "second", "seconds")}.`,
  internal: "Something went wrong on our side.",
  giveRequestId: "Support can find the cause with the request ID.",
  unreadable: "The answer could not be read. It may have been changed on its way to you.",
  unknown: "The request was refused.",
  roleTitle: "Your role does not include this",
  role: (publisher: string) => `An ${HIGHEST} of ${publisher} can do this, or can change your role.`,
  switched: "This browser has switched to another account. Nothing was done.",
  lastOwner: `This is the last ${HIGHEST}. Make another member an ${HIGHEST} first.`,
  passkey: {
    unsupported: "This browser cannot use passkeys here. Use a current browser, and an https address or localhost.",
    cancelled: "No passkey was used: you cancelled, it took too long, or this device has none for Signpost.",
    already_stored: "This device already has one of your passkeys. Use another device or a security key.",
    failed: "The passkey could not be used. Try again, or use another device.",
  },
  suspended: "This account is suspended.",
  entry: (number: number, problem: string) => `Line ${count(number)}: ${problem}`,
  passkeyRefused: `This passkey is unknown. It may have been removed. Ask an ${HIGHEST} for a new invite.`,
};

export const account = {
  menu: "Account",
  signedInAs: (name: string, role: Role) => `${name}, ${ROLE_NAMES[role].toLowerCase()}`,
  documentation: "Documentation",
  release: (version: string) => `Signpost ${version}`,
  signOut: "Sign out",
};

export const accounts = {
  list: "Accounts",
  add: "Add another account",
  signOutOfAll: "Sign out of all accounts",
  switchedElsewhere: "You switched to another account in another tab. This tab follows.",
  switched: (publisher: string) => `You now see ${publisher}.`,
};

export const chart = {
  role: "chart",
  help: "Left and right arrow keys move from day to day. Home and End go to the first and last day.",
  label: (title: string, first: string, last: string) => `${title}, ${dateText(first)} to ${dateText(last)}`,
  asTable: "Show as table",
  asChart: "Show as chart",
  noValue: "no value",
  incomplete: "not complete",
  points: (parts: string[]) => parts.join(", "),
};

export const table = {
  scroll: (name: string) => `${name}, scrolls`,
  total: "Total",
  change: "Change",
};

export const pager = {
  label: "Pages",
  previous: "Previous page",
  next: "Next page",
  range: (first: number, last: number, total: number) => `${count(first)} – ${count(last)} of ${count(total)}`,
  rows: "Rows",
};

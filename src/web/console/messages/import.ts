// Text of the import.

import { plural } from "../../shared/messages/plural";
import { count } from "../../shared/format";
import type { WouldImport } from "../../shared/generated/openapi";

export const KIND_NAMES: Record<string, [string, string]> = {
  publisher: ["publisher", "publishers"],
  app: ["app", "apps"],
  advertiser: ["advertiser", "advertisers"],
  offer: ["offer", "offers"],
};

export const importText = {
  title: "Import",
  intro: "Loads publishers, apps, advertisers and offers from a file. If a line is wrong, nothing is loaded.",
  drop: "Drop an NDJSON file here, or choose one.",
  or: "One resource per line, at most 67 MB.",
  choose: "Choose a file",
  checking: (name: string) => `Checking ${name}. Nothing is imported yet…`,
  ready: (resources: number) => `${plural(resources, "resource is", "resources are")} ready to import`,
  chosen: (name: string, size: string) => `${name}, ${size}`,
  readyText:
    "Every line is valid. A line replaces the whole resource with its ID: a field that the line leaves out is removed.",
  kinds: (kinds: string[]) => kinds.join(", "),
  kind: (kind: string, value: number) => plural(value, ...(KIND_NAMES[kind] ?? [kind, kind])),
  changes: ({ would_import, new: added, changed }: WouldImport) =>
    `${count(added)} new, ${count(changed)} changed, ${count(would_import - added - changed)} unchanged`,
  payouts: (payouts: number, isAll: boolean) =>
    isAll
      ? `${plural(payouts, "payout changes", "payouts change")}`
      : `The first ${count(payouts)} payouts that change`,
  payoutsText: "Earlier clicks keep the payout that they were promised, unless the offer's terms also apply to them.",
  offer: "Offer",
  goal: "Goal",
  payoutNow: "Payout now",
  payoutAfter: "After the import",
  same: "Nothing would change",
  sameText: "Every line matches what is stored.",
  nothing: "The file has no resources",
  nothingText: "Each line is a JSON object with kind and id.",
  wrong: (lines: number, isAll: boolean) =>
    isAll ? `${plural(lines, "line is", "lines are")} wrong` : `The first ${count(lines)} wrong lines`,
  wrongText: (name: string) => `Nothing was imported from ${name}. Fix these lines, then choose the file again.`,
  line: "Line",
  problem: "Problem",
  import: (resources: number) => `Import ${plural(resources, "resource", "resources")}`,
  imported: (resources: number) => `${plural(resources, "resource was", "resources were")} imported.`,
  done: (resources: number) => `${plural(resources, "resource was", "resources were")} imported`,
  doneText: "Clicks and offer lists use them within two minutes.",
  again: "Choose another file",
  tooLarge: "The file is larger than 67 MB. Split it.",
  notText: "The file is not UTF-8 text.",
  toOffers: "To the offers",
};

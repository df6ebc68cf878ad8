// A file of facts: CSV or NDJSON.

import type { TextFile } from "../../text-file";

/** A file without facts, which says that its day has none. */
export const NO_FACTS =
  "date,app_id,app_name,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue\n";

export const linesOf = ({ text }: TextFile) => text.split("\n").filter((line) => line.trim() !== "").length;

/** Tells the type from the file's name. If the name does not help, a first character `{` means NDJSON. */
export function mediaTypeOf({ name, text }: Pick<TextFile, "name" | "text">): "text/csv" | "application/x-ndjson" {
  if (/\.csv$/i.test(name)) return "text/csv";
  if (/\.(ndjson|jsonl)$/i.test(name) || /^\s*\{/.test(text)) return "application/x-ndjson";
  return "text/csv";
}

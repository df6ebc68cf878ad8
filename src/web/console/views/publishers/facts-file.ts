// A file of facts: CSV or NDJSON.

import type { TextFile } from "../../text-file";

export const linesOf = ({ text }: TextFile) => text.split("\n").filter((line) => line.trim() !== "").length;

/** By the name; else by the first letter, since a line of NDJSON begins with a brace. */
export function mediaTypeOf({ name, text }: Pick<TextFile, "name" | "text">): "text/csv" | "application/x-ndjson" {
  if (/\.csv$/i.test(name)) return "text/csv";
  if (/\.(ndjson|jsonl)$/i.test(name) || /^\s*\{/.test(text)) return "application/x-ndjson";
  return "text/csv";
}

// A file of facts: CSV or NDJSON, as text in UTF-8.

/** The largest upload that is taken. */
const MOST_BYTES = 64 * 2 ** 20;

export interface FactsFile {
  name: string;
  text: string;
  bytes: number;
  lines: number;
  mediaType: "text/csv" | "application/x-ndjson";
}

export type FileProblem = "tooLarge" | "notText";

/** Reads it whole. A byte order mark, which spreadsheets write, is left out. */
export async function readFacts(file: File): Promise<FactsFile | FileProblem> {
  if (file.size > MOST_BYTES) return "tooLarge";
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return "notText";
  }
  const lines = text.split("\n").filter((line) => line.trim() !== "").length;
  return { name: file.name, text, bytes: file.size, lines, mediaType: mediaTypeOf(file.name, text) };
}

/** By the name; else by the first letter, since a line of NDJSON begins with a brace. */
export function mediaTypeOf(name: string, text: string): FactsFile["mediaType"] {
  if (/\.csv$/i.test(name)) return "text/csv";
  if (/\.(ndjson|jsonl)$/i.test(name) || /^\s*\{/.test(text)) return "application/x-ndjson";
  return "text/csv";
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const unit = bytes < 2 ** 20 ? "KiB" : "MiB";
  const size = bytes / (unit === "KiB" ? 1024 : 2 ** 20);
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

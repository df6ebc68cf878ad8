// A file to import. The resources on its readable lines are counted by kind.

import type { TextFile } from "../../text-file";

// Counting a larger file would block the page.
const MAX_COUNTED = 8 * 1024 * 1024;

/** The number of resources of each kind, in the order of the lines; empty for a large file. */
export function kindsOf({ text, bytes }: TextFile): Map<string, number> {
  const kinds = new Map<string, number>();
  if (bytes > MAX_COUNTED) return kinds;
  for (const line of text.split("\n")) {
    const kind = kindOf(line);
    if (kind) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return kinds;
}

function kindOf(line: string): string | null {
  try {
    const { kind } = JSON.parse(line) as { kind?: unknown };
    return typeof kind === "string" ? kind : null;
  } catch {
    // Signpost's own check reports such a line.
    return null;
  }
}

/** The kind and the ID of the resource on a line, counted from 1. The rest is not shown: apps have secrets. */
export function subjectOf({ text }: TextFile, number: number): string {
  try {
    const { kind, id } = JSON.parse(text.split("\n", number)[number - 1] ?? "") as { kind?: unknown; id?: unknown };
    return [kind, id].filter((part) => typeof part === "string").join(" ");
  } catch {
    return "";
  }
}

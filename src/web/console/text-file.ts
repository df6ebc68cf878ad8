// A file that is uploaded: text in UTF-8, such as CSV or NDJSON.

/** The largest upload that is taken: 64 MiB, which pages call 67 MB. */
const MAX_BYTES = 64 * 2 ** 20;

export interface TextFile {
  name: string;
  bytes: number;
  text: string;
}

type FileProblem = "tooLarge" | "notText";

/** Reads it whole. A byte order mark, which spreadsheets write, is left out. */
export async function readTextFile(file: File): Promise<TextFile | FileProblem> {
  if (file.size > MAX_BYTES) return "tooLarge";
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return { name: file.name, bytes: file.size, text };
  } catch {
    return "notText";
  }
}

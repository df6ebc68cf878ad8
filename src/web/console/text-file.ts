// A file that is uploaded: text in UTF-8, such as CSV or NDJSON.

/** Maximum size of an upload: 64 MiB, which pages call 67 MB. */
const MAX_BYTES = 64 * 2 ** 20;

export interface TextFile {
  name: string;
  bytes: number;
  text: string;
}

type FileProblem = "tooLarge" | "notText";

/** Reads a whole file. Leaves out the byte order mark that spreadsheets write. */
export async function readTextFile(file: File): Promise<TextFile | FileProblem> {
  if (file.size > MAX_BYTES) return "tooLarge";
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return { name: file.name, bytes: file.size, text };
  } catch {
    return "notText";
  }
}

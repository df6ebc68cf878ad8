// The API's two documents, with every reference in one form: `file#/path`.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export class Documents {
  #byFile = {};

  constructor(root, files) {
    for (const file of files) {
      const document = parse(readFileSync(join(root, file), "utf8"), { merge: true, maxAliasCount: -1 });
      qualify(document, file, new Set());
      this.#byFile[file] = document;
    }
  }

  get(file) {
    return this.#byFile[file];
  }

  /** Returns a reference's target, and the last part of its path as its name; any other value without a name. */
  resolve(value) {
    if (!value?.$ref) return { value };
    const [file, path] = value.$ref.split("#/");
    const parts = path.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    const target = parts.reduce((at, part) => at?.[part], this.#byFile[file]);
    if (target === undefined) throw new Error(`${value.$ref} leads to nothing`);
    return { value: target, name: parts.at(-1) };
  }
}

/** `seen` is needed because a YAML alias puts the same object in several places. */
function qualify(value, file, seen) {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  if (typeof value.$ref === "string" && value.$ref.startsWith("#")) value.$ref = file + value.$ref;
  for (const inner of Object.values(value)) qualify(inner, file, seen);
}

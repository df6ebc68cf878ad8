// Every code of an error with its meaning (errors.yaml), its statuses, and the operations that answer it.

import { readFileSync } from "node:fs";
import { parse } from "yaml";

export function readErrors({ operations, elsewhere }) {
  const meanings = parse(readFileSync(new URL("../errors.yaml", import.meta.url), "utf8"));
  const byCode = new Map(Object.entries(meanings).map(([code, meaning]) => [code, { code, meaning, uses: [] }]));
  const statuses = new Map();
  const use = (code, status, operation) => {
    const error = byCode.get(code);
    if (!error) throw new Error(`errors.yaml does not have ${code}`);
    statuses.set(code, new Set([...(statuses.get(code) ?? []), status]));
    if (operation && !error.uses.includes(operation)) error.uses.push(operation);
  };
  for (const operation of operations) {
    for (const [status, codes] of Object.entries(operation.codes)) {
      for (const code of codes) use(code, status, operation);
    }
  }
  for (const { code, status } of elsewhere) use(code, status);
  return [...byCode.values()].map((error) => {
    if (!statuses.has(error.code)) throw new Error(`errors.yaml has ${error.code}, which nothing answers`);
    return { ...error, statuses: [...statuses.get(error.code)].sort() };
  });
}

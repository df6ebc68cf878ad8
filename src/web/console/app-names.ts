// The names of apps. The first 100 names are loaded at once. Others are loaded only if a page shows them, because there
// may be very many.

import { type AppNames, useNames } from "../shared/app-names";
import { pageOf } from "../shared/page-of";
import { generation } from "../shared/session";
import type { KeptApp } from "../shared/generated/openapi";
import { get } from "./api";
import { useAnswers } from "./use-answers";

const FIRST_APPS = 100;
/** Maximum names that one page loads: as many as it has rows. */
const MAX_READ = 50;

const load = (cursor: string | null) => get("/apps", { limit: FIRST_APPS, cursor }).then(pageOf("apps"));

/** The names that were read one by one in this session. */
let read = { of: -1, names: new Map<string, string>() };

function namesRead(): Map<string, string> {
  const of = generation.peek();
  if (read.of !== of) read = { of, names: new Map() };
  return read.names;
}

async function readName([id]: string[]): Promise<Record<string, string>> {
  const known = namesRead();
  // An app that cannot be read is named by its App-Id.
  const name = known.get(id!) ?? (await get("/apps/{app_id}", { app_id: id! }).catch(() => null))?.name ?? id!;
  known.set(id!, name);
  return { [id!]: name };
}

/** `shown` has the App-Ids whose names the page shows. */
export function useAppNames(shown: string[] = []): AppNames<KeptApp> {
  const first = useNames(load, 1);
  const isLoaded = first.apps.length > 0;
  const others = shown.filter((id) => first.nameOf(id) === id);
  const wanted = isLoaded ? [...new Set(others)].slice(0, MAX_READ) : [];
  const { answers } = useAnswers(wanted, 1, readName);
  return { apps: first.apps, nameOf: (id) => answers[id] ?? first.nameOf(id) };
}

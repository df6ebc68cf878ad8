// A page of the open items that match a filter, and their number.

import { get } from "../../api";
import { KIND_NAMES, attention as text } from "../../messages/attention";
import { OFFERS_PATH, PUBLISHERS_PATH } from "../../router";
import { usePolled } from "../../poll";
import { count } from "../../../shared/format";
import type { AttentionKind, AttentionList } from "../../../shared/generated/openapi";

const PAGE_ROWS = 50;
/** The count is on every page, and nobody waits for it to change, so it is polled rarely. */
const COUNT_MILLISECONDS = 60_000;

export const COUNT_KEY = "attention count";

export const KINDS = Object.keys(KIND_NAMES) as AttentionKind[];

export interface Query {
  kind: AttentionKind | "";
  app: string;
  cursor: string;
}

export const useList = (query: Query) =>
  usePolled(`attention ${JSON.stringify(query)}`, (isPoll) =>
    get("/attention", { kind: query.kind, app_id: query.app, limit: PAGE_ROWS, cursor: query.cursor }, isPoll),
  );

export const openOf = (page: AttentionList) => KINDS.reduce((sum, kind) => sum + (page.counts[kind] ?? 0), 0);

/** Waiting items that are listed on a page of their own. */
export const WAITING = [
  { name: "publishers", href: `${PUBLISHERS_PATH}?state=waiting` },
  { name: "pub_key_requests", href: PUBLISHERS_PATH },
  { name: "near_caps", href: OFFERS_PATH },
] as const;

export const waitingOf = ({ waiting }: AttentionList) =>
  WAITING.reduce((sum, { name }) => sum + (waiting?.[name] ?? 0), 0);

/** The count next to the view's name in the navigation. */
export function OpenCount() {
  const { data } = usePolled(
    COUNT_KEY,
    (isPoll) => get("/attention", { limit: 1 }, isPoll),
    undefined,
    COUNT_MILLISECONDS,
  );
  const open = data ? openOf(data) + waitingOf(data) : 0;
  if (open === 0) return null;
  return (
    <>
      {" "}
      <span class="nav-count">
        {count(open)}
        <span class="visually-hidden"> {text.open}</span>
      </span>
    </>
  );
}

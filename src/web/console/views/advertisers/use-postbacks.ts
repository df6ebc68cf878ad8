// The newest postbacks of an advertiser, or the refused ones of all, kept up to date; and the time at which each of the
// advertiser's tokens was last used.

import { useRef } from "preact/hooks";
import { search } from "../../../shared/navigation";
import { pageOf } from "../../../shared/page-of";
import { usePolling } from "../../../shared/poll";
import { type Pages, usePages } from "../../../shared/use-pages";
import type { PostbackList as Answer } from "../../../shared/generated/openapi";
import { get } from "../../api";
import { CATALOG_POLL_MILLISECONDS } from "../../poll";

export type Postback = Answer["postbacks"][number];
export type TokenUse = Answer["tokens"][number];

type Beside = Pick<Answer, "tokens" | "not_shown" | "since">;

export interface PostbackList {
  /** The code of the answers that are shown; empty for all. The URL holds it. */
  code: string;
  pages: Pages<Postback, Beside>;
  /** Uses of tokens over all answers, whatever `code` is. Undefined until they have loaded. */
  uses: TokenUse[] | undefined;
}

const codeOf = (query: string) => new URLSearchParams(query).get("code") ?? "";

export function usePostbacks(advertiserId: string | null): PostbackList {
  const code = codeOf(search.value);
  const key = `postbacks ${advertiserId ?? ""} ${code}`;
  const isPoll = useRef(false);
  const pages = usePages<Postback, Beside>(key, async (cursor) => {
    const query = { limit: 50, cursor, code };
    const page = await (advertiserId === null
      ? get("/refused_postbacks", query, isPoll.current)
      : get("/advertisers/{advertiser_id}/postbacks", { advertiser_id: advertiserId, ...query }, isPoll.current));
    return { ...page, ...pageOf("postbacks")(page) };
  });
  const { first, isOnlyFirst } = pages;
  usePolling({ key, of: first, isPoll, changes: () => isOnlyFirst, milliseconds: CATALOG_POLL_MILLISECONDS });
  // Keep the last known uses while the answers of another code load.
  const uses = useRef<TokenUse[] | undefined>(undefined);
  uses.current = first.data?.tokens ?? uses.current;
  return { code, pages, uses: uses.current };
}

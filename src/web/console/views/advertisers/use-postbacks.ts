// The newest postbacks of an advertiser, kept up to date, and when each of its tokens last came.

import { useRef } from "preact/hooks";
import { search } from "../../../shared/navigation";
import type { ListPage } from "../../../shared/page-of";
import { usePolling } from "../../../shared/poll";
import { type Pages, usePages } from "../../../shared/use-pages";
import { advertisersApi } from "../../api/advertisers";
import { CATALOG_POLL_MILLISECONDS } from "../../poll";
import type { Postback, TokenUse } from "../../types/advertisers";

interface Beside {
  tokens: TokenUse[];
  notShown: number;
  since: number | null;
}

export interface PostbackList {
  /** The answers that are shown; empty for all. It stands in the address. */
  code: string;
  pages: Pages<Postback, Beside>;
  /** Of all answers. Undefined while it is not known. */
  uses: TokenUse[] | undefined;
}

const codeOf = (query: string) => new URLSearchParams(query).get("code") ?? "";

export function usePostbacks(advertiserId: string): PostbackList {
  const code = codeOf(search.value);
  const key = `postbacks ${advertiserId} ${code}`;
  const isPoll = useRef(false);
  const pages = usePages(key, async (cursor): Promise<ListPage<Postback> & Beside> => {
    const page = await advertisersApi.postbacks(advertiserId, code, cursor, isPoll.current);
    return {
      rows: page.postbacks,
      cursor: page.cursor,
      tokens: page.tokens,
      notShown: page.not_shown,
      since: page.since,
    };
  });
  const { first, isOnlyFirst } = pages;
  usePolling({ key, of: first, isPoll, changes: () => isOnlyFirst, milliseconds: CATALOG_POLL_MILLISECONDS });
  // Another choice of answers is no reason to forget them.
  const uses = useRef<TokenUse[] | undefined>(undefined);
  uses.current = first.data?.tokens ?? uses.current;
  return { code, pages, uses: uses.current };
}

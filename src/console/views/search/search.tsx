// What a pasted text is. The only thing that has it opens at once; several are listed.

import { useEffect, useState } from "preact/hooks";
import { useCached } from "../../../pages/cache";
import { Heading } from "../../../pages/components/heading";
import { Empty, Failed, Skeleton } from "../../../pages/components/states";
import { fragment, navigate } from "../../../pages/navigation";
import { search as find } from "../../api/search";
import { isAppId } from "../../ids";
import { AppField } from "../../components/app-field";
import { rewards as rewardsText } from "../../messages/rewards";
import { search as text } from "../../messages/search";
import { SEARCH_PATH } from "../../router";
import { parseSearch, searchHash, searchKey, type SearchState } from "../../search-state";
import type { Found, Match } from "../../types/search";
import { ClickFound } from "./click";
import { hasPage, hrefOf, PageMatches } from "./matches";
import { UserFound } from "./user";

export function Search() {
  const state = parseSearch(fragment.value);
  const { data, error, isLoading, reload } = useCached(state.text ? searchKey(state) : null, () =>
    find(state.text, state.app),
  );
  return (
    <>
      <Heading title={text.title} note={text.note} />
      {!state.text ? (
        <Empty title={text.nothingYet}>{text.nothingYetText}</Empty>
      ) : isLoading || (!data && !error) ? (
        <div class="card padded">
          <Skeleton lines={4} />
        </div>
      ) : error ? (
        <Failed error={error} retry={reload} />
      ) : (
        <Answer key={searchKey(state)} found={data!} state={state} />
      )}
    </>
  );
}

function Answer({ found, state }: { found: Found; state: SearchState }) {
  const { matches } = found;
  // The page of an advertiser does not tell that a token was revoked.
  const isEnded = matches[0]?.kind === "token" && !matches[0].is_valid;
  const only = matches.length === 1 && hasPage(matches[0]!) && !isEnded ? matches[0] : null;
  useEffect(() => {
    // In the place of the search, so that the way back leads past it.
    if (only && !found.needs_app) navigate(hrefOf(only), "replace");
  }, []);
  if (found.needs_app && matches.length === 0) return <AskApp state={state} />;
  if (matches.length === 0) return <Empty title={text.noneTitle}>{text.none}</Empty>;
  const pages = matches.filter(hasPage);
  return (
    <>
      {pages.length > 0 && <PageMatches matches={pages} total={matches.length} />}
      {matches.map((match, index) => (
        <Details key={index} match={match} />
      ))}
      {found.needs_app && <AskApp state={state} />}
    </>
  );
}

function Details({ match }: { match: Match }) {
  if (match.kind === "user") return <UserFound match={match} />;
  return match.kind === "click" ? <ClickFound match={match} /> : null;
}

/** Ids of users and transactions are known within an app only. */
function AskApp({ state }: { state: SearchState }) {
  const [app, setApp] = useState(state.app);
  const [isBad, setBad] = useState(false);
  return (
    <form
      class="card padded ask-app"
      onSubmit={(event) => {
        event.preventDefault();
        setBad(!isAppId(app));
        if (isAppId(app)) navigate(SEARCH_PATH + searchHash({ ...state, app }));
      }}
    >
      <h2>{text.needsApp}</h2>
      <p class="note">{text.needsAppText}</p>
      <AppField value={app} onChange={setApp} error={isBad && !isAppId(app) ? rewardsText.badApp : null} />
      <button type="submit" class="button primary">
        {text.searchInApp}
      </button>
    </form>
  );
}

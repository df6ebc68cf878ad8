// Identifies a pasted text. A single match opens at once, unless its page would not show what matched. Other matches
// are listed or shown here.

import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { refresh, useCached } from "../../../shared/cache";
import { Form, SubmitButton } from "../../../shared/components/form";
import { Heading } from "../../../shared/components/heading";
import { Banner, Empty, Failed, Skeleton } from "../../../shared/components/states";
import { fragment, navigate } from "../../../shared/navigation";
import type { Found } from "../../../shared/generated/openapi";
import { post } from "../../api";
import { isAppId, isCredential } from "../../ids";
import { AppField } from "../../components/app-field";
import { rewards as rewardsText } from "../../messages/rewards";
import { search as text } from "../../messages/search";
import { currentSearch, openSearch, parseSearch, searchKey, type SearchState } from "../../search-state";
import { ClickFound, HiddenClickFound } from "./click";
import { hasPage, hrefOf, type Match, opensAtOnce, PageMatches } from "./matches";
import { UserFound } from "./user";

export function Search() {
  const state = currentSearch();
  // A link that somebody made may have a credential in its URL.
  const isExposed = isCredential(parseSearch(fragment.value).text);
  useLayoutEffect(() => {
    if (isExposed) openSearch(state, "replace");
  }, [isExposed]);
  const { data, error, isLoading, reload } = useCached(state.text ? searchKey(state) : null, () =>
    post("/search", {}, { text: state.text, ...(state.app && { app_id: state.app }) }),
  );
  return (
    <>
      <Heading title={text.title} note={text.note} />
      {!state.text ? (
        <Empty title={text.nothingYet}>
          {text.nothingYetText} {text.beginnings}
        </Empty>
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
  const only = matches.length === 1 && !found.is_incomplete && opensAtOnce(matches[0]!) ? matches[0] : null;
  useEffect(() => {
    // Replace the search in the history, so that the back button skips it.
    if (only) navigate(hrefOf(only), "replace");
  }, []);
  if (found.needs_app && matches.length === 0) return <AskApp state={state} />;
  if (matches.length === 0) return <Empty title={text.noneTitle}>{text.none}</Empty>;
  const pages = matches.filter(hasPage);
  return (
    <>
      {found.is_incomplete && <Banner onClick={() => void refresh(searchKey(state))}>{text.incomplete}</Banner>}
      {pages.length > 0 && <PageMatches matches={pages} total={matches.length} />}
      {matches.map((match, index) => (
        <Details key={index} match={match} />
      ))}
      {found.needs_app && !isCredential(state.text) && <AskApp state={state} />}
    </>
  );
}

function Details({ match }: { match: Match }) {
  if (match.kind === "user") return <UserFound match={match} />;
  if (match.kind !== "click") return null;
  return "not_shown" in match ? <HiddenClickFound match={match} /> : <ClickFound match={match} />;
}

/** Asks for the app, because a user's id is unique only within an app. */
function AskApp({ state }: { state: SearchState }) {
  const [app, setApp] = useState(state.app);
  const [isBad, setBad] = useState(false);
  return (
    <Form
      class="card padded ask-app"
      onSubmit={() => {
        setBad(!isAppId(app));
        if (isAppId(app)) openSearch({ text: state.text, app });
      }}
    >
      {isCredential(state.text) && <p>{text.noKey}</p>}
      <h2>{text.needsApp}</h2>
      <p class="note">{text.needsAppText}</p>
      <AppField value={app} onChange={setApp} error={isBad && !isAppId(app) ? rewardsText.badApp : null} />
      <SubmitButton>{text.searchInApp}</SubmitButton>
    </Form>
  );
}

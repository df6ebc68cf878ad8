// Callbacks that fail or are switched off.

import { type Column, column } from "../../../shared/components/table";
import { exactTimeText } from "../../../shared/format";
import { CallbackBadge } from "../../../shared/rewards/activity";
import { AppLink } from "../../components/links";
import { attention } from "../../messages/attention";
import { service } from "../../messages/service";
import type { AttentionItem, CallbackState } from "../../types";
import { OpenItems } from "./open-items";
import { useEffect, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { SmallRun } from "../../../shared/components/button";
import type { CallbackList } from "../../../shared/generated/openapi";
import { FormError, SaidNote } from "../../../shared/components/states";
import { get } from "../../api";
import { useAppNames } from "../../app-names";

const { asking, endpoints: text } = service;

export const Endpoints = () => (
  <OpenItems title={text.title} kinds={["disabled", "failing"]} none={text.none} columns={columns}>
    <AskEndpoints />
  </OpenItems>
);

const columns = (nameOf: (appId: string) => string): Column<AttentionItem>[] => [
  column("app", text.app, ({ app_id: app }) => app !== null && <AppLink id={app} name={nameOf(app)} />),
  column("state", text.state, ({ kind }) => <CallbackBadge state={kind as CallbackState} />),
  column("since", text.since, ({ since_ms: since }) => exactTimeText(since / 1000)),
  column("reason", text.reason, ({ reason }) => <span class="wrap">{attention.reasonText(reason)}</span>),
];

interface Asked {
  apps: number;
  silent: string[];
  isAll: boolean;
}

/**
 * Asks the object of every app with a callback whether it answers. A silent object cannot report anything, so it is
 * missing from lists of reports.
 */
function AskEndpoints() {
  const [asked, setAsked] = useState<Asked | null>(null);
  const { nameOf } = useAppNames(asked?.silent);
  const [closing] = useState(() => new AbortController());
  useEffect(() => () => closing.abort(), []);
  const ask = useAction(async () => {
    let apps = 0;
    const silent: string[] = [];
    let cursor: string | null = null;
    do {
      setAsked({ apps, silent: [...silent], isAll: false });
      // The service asks each app of the page for its state.
      const page: CallbackList = await get("/callbacks", { cursor });
      apps += page.callbacks.length;
      silent.push(...page.callbacks.filter(({ state }) => state === "unknown").map(({ app_id }) => app_id));
      ({ cursor } = page);
    } while (cursor !== null && !closing.signal.aborted);
    setAsked({ apps, silent, isAll: true });
  });
  return (
    <div class="card-foot padded-top">
      <div class="row">
        <SmallRun of={ask}>{asking.button}</SmallRun>
        <SaidNote>
          {!asked
            ? asking.note
            : asked.isAll
              ? asking.result(asked.apps, asked.silent.length)
              : asking.running(asked.apps)}
        </SaidNote>
      </div>
      {asked && asked.silent.length > 0 && (
        <ul class="lines">
          {asked.silent.map((app) => (
            <li key={app}>
              <AppLink id={app} name={nameOf(app)} />
            </li>
          ))}
        </ul>
      )}
      <FormError error={ask.error} />
    </div>
  );
}

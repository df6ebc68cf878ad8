// Asks the object of every app with a callback whether it answers. A silent object cannot report anything, so it is
// missing from lists of reports.

import { useEffect, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { SmallRun } from "../../../shared/components/button";
import type { CallbackList } from "../../../shared/generated/openapi";
import { FormError, SaidNote } from "../../../shared/components/states";
import { get } from "../../api";
import { useAppNames } from "../../app-names";
import { AppLink } from "../../components/links";
import { service } from "../../messages/service";

const text = service.asking;

interface Asked {
  apps: number;
  silent: string[];
  isAll: boolean;
}

export function AskEndpoints() {
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
        <SmallRun of={ask}>{text.button}</SmallRun>
        <SaidNote>
          {!asked ? text.note : asked.isAll ? text.result(asked.apps, asked.silent.length) : text.running(asked.apps)}
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

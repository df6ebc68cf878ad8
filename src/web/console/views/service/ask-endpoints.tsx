// Asks every app with a callback whether it answers. One that does not can report nothing, so no list of what was reported
// has it.

import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { Name } from "../../../shared/components/name";
import { FormError } from "../../../shared/components/states";
import { serviceApi } from "../../api/service";
import { useAppNames } from "../../app-names";
import { service } from "../../messages/service";
import { appPath } from "../../router";

const text = service.asking;

interface Asked {
  apps: number;
  silent: string[];
  isAll: boolean;
}

export function AskEndpoints() {
  const [asked, setAsked] = useState<Asked | null>(null);
  const { nameOf } = useAppNames(asked?.silent);
  const isLeft = useRef(false);
  useEffect(
    () => () => {
      isLeft.current = true;
    },
    [],
  );
  const ask = useAction(async () => {
    let apps = 0;
    const silent: string[] = [];
    let cursor: string | null = null;
    do {
      setAsked({ apps, silent: [...silent], isAll: false });
      const page: Awaited<ReturnType<typeof serviceApi.callbacks>> = await serviceApi.callbacks(cursor);
      apps += page.callbacks.length;
      silent.push(...page.callbacks.filter(({ state }) => state === "unknown").map(({ app_id }) => app_id));
      ({ cursor } = page);
    } while (cursor !== null && !isLeft.current);
    setAsked({ apps, silent, isAll: true });
  });
  return (
    <div class="card-foot padded-top">
      <div class="row">
        <button type="button" class="button small" aria-disabled={ask.isRunning} onClick={() => void ask.run()}>
          {text.button}
        </button>
        <p class="note" role="status">
          {!asked ? text.note : asked.isAll ? text.result(asked.apps, asked.silent.length) : text.running(asked.apps)}
        </p>
      </div>
      {asked && asked.silent.length > 0 && (
        <ul class="lines">
          {asked.silent.map((app) => (
            <li key={app}>
              <a href={appPath(app)}>
                <Name>{nameOf(app)}</Name>
              </a>
            </li>
          ))}
        </ul>
      )}
      <FormError error={ask.error} />
    </div>
  );
}

// The operator's decisions for an app: allowed hosts and ports, a limit of rewards, and offers that it does not show.

import { useState } from "preact/hooks";
import { put } from "../../../shared/cache";
import type { Tagged } from "../../../shared/client";
import { Area, Input } from "../../../shared/components/field";
import { FormDialog } from "../../../shared/components/form-dialog";
import { Card, PartForm, useDraft } from "../../../shared/components/part";
import type { App, KeptApp } from "../../../shared/generated/openapi";
import { decisions as text } from "../../messages/apps";
import { may } from "../../session";
import { changeApp, listText } from "./app-document";
import { appKey } from "../cache-keys";
import { changeOf, decidedOf, type Decision, DECISIONS, problemsOf, type Typed, typedOf } from "./decided";

const LEAST_ROWS = 3;
const MAX_ROWS = 12;

export function Decisions({ app, reload }: { app: Tagged<KeptApp>; reload: () => Promise<unknown> }) {
  const [isAsking, setAsking] = useState(false);
  const draft = useDraft<Typed>({
    saved: typedOf(app),
    fields: DECISIONS,
    names: { hosts: text.hosts, ports: text.ports, rewards: text.rewards, blocked: text.blocked },
    save: async (typed) => put(appKey(app.app_id), await changeApp(app, changeOf(app, typed))),
  });
  const { values, errors } = draft;
  // A role that may not change the decisions needs no form: the list above shows the decisions to this role.
  if (!may("manage")) return null;
  const problems = problemsOf(values);
  const isWrong = problems.ports !== null || problems.rewards !== null;
  const lines = (typed: string) => Math.min(MAX_ROWS, Math.max(LEAST_ROWS, typed.split("\n").length));
  const field = (name: keyof Typed) => ({
    value: values[name],
    onChange: (typed: string) => draft.set({ ...values, [name]: typed }),
  });
  const ask = async () => setAsking(Object.keys(changeOf(app, values)).length > 0);
  return (
    <Card title={text.title} intro={text.intro}>
      <PartForm draft={{ ...draft, save: ask }} reload={reload} isWrong={isWrong}>
        <div class="field-row">
          <Input
            label={text.ports}
            hint={text.portsHint}
            error={problems.ports ?? errors.of("callback_ports")}
            inputMode="numeric"
            {...field("ports")}
          />
          <Input
            label={text.rewards}
            hint={text.rewardsHint}
            error={problems.rewards ?? errors.of("max_rewards_per_user_day")}
            inputMode="numeric"
            {...field("rewards")}
          />
        </div>
        <Area
          label={text.hosts}
          hint={text.hostsHint}
          error={errors.of("fallback_hosts")}
          class="mono"
          spellcheck={false}
          rows={lines(values.hosts)}
          {...field("hosts")}
        />
        <Area
          label={text.blocked}
          hint={text.blockedHint(decidedOf(values).blocked_offers.length)}
          error={errors.of("blocked_offers")}
          class="mono"
          spellcheck={false}
          rows={lines(values.blocked)}
          {...field("blocked")}
        />
      </PartForm>
      {isAsking && (
        <Ask
          app={app}
          change={changeOf(app, values)}
          onSave={async () => {
            // An error is shown at its field.
            await draft.save();
            setAsking(false);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  );
}

/** The change of a field in words. A list may be long, so only its added and removed values are named. */
function changeText(field: Decision, before: App[Decision], after: App[Decision]): string {
  const name = text.names[field];
  if (!Array.isArray(after)) return text.change(name, String(before ?? text.noLimit), String(after ?? text.noLimit));
  const [old, next] = [(before ?? []) as unknown[], after as unknown[]];
  const added = after.filter((value) => !old.includes(value));
  const removed = old.filter((value) => !next.includes(value)) as (string | number)[];
  return text.listChange(name, added.length > 0 && listText(added), removed.length > 0 && listText(removed));
}

interface AskProps {
  app: KeptApp;
  change: Partial<App>;
  onSave: () => Promise<void>;
  onClose: () => void;
}

function Ask({ app, change, onSave, onClose }: AskProps) {
  return (
    <FormDialog title={text.confirmTitle(app.name)} button={text.confirm} onSubmit={onSave} onClose={onClose}>
      <ul class="bullets">
        {DECISIONS.filter((field) => field in change).map((field) => (
          <li key={field}>{changeText(field, app[field], change[field])}</li>
        ))}
      </ul>
      <p>
        {text.effect} {app.callback && text.triesAgain}
      </p>
    </FormDialog>
  );
}

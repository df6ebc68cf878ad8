// The filters of an app's rewards as a form. Choices apply at once, text when the form is sent.

import { useEffect, useState } from "preact/hooks";
import { Field } from "../../../shared/components/field";
import { DELIVERY_NAMES, STATE_NAMES } from "../../../shared/messages/rewards";
import { isAppId } from "../../ids";
import { AppField } from "../../components/app-field";
import { rewards as text } from "../../messages/rewards";
import { DELIVERIES, NO_FILTER, type RewardsFilter, STATES } from "./filter";

interface Props {
  filter: RewardsFilter;
  onChange: (filter: RewardsFilter) => void;
}

export function Filters({ filter, onChange }: Props) {
  const [typed, setTyped] = useState(filter);
  const [isBad, setBad] = useState(false);
  // The filter also changes by the back button, a link and the button that clears it.
  useEffect(() => setTyped(filter), [JSON.stringify(filter)]);
  const isFiltered = JSON.stringify({ ...filter, app: "" }) !== JSON.stringify(NO_FILTER);
  const apply = (next: RewardsFilter) => {
    setTyped(next);
    setBad(!isAppId(next.app));
    if (isAppId(next.app)) onChange(next);
  };
  const choose = (change: Partial<RewardsFilter>) => {
    const next = { ...typed, ...change };
    if (isAppId(next.app)) apply(next);
    else setTyped(next);
  };
  const input = (name: "reason" | "user") => (props: object) => (
    <input
      {...props}
      type="text"
      autocomplete="off"
      spellcheck={false}
      value={typed[name]}
      onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
    />
  );
  return (
    <form
      class="card padded log-filters"
      onSubmit={(event) => {
        event.preventDefault();
        apply({ ...typed, reason: typed.reason.trim(), user: typed.user.trim() });
      }}
    >
      <div class="field-row">
        <AppField
          value={typed.app}
          error={isBad && !isAppId(typed.app) ? text.badApp : null}
          onChange={(app) => setTyped({ ...typed, app })}
        />
        <Field label={text.state}>
          {(props) => (
            <select
              {...props}
              value={typed.status}
              onChange={(event) => choose({ status: event.currentTarget.value as RewardsFilter["status"] })}
            >
              <option value="">{text.anyState}</option>
              {STATES.map((state) => (
                <option key={state} value={state}>
                  {STATE_NAMES[state]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={text.delivery}>
          {(props) => (
            <select
              {...props}
              value={typed.state}
              onChange={(event) => choose({ state: event.currentTarget.value as RewardsFilter["state"] })}
            >
              <option value="">{text.anyDelivery}</option>
              {DELIVERIES.map((delivery) => (
                <option key={delivery} value={delivery}>
                  {DELIVERY_NAMES[delivery]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={text.reason} hint={text.reasonHint}>
          {input("reason")}
        </Field>
        <Field label={text.user}>{input("user")}</Field>
      </div>
      <div class="row">
        <button type="submit" class="button primary">
          {text.show}
        </button>
        {isFiltered && (
          <button type="button" class="button" onClick={() => onChange({ ...NO_FILTER, app: filter.app })}>
            {text.clear}
          </button>
        )}
      </div>
    </form>
  );
}

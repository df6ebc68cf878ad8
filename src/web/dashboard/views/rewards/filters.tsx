// The filters of the log as a form. Choices apply at once, text when the form is sent.

import { useEffect, useState } from "preact/hooks";
import { Field } from "../../../shared/components/field";
import { DELIVERY_NAMES, STATE_NAMES } from "../../../shared/messages/rewards";
import { rewards as text } from "../../messages/rewards";
import { DELIVERIES, isStatus, type LogFilter, NO_FILTER, STATES } from "./filter";

interface Props {
  filter: LogFilter;
  apps: { app_id: string; name: string }[];
  isAnalyst: boolean;
  onChange: (filter: LogFilter) => void;
}

export function Filters({ filter, apps, isAnalyst, onChange }: Props) {
  const [typed, setTyped] = useState(filter);
  // The filter also changes by the back button, a link and the button that clears it.
  useEffect(() => setTyped(filter), [JSON.stringify(filter)]);
  const isBadStatus = !isStatus(typed.status);
  const areBadDates = typed.from !== "" && typed.to !== "" && typed.to < typed.from;
  const isFiltered = JSON.stringify(filter) !== JSON.stringify(NO_FILTER);
  // Open from the start where one of them is in force; afterwards as the person leaves it.
  const [isOpen] = useState([filter.from, filter.to, filter.status, filter.transaction, filter.user].some(Boolean));
  const choose = (change: Partial<LogFilter>) => {
    const next = { ...typed, ...change };
    setTyped(next);
    onChange(next);
  };
  const input = (name: "status" | "transaction" | "user", mode?: "numeric") => (props: object) => (
    <input
      {...props}
      type="text"
      inputMode={mode}
      autocomplete="off"
      spellcheck={false}
      value={typed[name]}
      onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value.trim() })}
    />
  );
  const dateInput = (name: "from" | "to") => (props: object) => (
    <input
      {...props}
      type="date"
      value={typed[name]}
      onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
    />
  );
  // An app that has no reward yet may still be the one that is asked for.
  const isListed = apps.some(({ app_id }) => app_id === filter.app);
  const known = filter.app && !isListed ? [{ app_id: filter.app, name: filter.app }] : [];
  return (
    <form
      class="card padded log-filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBadStatus && !areBadDates) onChange(typed);
      }}
    >
      <div class="field-row">
        <Field label={text.app}>
          {(props) => (
            <select
              {...props}
              value={typed.app}
              onChange={(event) => choose({ app: event.currentTarget.value, user: "" })}
            >
              <option value="">{text.allApps}</option>
              {[...apps, ...known].map(({ app_id, name }) => (
                <option key={app_id} value={app_id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={text.state}>
          {(props) => (
            <select
              {...props}
              value={typed.state}
              onChange={(event) => choose({ state: event.currentTarget.value as LogFilter["state"] })}
            >
              <option value="">{text.allStates}</option>
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
              value={typed.delivery}
              onChange={(event) => choose({ delivery: event.currentTarget.value as LogFilter["delivery"] })}
            >
              <option value="">{text.allDeliveries}</option>
              {DELIVERIES.map((delivery) => (
                <option key={delivery} value={delivery}>
                  {DELIVERY_NAMES[delivery]}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <details open={isOpen} class="further">
        <summary>{text.more}</summary>
        <div class="field-row">
          <Field label={text.from}>{dateInput("from")}</Field>
          <Field label={text.to} error={areBadDates ? text.badDates : null}>
            {dateInput("to")}
          </Field>
          <Field label={text.status} error={isBadStatus ? text.badStatus : null}>
            {input("status", "numeric")}
          </Field>
          <Field label={text.transaction}>{input("transaction")}</Field>
          {!isAnalyst && (
            <Field label={text.user} hint={typed.app === "" && typed.user ? text.userNeedsApp : undefined}>
              {input("user")}
            </Field>
          )}
        </div>
        <button type="submit" class="button" aria-disabled={isBadStatus || areBadDates}>
          {text.search}
        </button>
      </details>
      {isFiltered && (
        <button type="button" class="button" onClick={() => onChange(NO_FILTER)}>
          {text.clear}
        </button>
      )}
    </form>
  );
}

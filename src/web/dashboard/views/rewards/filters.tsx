// The filters of the log as a form.

import { useState } from "preact/hooks";
import { Input, Select } from "../../../shared/components/field";
import { Form, SubmitButton } from "../../../shared/components/form";
import { filter as filterText, replay } from "../../../shared/messages/rewards";
import { isStatus } from "../../../shared/rewards/filter";
import { ClearButton, StateAndDelivery, useTypedFilter } from "../../../shared/rewards/filters";
import { unique } from "../../../shared/unique";
import { reports } from "../../messages";
import { rewards as text } from "../../messages/rewards";
import { daysOf, presetRange } from "../reports/periods";
import { type LogFilter, NO_FILTER, STATES } from "./filter";

// In a log the newest matters, so none of them leaves today out.
const PERIODS = ["today", "yesterday", "this_week", "last_week", "this_month", "last_month"] as const;

/** Dates that were typed. */
const OTHER = "other";

const datesOf = (period: (typeof PERIODS)[number]) => {
  const { start_date: from, end_date: to } = presetRange(period, daysOf(undefined));
  return { from, to };
};

/** The period that has the dates of a filter. */
const periodOf = ({ from, to }: LogFilter) =>
  PERIODS.find((period) => datesOf(period).from === from && datesOf(period).to === to) ?? "";

interface Props {
  filter: LogFilter;
  apps: { app_id: string; name: string }[];
  isAnalyst: boolean;
  onChange: (filter: LogFilter) => void;
}

export function Filters({ filter, apps, isAnalyst, onChange }: Props) {
  const [typed, setTyped] = useTypedFilter(filter);
  const isBadStatus = !isStatus(typed.status);
  const areBadDates = typed.from !== "" && typed.to !== "" && typed.to < typed.from;
  const isFiltered = JSON.stringify(filter) !== JSON.stringify(NO_FILTER);
  // Open from the start where one of them is in force; afterwards as the person leaves it.
  const period = periodOf(typed);
  const hasDates = typed.from !== "" || typed.to !== "";
  const [isOpen] = useState(
    [!period && (filter.from || filter.to), filter.status, filter.transaction, filter.user].some(Boolean),
  );
  const choose = (change: Partial<LogFilter>) => {
    const next = { ...typed, ...change };
    setTyped(next);
    onChange(next);
  };
  const typedText = (name: "from" | "to" | "status" | "transaction" | "user") => ({
    value: typed[name],
    onChange: (value: string) => setTyped({ ...typed, [name]: value.trim() }),
  });
  const names = new Map(apps.map(({ app_id, name }) => [app_id, name]));
  return (
    <Form class="card padded log-filters" onSubmit={() => !isBadStatus && !areBadDates && onChange(typed)}>
      <div class="field-row">
        <Select
          label={text.app}
          value={typed.app}
          // An app that has no reward yet may still be the one that is asked for.
          options={unique([...names.keys(), filter.app])}
          nameOf={(app) => names.get(app) ?? app}
          any={text.allApps}
          onChange={(app) => choose({ app })}
        />
        <StateAndDelivery filter={typed} states={STATES} choose={choose} />
        <Select
          label={text.period}
          value={period || (hasDates ? OTHER : "")}
          options={hasDates && !period ? [...PERIODS, OTHER] : PERIODS}
          nameOf={(preset) => (preset === OTHER ? text.otherDates : reports.presets[preset])}
          any={text.anyTime}
          onChange={(preset) => preset !== OTHER && choose(preset ? datesOf(preset) : { from: "", to: "" })}
        />
      </div>
      <details open={isOpen} class="further">
        <summary>{text.more}</summary>
        <div class="field-row">
          <Input label={text.from} type="date" {...typedText("from")} />
          <Input label={text.to} error={areBadDates ? replay.badDates : null} type="date" {...typedText("to")} />
          <Input
            label={filterText.status}
            error={isBadStatus ? text.badStatus : null}
            inputMode="numeric"
            spellcheck={false}
            {...typedText("status")}
          />
          <Input label={filterText.transaction} spellcheck={false} {...typedText("transaction")} />
          {!isAnalyst && <Input label={filterText.user} spellcheck={false} {...typedText("user")} />}
        </div>
        <SubmitButton class="button" isDisabled={isBadStatus || areBadDates}>
          {text.search}
        </SubmitButton>
      </details>
      {isFiltered && <ClearButton onClick={() => onChange(NO_FILTER)} />}
    </Form>
  );
}

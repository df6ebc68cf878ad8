// The filters of the log as a form.

import { useState } from "preact/hooks";
import { DateRangePicker } from "../../../shared/components/date-range";
import { Input, Select } from "../../../shared/components/field";
import { Form, SubmitButton } from "../../../shared/components/form";
import { filter as filterText, replay } from "../../../shared/messages/rewards";
import { isStatus } from "../../../shared/rewards/filter";
import { ClearButton, StateAndDelivery, useTypedFilter } from "../../../shared/rewards/filters";
import { unique } from "../../../shared/unique";
import { rewards as text } from "../../messages/rewards";
import { type LogFilter, NO_FILTER, STATES } from "./filter";

interface Props {
  filter: LogFilter;
  apps: { app_id: string; name: string; test: boolean }[];
  isAnalyst: boolean;
  onChange: (filter: LogFilter) => void;
}

export function Filters({ filter, apps, isAnalyst, onChange }: Props) {
  const [typed, setTyped] = useTypedFilter(filter);
  const isBadStatus = !isStatus(typed.status);
  const isFiltered = JSON.stringify(filter) !== JSON.stringify(NO_FILTER);
  // Open at first if one of these filters is in force. After that, the person opens and closes it.
  const [isOpen] = useState([filter.status, filter.transaction, filter.user].some(Boolean));
  // The log leaves out test apps, unless it looks for a transaction or a user.
  const hasTests = apps.some(({ test }) => test);
  const choose = (change: Partial<LogFilter>) => {
    const next = { ...typed, ...change };
    setTyped(next);
    onChange(next);
  };
  const typedText = (name: "status" | "transaction" | "user") => ({
    value: typed[name],
    onChange: (value: string) => setTyped({ ...typed, [name]: value.trim() }),
  });
  return (
    <Form class="card padded log-filters" onSubmit={() => !isBadStatus && onChange(typed)}>
      <div class="field-row">
        <Select
          label={text.app}
          value={typed.app}
          // The filter may name an app that has no reward yet.
          options={unique([...apps.map(({ app_id }) => app_id), filter.app])}
          nameOf={(id) => apps.find(({ app_id }) => app_id === id)?.name ?? id}
          any={hasTests && !filter.transaction && !filter.user ? text.allButTests : text.allApps}
          onChange={(app) => choose({ app })}
        />
        <StateAndDelivery filter={typed} states={STATES} choose={choose} />
        <DateRangePicker
          label={replay.period}
          range={{ start_date: typed.from, end_date: typed.to }}
          onChange={({ start_date: from, end_date: to }) => choose({ from, to })}
        />
      </div>
      <details open={isOpen} class="further">
        <summary>{text.more}</summary>
        <div class="field-row">
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
      </details>
      <SubmitButton class="button" isDisabled={isBadStatus}>
        {text.search}
      </SubmitButton>
      {isFiltered && <ClearButton onClick={() => onChange(NO_FILTER)} />}
    </Form>
  );
}

// The filters of an app's rewards as a form.

import { useState } from "preact/hooks";
import { Input } from "../../../shared/components/field";
import { Form, SubmitButton } from "../../../shared/components/form";
import { filter as filterText } from "../../../shared/messages/rewards";
import { ClearButton, StateAndDelivery, useTypedFilter } from "../../../shared/rewards/filters";
import { isAppId } from "../../ids";
import { AppField } from "../../components/app-field";
import { rewards as text } from "../../messages/rewards";
import { isFiltered, NO_FILTER, type RewardsFilter, STATES } from "./filter";

interface Props {
  filter: RewardsFilter;
  onChange: (filter: RewardsFilter) => void;
}

export function Filters({ filter, onChange }: Props) {
  const [typed, setTyped] = useTypedFilter(filter);
  const [isBad, setBad] = useState(false);
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
  const typedText = (name: "reason" | "user") => ({
    value: typed[name],
    onChange: (value: string) => setTyped({ ...typed, [name]: value }),
  });
  return (
    <Form
      class="card padded log-filters"
      onSubmit={() => apply({ ...typed, reason: typed.reason.trim(), user: typed.user.trim() })}
    >
      <div class="field-row">
        <AppField
          value={typed.app}
          error={isBad && !isAppId(typed.app) ? text.badApp : null}
          onChange={(app) => setTyped({ ...typed, app })}
        />
        <StateAndDelivery filter={typed} states={STATES} choose={choose} />
        <Input label={text.reason} hint={text.reasonHint} spellcheck={false} {...typedText("reason")} />
        <Input label={filterText.user} spellcheck={false} {...typedText("user")} />
      </div>
      <div class="row">
        <SubmitButton>{text.show}</SubmitButton>
        {isFiltered(filter) && <ClearButton onClick={() => onChange({ ...NO_FILTER, app: filter.app })} />}
      </div>
    </Form>
  );
}

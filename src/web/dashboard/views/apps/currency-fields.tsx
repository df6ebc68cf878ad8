// An app's currency as fields, with an example that follows what is typed.

import { Field } from "../../../shared/components/field";
import type { FieldErrors } from "../../../shared/field-errors";
import { appForm, ROUNDING_NAMES } from "../../messages/apps";
import type { Currency, Rounding } from "../../types";
import { convert, isRate, MOST_DECIMALS } from "./currency";

const text = appForm.general;

const LONGEST_CURRENCY = 50;
const ROUNDINGS: Rounding[] = ["down", "up", "nearest"];
// A usual payout, and one whose reward shows how amounts are rounded.
const PAYOUTS = ["1.25", "0.037"];

export interface CurrencyDraft {
  name: string;
  per_usd: string;
  decimals: number;
  rounding: Rounding;
}

export const currencyDraft = ({ name, per_usd, decimals = 0, rounding = "down" }: Currency): CurrencyDraft => ({
  name,
  per_usd: String(per_usd),
  decimals,
  rounding,
});

export const currencyOf = (draft: CurrencyDraft): Currency => ({
  ...draft,
  name: draft.name.trim(),
  per_usd: Number(draft.per_usd),
});

interface Props {
  value: CurrencyDraft;
  errors: FieldErrors;
  onChange: (value: CurrencyDraft) => void;
}

export function CurrencyFields({ value, errors, onChange }: Props) {
  const isBadRate = value.per_usd !== "" && !isRate(value.per_usd);
  return (
    <>
      <div class="field-row">
        <Field label={text.currencyName} hint={text.currencyHint} error={errors.of("currency.name")}>
          {(props) => (
            <input
              {...props}
              type="text"
              required
              maxLength={LONGEST_CURRENCY}
              autocomplete="off"
              value={value.name}
              onInput={(event) => onChange({ ...value, name: event.currentTarget.value })}
            />
          )}
        </Field>
        <Field
          label={text.perUsd}
          hint={text.perUsdHint}
          error={isBadRate ? text.badRate : errors.of("currency.per_usd")}
        >
          {(props) => (
            <input
              {...props}
              type="text"
              inputMode="decimal"
              required
              autocomplete="off"
              value={value.per_usd}
              onInput={(event) => onChange({ ...value, per_usd: event.currentTarget.value })}
            />
          )}
        </Field>
        <Field label={text.decimals} error={errors.of("currency.decimals")}>
          {(props) => (
            <select
              {...props}
              value={String(value.decimals)}
              onChange={(event) => onChange({ ...value, decimals: Number(event.currentTarget.value) })}
            >
              {Array.from({ length: MOST_DECIMALS + 1 }, (_, decimals) => (
                <option key={decimals} value={String(decimals)}>
                  {decimals}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={text.rounding} error={errors.of("currency.rounding")}>
          {(props) => (
            <select
              {...props}
              value={value.rounding}
              onChange={(event) => onChange({ ...value, rounding: event.currentTarget.value as Rounding })}
            >
              {ROUNDINGS.map((rounding) => (
                <option key={rounding} value={rounding}>
                  {ROUNDING_NAMES[rounding]}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Example currency={value} />
    </>
  );
}

function Example({ currency }: { currency: CurrencyDraft }) {
  const examples = isRate(currency.per_usd)
    ? PAYOUTS.map((payout) => ({ payout, value: convert(payout, currency)! }))
    : [];
  return (
    <div class="example" role="status" aria-label={text.exampleTitle}>
      {examples.length === 0 && <p>{text.noExample}</p>}
      {examples.map(({ payout, value }) => (
        <p key={payout}>{text.example(payout, value, currency.name.trim() || text.currencyName)}</p>
      ))}
      {examples.some(({ value }) => value === "0") && <p class="failed-text">{text.exampleNothing}</p>}
    </div>
  );
}

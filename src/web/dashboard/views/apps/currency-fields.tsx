// An app's currency as fields, with an example that follows what is typed.

import { amount } from "../../../shared/format";
import { Input, Select } from "../../../shared/components/field";
import type { FieldErrors } from "../../../shared/field-errors";
import { appForm, ROUNDING_NAMES } from "../../messages/apps";
import type { NewCurrency, Rounding } from "../../types";
import { convert, isRate, MAX_DECIMALS } from "./currency";

const text = appForm.general;

const MAX_CURRENCY = 50;
const ROUNDINGS: Rounding[] = ["down", "up", "nearest"];
const DECIMALS = Array.from({ length: MAX_DECIMALS + 1 }, (_, decimals) => String(decimals));
// A usual payout, and one whose reward shows how amounts are rounded.
const PAYOUTS = ["1.25", "0.037"];

export interface CurrencyDraft {
  name: string;
  per_usd: string;
  decimals: number;
  rounding: Rounding;
}

export const currencyDraft = ({ name, per_usd, decimals = 0, rounding = "down" }: NewCurrency): CurrencyDraft => ({
  name,
  per_usd: String(per_usd),
  decimals,
  rounding,
});

export const currencyOf = (draft: CurrencyDraft): NewCurrency => ({
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
        <Input
          label={text.currencyName}
          hint={text.currencyHint}
          error={errors.of("currency.name")}
          required
          maxLength={MAX_CURRENCY}
          value={value.name}
          onChange={(name) => onChange({ ...value, name })}
        />
        <Input
          label={text.perUsd}
          hint={text.perUsdHint}
          error={isBadRate ? text.badRate : errors.of("currency.per_usd")}
          inputMode="decimal"
          required
          value={value.per_usd}
          onChange={(per_usd) => onChange({ ...value, per_usd })}
        />
        <Select
          label={text.decimals}
          error={errors.of("currency.decimals")}
          value={String(value.decimals)}
          options={DECIMALS}
          nameOf={String}
          onChange={(decimals) => onChange({ ...value, decimals: Number(decimals) })}
        />
        <Select
          label={text.rounding}
          error={errors.of("currency.rounding")}
          value={value.rounding}
          options={ROUNDINGS}
          nameOf={(rounding) => ROUNDING_NAMES[rounding]}
          onChange={(rounding) => onChange({ ...value, rounding })}
        />
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
        <p key={payout}>{text.example(payout, amount(value), currency.name.trim() || text.currencyName)}</p>
      ))}
      {examples.some(({ value }) => value === "0") && <p class="failed-text">{text.exampleNothing}</p>}
    </div>
  );
}

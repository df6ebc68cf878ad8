// An app's name and currency. The platform is fixed when the app is set up.

import { Input } from "../../../shared/components/field";
import { MAX_NAME } from "../../../shared/limits";
import { PLATFORM_NAMES } from "../../../shared/messages/apps";
import { appForm, apps, ROUNDING_NAMES } from "../../messages/apps";
import type { Rounding } from "../../types";
import { isRate } from "./currency";
import { CurrencyFields, currencyDraft, currencyOf } from "./currency-fields";
import { Card, PartForm, type PartProps, useDraft } from "./part";

const text = appForm.general;

export function General({ app, reload }: PartProps) {
  const saved = { name: app.name, currency: currencyDraft(app.currency) };
  const draft = useDraft({
    app,
    saved,
    fields: ["name", "currency"],
    names: {
      name: apps.name,
      "currency.name": text.currencyName,
      "currency.per_usd": text.perUsd,
      "currency.decimals": text.decimals,
      "currency.rounding": text.rounding,
    },
    writes: {
      "currency.per_usd": (rate) => (isRate(rate) ? String(Number(rate)) : rate),
      "currency.rounding": (rounding) => ROUNDING_NAMES[rounding as Rounding],
    },
    // Changes of a currency have a lower rate, so an unchanged one is not sent.
    change: ({ name, currency }) => ({
      ...(name !== saved.name && { name: name.trim() }),
      ...(JSON.stringify(currency) !== JSON.stringify(saved.currency) && { currency: currencyOf(currency) }),
    }),
  });
  const { values, errors } = draft;
  return (
    <Card title={text.title}>
      <PartForm draft={draft} reload={reload} isWrong={!isRate(values.currency.per_usd)}>
        <div class="field-row">
          <Input
            label={apps.name}
            error={errors.of("name")}
            required
            maxLength={MAX_NAME}
            value={values.name}
            onChange={(name) => draft.set({ ...values, name })}
          />
          <dl class="fixed-field">
            <dt>{apps.platform}</dt>
            <dd>{PLATFORM_NAMES[app.platform]}</dd>
          </dl>
        </div>
        <CurrencyFields
          value={values.currency}
          errors={errors}
          onChange={(currency) => draft.set({ ...values, currency })}
        />
        <p class="note">{text.frozen}</p>
      </PartForm>
    </Card>
  );
}

// An app's name and currency. The platform is fixed when the app is set up.

import { Field } from "../../../shared/components/field";
import { LONGEST_NAME } from "../../../shared/limits";
import { apps, appForm, PLATFORM_NAMES } from "../../messages/apps";
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
    // A currency may be changed less often than a name.
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
          <Field label={apps.name} error={errors.of("name")}>
            {(props) => (
              <input
                {...props}
                type="text"
                required
                maxLength={LONGEST_NAME}
                autocomplete="off"
                value={values.name}
                onInput={(event) => draft.set({ ...values, name: event.currentTarget.value })}
              />
            )}
          </Field>
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

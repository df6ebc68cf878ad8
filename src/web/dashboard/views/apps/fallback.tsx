// Where users are sent who cannot have an offer any more.

import { Field } from "../../../shared/components/field";
import { appForm } from "../../messages/apps";
import { Card, PartForm, type PartProps, useDraft } from "./part";

const text = appForm.fallback;

export function Fallback({ app, reload }: PartProps) {
  const draft = useDraft({
    app,
    saved: app.fallback_url ?? "",
    fields: ["fallback_url"],
    change: (url) => ({ fallback_url: url.trim() || null }),
  });
  return (
    <Card title={text.title} intro={text.intro}>
      <PartForm draft={draft} reload={reload}>
        <Field label={text.url} hint={text.hint} error={draft.errors.of("fallback_url")}>
          {(props) => (
            <input
              {...props}
              type="text"
              inputMode="url"
              autocomplete="off"
              spellcheck={false}
              value={draft.values}
              onInput={(event) => draft.set(event.currentTarget.value)}
            />
          )}
        </Field>
      </PartForm>
    </Card>
  );
}

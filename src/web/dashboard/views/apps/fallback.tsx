// The URL to which users are sent if they can no longer have an offer.

import { Input } from "../../../shared/components/field";
import { appForm } from "../../messages/apps";
import { AskForHost } from "./ask-to-allow";
import { Card, PartForm, type PartProps, useDraft } from "./part";

const text = appForm.fallback;

export function Fallback({ app, reload }: PartProps) {
  const draft = useDraft({
    app,
    saved: app.fallback_url ?? "",
    fields: ["fallback_url"],
    names: { "": text.url },
    change: (url) => ({ fallback_url: url.trim() || null }),
  });
  return (
    <Card title={text.title} intro={text.intro}>
      <PartForm draft={draft} reload={reload}>
        <Input
          label={text.url}
          hint={text.hint}
          error={draft.errors.of("fallback_url")}
          inputMode="url"
          spellcheck={false}
          value={draft.values}
          onChange={draft.set}
        />
        <AskForHost app={app} url={draft.values} problem={draft.errors.of("fallback_url")} />
      </PartForm>
    </Card>
  );
}

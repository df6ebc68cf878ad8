// Offers that the app's users do not see, one id a line.

import { Field } from "../../../shared/components/field";
import { appForm } from "../../messages/apps";
import { offersPath } from "../../router";
import { Card, PartForm, type PartProps, useDraft } from "./part";

const text = appForm.blocked;

const MOST_OFFERS = 1000;
const LEAST_ROWS = 4;
const MOST_ROWS = 12;

const idsOf = (lines: string) => [
  ...new Set(
    lines
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean),
  ),
];

export function Blocked({ app, reload }: PartProps) {
  const draft = useDraft({
    app,
    saved: app.blocked_offers.join("\n"),
    fields: ["blocked_offers"],
    change: (lines) => ({ blocked_offers: idsOf(lines) }),
  });
  const ids = idsOf(draft.values);
  const isTooMany = ids.length > MOST_OFFERS;
  return (
    <Card title={text.title} intro={text.intro}>
      <PartForm
        draft={draft}
        reload={reload}
        isWrong={isTooMany}
        buttons={
          <a class="row-link" href={offersPath(app.app_id)}>
            {text.see}
          </a>
        }
      >
        <Field
          label={text.list}
          hint={text.hint(ids.length, MOST_OFFERS)}
          error={isTooMany ? text.tooMany(ids.length, MOST_OFFERS) : draft.errors.of("blocked_offers")}
        >
          {(props) => (
            <textarea
              {...props}
              class="mono"
              rows={Math.min(MOST_ROWS, Math.max(LEAST_ROWS, draft.values.split("\n").length))}
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

// Offers that the app's users do not see, one id per line.

import { Area } from "../../../shared/components/field";
import { unique } from "../../../shared/unique";
import { appForm } from "../../messages/apps";
import { offersPath } from "../../router";
import { Card, PartForm, type PartProps, useDraft } from "./part";

const text = appForm.blocked;

const MAX_OFFERS = 1000;
const LEAST_ROWS = 4;
const MAX_ROWS = 12;

const idsOf = (lines: string) => unique(lines.split("\n").map((line) => line.trim()));

export function Blocked({ app, reload }: PartProps) {
  const draft = useDraft({
    app,
    saved: app.blocked_offers.join("\n"),
    fields: ["blocked_offers"],
    names: { "": text.list },
    change: (lines) => ({ blocked_offers: idsOf(lines) }),
  });
  const ids = idsOf(draft.values);
  const isTooMany = ids.length > MAX_OFFERS;
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
        <Area
          label={text.list}
          hint={text.hint(ids.length, MAX_OFFERS)}
          error={isTooMany ? text.tooMany(ids.length, MAX_OFFERS) : draft.errors.of("blocked_offers")}
          class="mono"
          spellcheck={false}
          rows={Math.min(MAX_ROWS, Math.max(LEAST_ROWS, draft.values.split("\n").length))}
          value={draft.values}
          onChange={draft.set}
        />
      </PartForm>
    </Card>
  );
}

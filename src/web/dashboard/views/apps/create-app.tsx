// Sets up an app: its name, platform and currency. The App-Id comes with the answer.

import { useState } from "preact/hooks";
import { useAction, useIdempotencyKey } from "../../../shared/action";
import { ApiError } from "../../../shared/client";
import { api } from "../../api";
import { refresh } from "../../../shared/cache";
import { Dialog } from "../../../shared/components/dialog";
import { Choices, Field } from "../../../shared/components/field";
import { FormError } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { fieldErrors } from "../../../shared/field-errors";
import { LONGEST_NAME } from "../../../shared/limits";
import { common } from "../../messages";
import { apps as text, PLATFORM_NAMES } from "../../messages/apps";
import { withVerification } from "../../../shared/passkeys";
import { navigate } from "../../../shared/navigation";
import { appPath } from "../../router";
import type { Platform } from "../../types";
import { isRate } from "./currency";
import { CurrencyFields, type CurrencyDraft, currencyOf } from "./currency-fields";
import { APPS_KEY } from "./keys";

const PLATFORMS: Platform[] = ["ios", "android", "web"];

export function CreateApp({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [platform, setPlatform] = useState<Platform>("ios");
  const [currency, setCurrency] = useState<CurrencyDraft>({
    name: "Coins",
    per_usd: "100",
    decimals: 0,
    rounding: "down",
  });
  const key = useIdempotencyKey();
  const action = useAction(async () => {
    const wanted = { name: name.trim(), platform, currency: currencyOf(currency) };
    const app = await withVerification(() => api.createApp(wanted, key(wanted)));
    say(text.created(app.name, app.app_id));
    void refresh(APPS_KEY);
    onClose();
    navigate(appPath(app.app_id));
  });
  const errors = fieldErrors(action.error, ["name", "platform", "currency"]);
  return (
    <Dialog title={text.add} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isRate(currency.per_usd)) void action.run();
        }}
      >
        <Field label={text.name} hint={text.nameHint} error={errors.of("name")}>
          {(props) => (
            <input
              {...props}
              type="text"
              required
              maxLength={LONGEST_NAME}
              autocomplete="off"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Choices
          kind="radio"
          name={text.platform}
          choices={PLATFORMS.map((value) => ({ value, label: PLATFORM_NAMES[value], hint: text.platforms[value] }))}
          chosen={[platform]}
          error={errors.of("platform")}
          onChange={([chosen]) => setPlatform(chosen!)}
        />
        <p class="note">{text.platformHint}</p>
        <CurrencyFields value={currency} errors={errors} onChange={setCurrency} />
        {createError(errors.rest) ? (
          <p class="form-error" role="alert">
            {createError(errors.rest)}
          </p>
        ) : (
          <FormError error={errors.rest} />
        )}
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={onClose}>
            {common.cancel}
          </button>
          <button type="submit" class="button primary" aria-disabled={action.isRunning}>
            {text.create}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function createError(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null;
  if (error.code === "too_many_apps") return text.tooMany;
  return error.code === "publisher_not_approved" ? text.notApproved : null;
}

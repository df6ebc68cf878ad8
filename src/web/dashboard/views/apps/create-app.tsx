// Sets up an app: its name, platform and currency. The App-Id comes with the answer.

import { useState } from "preact/hooks";
import { useIdempotencyKey } from "../../../shared/action";
import { api } from "../../api";
import { refresh } from "../../../shared/cache";
import { Choices } from "../../../shared/components/choices";
import { Input } from "../../../shared/components/field";
import { FormDialog } from "../../../shared/components/form-dialog";
import { say } from "../../../shared/components/status";
import { fieldErrors } from "../../../shared/field-errors";
import { MAX_NAME } from "../../../shared/limits";
import { apps as text } from "../../messages/apps";
import { PLATFORM_NAMES, PLATFORMS } from "../../../shared/messages/apps";
import { withVerification } from "../../../shared/passkeys";
import { navigate } from "../../../shared/navigation";
import { appPath } from "../../router";
import type { Platform } from "../../types";
import { isRate } from "./currency";
import { CurrencyFields, type CurrencyDraft, currencyOf } from "./currency-fields";
import { APPS_KEY } from "./keys";

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
  const create = async () => {
    if (!isRate(currency.per_usd)) return;
    const wanted = { name: name.trim(), platform, currency: currencyOf(currency) };
    const app = await withVerification(() => api.createApp(wanted, key(wanted)));
    say(text.created(app.name, app.app_id));
    void refresh(APPS_KEY);
    onClose();
    navigate(appPath(app.app_id));
  };
  return (
    <FormDialog
      title={text.add}
      button={text.create}
      onSubmit={create}
      onClose={onClose}
      errorsOf={(error) => fieldErrors(error, ["name", "platform", "currency"])}
      words={{ too_many_apps: text.tooMany, publisher_not_approved: text.notApproved }}
    >
      {(errors) => (
        <>
          <Input
            label={text.name}
            hint={text.nameHint}
            error={errors.of("name")}
            required
            maxLength={MAX_NAME}
            value={name}
            onChange={setName}
          />
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
          <p class="note">{text.signHint}</p>
        </>
      )}
    </FormDialog>
  );
}

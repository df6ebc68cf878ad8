// Sets up an app with a name, a platform and a currency, or a test app with only a name. The answer has the App-Id.

import { useState } from "preact/hooks";
import { useIdempotencyKey } from "../../../shared/action";
import { post } from "../../api";
import { refresh } from "../../../shared/cache";
import { Choices } from "../../../shared/components/choices";
import { FormDialog, TextField } from "../../../shared/components/form-dialog";
import { say } from "../../../shared/components/status";
import { fieldErrors } from "../../../shared/field-errors";
import { MAX_NAME } from "../../../shared/limits";
import { apps as text } from "../../messages/apps";
import { PLATFORM_NAMES, PLATFORMS } from "../../../shared/messages/apps";
import { navigate } from "../../../shared/navigation";
import { appPath } from "../../router";
import type { NewOwnApp, Platform } from "../../types";
import { isRate } from "./currency";
import { CurrencyFields, type CurrencyDraft, currencyOf } from "./currency-fields";
import { APPS_KEY } from "./keys";

const WORDS = {
  too_many_apps: text.tooMany,
  too_many_test_apps: text.tooManyTests,
  publisher_not_approved: text.notApproved,
};

const TEST_APP: Omit<NewOwnApp, "name"> = {
  platform: "web",
  currency: { name: "Coins", per_usd: 1000, decimals: 0, rounding: "down" },
  test: true,
};

/** Sends the form, and goes on to the page of the new app. */
export function CreateApp({ isTest, onClose }: { isTest: boolean; onClose: () => void }) {
  const [name, setName] = useState(isTest ? text.testName : "");
  const [platform, setPlatform] = useState<Platform>("ios");
  const [currency, setCurrency] = useState<CurrencyDraft>({
    name: "Coins",
    per_usd: "100",
    decimals: 0,
    rounding: "down",
  });
  const key = useIdempotencyKey();
  const create = async () => {
    if (!isTest && !isRate(currency.per_usd)) return;
    const wanted = { ...(isTest ? TEST_APP : { platform, currency: currencyOf(currency) }), name: name.trim() };
    const app = await post("/apps", {}, wanted, { "Idempotency-Key": key(wanted) });
    say(text.created(app.name, app.app_id));
    void refresh(APPS_KEY);
    onClose();
    navigate(appPath(app.app_id));
  };
  return (
    <FormDialog
      title={isTest ? text.addTest : text.add}
      button={isTest ? text.createTest : text.create}
      onSubmit={create}
      onClose={onClose}
      errorsOf={(error) => fieldErrors(error, isTest ? ["name"] : ["name", "platform", "currency"])}
      words={WORDS}
    >
      {(errors) => (
        <>
          {isTest && <p>{text.aboutTest}</p>}
          <TextField
            label={text.name}
            hint={text.nameHint}
            error={errors.of("name")}
            longest={MAX_NAME}
            value={name}
            onChange={setName}
          />
          {!isTest && (
            <>
              <Choices
                kind="radio"
                name={text.platform}
                choices={PLATFORMS.map((value) => ({
                  value,
                  label: PLATFORM_NAMES[value],
                  hint: text.platforms[value],
                }))}
                chosen={[platform]}
                error={errors.of("platform")}
                onChange={([chosen]) => setPlatform(chosen!)}
              />
              <p class="note">{text.platformHint}</p>
              <CurrencyFields value={currency} errors={errors} onChange={setCurrency} />
              <p class="note">{text.signHint}</p>
            </>
          )}
        </>
      )}
    </FormDialog>
  );
}

// The Pub-Key: shown when asked for, and copied. A new one comes from the account manager.

import { useState } from "preact/hooks";
import { useAction } from "../../action";
import { api } from "../../api";
import { CopyField } from "../../components/copy-button";
import { Empty, FormError } from "../../components/states";
import { settings } from "../../messages";
import { withVerification } from "../../passkeys";
import type { PubKey as Answer } from "../../types";
import { Page } from "./page";

const text = settings.pubKey;

export function PubKey() {
  // Not in the cache: the key is gone from the page's memory when the view closes.
  const [answer, setAnswer] = useState<Answer | null>(null);
  const load = useAction(async () => setAnswer(await withVerification(api.pubKey)));
  return (
    <Page section="pub_key" note={text.intro}>
      <div class="card padded">
        {answer === null ? (
          <>
            <FormError error={load.error} />
            <div class="row">
              <button
                type="button"
                class="button primary"
                aria-disabled={load.isRunning}
                onClick={() => void load.run()}
              >
                {text.show}
              </button>
              <p class="note">{settings.confirm}</p>
            </div>
          </>
        ) : answer.pub_key === null ? (
          <Empty title={text.name}>{text.missing}</Empty>
        ) : (
          <>
            <CopyField label={text.name} value={answer.pub_key} />
            <div class="row">
              <button type="button" class="button" onClick={() => setAnswer(null)}>
                {text.hide}
              </button>
            </div>
          </>
        )}
      </div>
    </Page>
  );
}

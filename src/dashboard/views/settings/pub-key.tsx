// The Pub-Key: shown when asked for, copied, and a new one requested from the account manager.

import { useState } from "preact/hooks";
import { useAction } from "../../action";
import { api } from "../../api";
import { CopyField } from "../../components/copy-button";
import { Dialog } from "../../components/dialog";
import { Empty, FormError } from "../../components/states";
import { say } from "../../components/status";
import { common, settings } from "../../messages";
import { withVerification } from "../../passkeys";
import type { PubKey as Answer } from "../../types";
import { Page } from "./page";

const text = settings.pubKey;

export function PubKey() {
  // Not in the cache: the key is gone from the page's memory when the view closes.
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [isAsking, setAsking] = useState(false);
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
              {!answer.request && (
                <button type="button" class="button" onClick={() => setAsking(true)}>
                  {text.ask}
                </button>
              )}
            </div>
            {answer.request && <p class="note">{text.asked(answer.request.by, answer.request.asked_at)}</p>}
          </>
        )}
      </div>
      {isAsking && (
        <AskForNew
          onClose={() => setAsking(false)}
          onSent={() => {
            setAsking(false);
            say(text.sent);
            void load.run();
          }}
        />
      )}
    </Page>
  );
}

const LONGEST_REASON = 500;

function AskForNew({ onClose, onSent }: { onClose: () => void; onSent: () => void }) {
  const [reason, setReason] = useState("");
  const action = useAction(async () => {
    await withVerification(() => api.requestPubKey(reason.trim()));
    onSent();
  });
  return (
    <Dialog title={text.askTitle} onClose={onClose}>
      <p>{text.askText}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void action.run();
        }}
      >
        <label class="field">
          <span>{text.reason}</span>
          <textarea
            required
            rows={3}
            maxLength={LONGEST_REASON}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <small>{text.reasonHint}</small>
        </label>
        <FormError error={action.error} />
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={onClose}>
            {common.cancel}
          </button>
          <button type="submit" class="button primary" aria-disabled={action.isRunning}>
            {text.send}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

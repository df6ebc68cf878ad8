// The Pub-Key: a member can show it, copy it, and request a new one, which the account manager makes.

import { useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { get, post } from "../../api";
import { useCached } from "../../../shared/cache";
import { Button, PrimaryRun } from "../../../shared/components/button";
import { CopyField } from "../../../shared/components/copy-button";
import { FormDialog, TextField } from "../../../shared/components/form-dialog";
import { focusHeading } from "../../../shared/components/heading";
import { Empty, Failed, FormError, Stale } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { settings } from "../../../shared/messages/settings";
import { pubKey as text } from "../../messages/settings";
import type { PubKeyIfAny } from "../../types";
import { Page } from "../../../shared/account/page";

export function PubKey() {
  // Not in the cache, so that the key leaves the page's memory when the view closes.
  const [answer, setAnswer] = useState<PubKeyIfAny | null>(null);
  const [isAsking, setAsking] = useState(false);
  const requested = useCached("pub_key_request", () => get("/pub_key/request", {}));
  const load = useAction(async () => setAnswer(await get("/pub_key", {})));
  const request = requested.data?.request;
  const canAsk = requested.data !== undefined && !request && answer?.pub_key !== null;
  return (
    <Page section="pub_key" note={text.intro}>
      <div class="card padded">
        {answer === null ? (
          <>
            <FormError error={load.error} />
            <div class="row">
              <PrimaryRun of={load}>{text.show}</PrimaryRun>
              <p class="note">{settings.confirm}</p>
            </div>
          </>
        ) : answer.pub_key === null ? (
          <Empty title={text.missingTitle}>{text.missing}</Empty>
        ) : (
          <>
            <CopyField label={text.name} value={answer.pub_key} />
            <div class="row">
              <Button onClick={() => setAnswer(null)}>{text.hide}</Button>
            </div>
          </>
        )}
      </div>
      <Stale of={requested} retry={requested.reload} />
      {request ? (
        <div class="note">
          <p>{text.asked(request.requested_by, request.requested_at)}</p>
          <p>{text.askedReason(request.reason)}</p>
        </div>
      ) : canAsk ? (
        <Button onClick={() => setAsking(true)}>{text.ask}</Button>
      ) : (
        requested.error && !requested.data && <Failed error={requested.error} retry={requested.reload} compact />
      )}
      {isAsking && (
        <AskForNew
          onClose={() => setAsking(false)}
          onSent={async () => {
            setAsking(false);
            say(text.sent);
            await requested.reload();
            focusHeading();
          }}
        />
      )}
    </Page>
  );
}

const MAX_REASON = 256;

function AskForNew({ onClose, onSent }: { onClose: () => void; onSent: () => Promise<void> }) {
  const [reason, setReason] = useState("");
  return (
    <FormDialog
      title={text.askTitle}
      button={text.send}
      onSubmit={async () => {
        await post("/pub_key/request", {}, { reason: reason.trim() });
        await onSent();
      }}
      onClose={onClose}
    >
      <p>{text.askText}</p>
      <TextField label={text.reason} hint={text.reasonHint} longest={MAX_REASON} value={reason} onChange={setReason} />
    </FormDialog>
  );
}

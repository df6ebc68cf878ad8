// Signed clicks: whether the app's clicks need a signature, and the secrets that they are signed with.

import { useState } from "preact/hooks";
import { api } from "../../api";
import { confirmed } from "../../../shared/change";
import { Button, DangerButton } from "../../../shared/components/button";
import { appForm } from "../../messages/apps";
import { Confirm, SecretDialog } from "../../../shared/components/form-dialog";
import { withVerification } from "../../../shared/passkeys";
import { Card, type PartProps } from "./part";

const text = appForm.clicks;

type Open = "sign" | "renew" | "end" | "stop" | { secret: string } | null;

export function Clicks({ app, reload }: PartProps) {
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const make = async () => {
    const { secret } = await withVerification(() => api.renewClickSecret(app.app_id));
    setOpen({ secret });
    void reload();
  };
  const end = (call: () => Promise<void>, said: string) => confirmed(call, said, close, reload);
  return (
    <Card title={text.title} intro={text.intro}>
      <p>
        {app.signs_clicks ? text.signed : text.unsigned} {app.has_previous_click_secret && text.both}
      </p>
      <div class="row part-buttons">
        {app.signs_clicks ? (
          <>
            <Button onClick={() => setOpen("renew")}>{text.renew}</Button>
            {app.has_previous_click_secret && (
              <Button onClick={() => setOpen("end")}>{appForm.callback.endFormer}</Button>
            )}
            <DangerButton onClick={() => setOpen("stop")}>{text.stop}</DangerButton>
          </>
        ) : (
          <Button onClick={() => setOpen("sign")}>{text.sign}</Button>
        )}
      </div>
      {open === "sign" && (
        <Confirm title={text.signTitle} text={text.signText} button={text.sign} onConfirm={make} onClose={close} />
      )}
      {open === "renew" && (
        <Confirm title={text.renewTitle} text={text.renewText} button={text.make} onConfirm={make} onClose={close} />
      )}
      {open === "end" && (
        <Confirm
          title={text.endFormerTitle}
          text={text.endFormerText}
          button={appForm.callback.endFormer}
          dangerous
          onConfirm={end(() => api.endPreviousClickSecret(app.app_id), appForm.callback.formerEnded)}
          onClose={close}
        />
      )}
      {open === "stop" && (
        <Confirm
          title={text.stopTitle}
          text={text.stopText}
          button={text.stop}
          dangerous
          onConfirm={end(() => api.stopSigningClicks(app.app_id), text.stopped)}
          onClose={close}
        />
      )}
      {open !== null && typeof open === "object" && (
        <SecretDialog title={text.madeTitle} text={text.made} label={text.secret} value={open.secret} onClose={close} />
      )}
    </Card>
  );
}

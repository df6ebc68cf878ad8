// Signed clicks: whether the app's clicks need a signature, and the secrets that they are signed with.

import { useState } from "preact/hooks";
import { post, remove } from "../../api";
import { confirmed } from "../../../shared/change";
import { Button, DangerButton } from "../../../shared/components/button";
import { appForm } from "../../messages/apps";
import { SecretDialog, useQuestion } from "../../../shared/components/form-dialog";
import { Card, type PartProps } from "./part";

const text = appForm.clicks;

export function Clicks({ app, reload }: PartProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const { app_id } = app;
  const make = async (close: () => void) => {
    setSecret((await post("/apps/{app_id}/click_secret", { app_id })).secret);
    close();
    void reload();
  };
  const questions = {
    sign: { title: text.signTitle, text: text.signText, button: text.sign, onConfirm: make },
    renew: { title: text.renewTitle, text: text.renewText, button: text.make, onConfirm: make },
    end: {
      title: text.endFormerTitle,
      text: text.endFormerText,
      button: appForm.callback.endFormer,
      dangerous: true,
      onConfirm: confirmed(
        () => remove("/apps/{app_id}/previous_click_secret", { app_id }),
        appForm.callback.formerEnded,
        reload,
      ),
    },
    stop: {
      title: text.stopTitle,
      text: text.stopText,
      button: text.stop,
      dangerous: true,
      onConfirm: confirmed(() => remove("/apps/{app_id}/click_secret", { app_id }), text.stopped, reload),
    },
  };
  const [ask, question] = useQuestion((name: keyof typeof questions) => questions[name]);
  return (
    <Card title={text.title} intro={text.intro}>
      <p>
        {app.signs_clicks ? text.signed : text.unsigned} {app.has_previous_click_secret && text.both}
      </p>
      <div class="row part-buttons">
        {app.signs_clicks ? (
          <>
            <Button onClick={() => ask("renew")}>{text.renew}</Button>
            {app.has_previous_click_secret && <Button onClick={() => ask("end")}>{appForm.callback.endFormer}</Button>}
            <DangerButton onClick={() => ask("stop")}>{text.stop}</DangerButton>
          </>
        ) : (
          <Button onClick={() => ask("sign")}>{text.sign}</Button>
        )}
      </div>
      {question}
      {secret !== null && (
        <SecretDialog
          title={text.madeTitle}
          text={text.made}
          label={text.secret}
          value={secret}
          onClose={() => setSecret(null)}
        />
      )}
    </Card>
  );
}

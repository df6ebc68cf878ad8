// The terms that apply to an app's earlier clicks.

import { put } from "../../../shared/cache";
import { confirmed } from "../../../shared/change";
import type { Tagged } from "../../../shared/client";
import { DangerButton } from "../../../shared/components/button";
import { useQuestion } from "../../../shared/components/form-dialog";
import { Card } from "../../../shared/components/part";
import type { KeptApp } from "../../../shared/generated/openapi";
import { document, terms as text } from "../../messages/apps";
import { may, nowSeconds } from "../../session";
import { appKey } from "../cache-keys";
import { changeApp } from "./app-document";

export function Terms({ app, reload }: { app: Tagged<KeptApp>; reload: () => Promise<unknown> }) {
  const rate = document.currencyText(app.currency);
  const pay = async () => put(appKey(app.app_id), await changeApp(app, { terms_since: nowSeconds() }));
  const [ask, question] = useQuestion(() => ({
    title: text.payTitle,
    text: text.payText(rate),
    button: text.payIt,
    dangerous: true,
    onConfirm: confirmed(pay, text.done),
    reload,
  }));
  return (
    <Card title={text.title} intro={text.intro}>
      <p>{app.terms_since ? text.since(app.terms_since) : text.none}</p>
      <p>{text.now(rate)}</p>
      {may("manage") && (
        <div class="row part-buttons">
          <DangerButton onClick={ask}>{text.pay}</DangerButton>
        </div>
      )}
      {question}
    </Card>
  );
}

// What to send to whoever runs Signpost, where only they can allow a port or a host.

import { LinkButton } from "../../../shared/components/button";
import { CopyField } from "../../../shared/components/copy-button";
import { common } from "../../messages";
import { appForm } from "../../messages/apps";
import { session } from "../../session";
import type { App } from "../../types";

const text = appForm.ask;

const parsed = (url: string) => (URL.canParse(url.trim()) ? new URL(url.trim()) : null);

/** Below a callback URL that was refused: nothing where its port is not the reason. */
export function AskForPort({ app, url }: { app: App; url: string }) {
  const port = parsed(url)?.port;
  return port ? <Ask words={text.port(app.name, app.app_id, port, url.trim())} /> : null;
}

/** Below a fallback URL that was refused for its host. */
export function AskForHost({ app, url }: { app: App; url: string }) {
  const wanted = parsed(url);
  const isOwn = wanted?.host === parsed(app.fallback_url ?? "")?.host;
  return wanted && !isOwn ? <Ask words={text.host(app.name, app.app_id, wanted.hostname)} /> : null;
}

function Ask({ words }: { words: string }) {
  const contact = session.value?.support_contact;
  return (
    <div class="ask">
      <CopyField label={text.label} value={words} />
      {contact && <LinkButton href={contact}>{common.contact}</LinkButton>}
    </div>
  );
}

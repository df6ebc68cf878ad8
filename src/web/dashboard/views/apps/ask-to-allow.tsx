// The text that asks an account manager to allow a port or a host.

import { LinkButton } from "../../../shared/components/button";
import { CopyField } from "../../../shared/components/copy-button";
import { common } from "../../messages";
import { appForm } from "../../messages/apps";
import { session } from "../../session";
import type { App } from "../../types";

const text = appForm.ask;

const parsed = (url: string) => (URL.canParse(url.trim()) ? new URL(url.trim()) : null);

/** Shown below a callback URL that was refused for its port. */
export function AskForPort({ app, url, problem }: { app: App; url: string; problem: string | null }) {
  const wanted = problem?.includes("port 443") && parsed(url);
  return wanted ? <Ask words={text.port(app.name, app.app_id, wanted.port || "80", wanted.hostname)} /> : null;
}

/** Shown below a fallback URL that was refused because its host is new. */
export function AskForHost({ app, url, problem }: { app: App; url: string; problem: string | null }) {
  const wanted = problem?.includes("is new for this app") && parsed(url);
  return wanted ? <Ask words={text.host(app.name, app.app_id, wanted.hostname)} /> : null;
}

function Ask({ words }: { words: string }) {
  const contact = session.value?.support_contact;
  return (
    <div class="ask">
      <CopyField isSecret={false} label={text.label} value={words} />
      {contact && <LinkButton href={contact}>{common.contact}</LinkButton>}
    </div>
  );
}

// An app's document in readable form. Secrets stay hidden.

import type { Tagged } from "../../../shared/client";
import { type Fact, FactList } from "../../../shared/components/facts";
import { Card } from "../../../shared/components/part";
import { PLATFORM_NAMES } from "../../../shared/messages/apps";
import type { Callback, App as Document, KeptApp } from "../../../shared/generated/openapi";
import { putTagged } from "../../api";
import { decisions, document as text } from "../../messages/apps";
import { publisherPath } from "../../router";
import { may } from "../../session";

export function AppDocument({ app }: { app: KeptApp }) {
  const { callback } = app;
  const rows: Fact[] = [
    [text.publisher, <a href={publisherPath(app.publisher_id)}>{app.publisher_id}</a>],
    [text.platform, PLATFORM_NAMES[app.platform]],
    [text.currency, text.currencyText(app.currency)],
    [text.callback, callback ? <Url method={callback.method} url={callback.url} /> : text.noCallback],
    [text.events, callback && (callback.events?.join(", ") ?? text.defaultEvents)],
    [text.secrets, callback && secretsText(callback)],
    [text.fallback, app.fallback_url ? <Url url={app.fallback_url} /> : text.noFallback],
    [text.signing, !app.click_secret ? text.unsigned : app.previous_click_secret ? text.signedByTwo : text.signed],
    // A role that may change the decisions has them in the form below.
    ...(may("manage") ? [] : decisionRows(app)),
    [text.shards, String(app.outbox_shards ?? DEFAULT_SHARDS)],
    [text.terms, text.termsText(app.terms_revision)],
  ];
  return (
    <Card title={text.title}>
      <FactList class="named" facts={rows} />
    </Card>
  );
}

const decisionRows = (app: KeptApp): Fact[] => [
  [decisions.names.max_rewards_per_user_day, String(app.max_rewards_per_user_day ?? decisions.noLimit)],
  [decisions.names.blocked_offers, listText(app.blocked_offers)],
  [decisions.names.fallback_hosts, listText(app.fallback_hosts)],
  [decisions.names.callback_ports, listText(app.callback_ports)],
];

const DEFAULT_SHARDS = 8;
const MAX_SHOWN = 10;

/** A publisher's URL is shown as text, because opening a link would call the receiver. */
const Url = ({ method, url }: { method?: string; url: string }) => (
  <>
    {method} <code class="long">{url}</code>
  </>
);

const secretsText = ({ previous_secret: previous, legacy_md5: legacy }: Callback) =>
  [previous ? text.twoSecrets : text.secret, legacy && text.legacy].filter(Boolean).join(", ");

/** The first values, and the number of the others. */
export function listText(values: (string | number)[] | undefined): string {
  if (!values || values.length === 0) return decisions.none;
  const shown = values.slice(0, MAX_SHOWN).join(", ");
  const more = values.length - MAX_SHOWN;
  return more > 0 ? decisions.andMore(shown, more) : shown;
}

/** Refused with 412 if the app has changed since it was read, because its publisher can also change it. */
export function changeApp(seen: Tagged<KeptApp>, change: Partial<Document>) {
  const { app_id, terms_revision: _, ...document } = seen;
  return putTagged("/apps/{app_id}", { app_id }, { ...document, ...change }, seen);
}

// Makes a tracking URL for one user, signed if the app signs its clicks. Opening it makes a click that counts,
// unless the app is a test app.

import { useEffect, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { Form, SubmitButton } from "../../../shared/components/form";
import { post } from "../../api";
import { CopyField } from "../../../shared/components/copy-button";
import { Input } from "../../../shared/components/field";
import { FormError } from "../../../shared/components/states";
import { inWords } from "../../../shared/error-text";
import { fieldErrors } from "../../../shared/field-errors";
import { offers } from "../../messages/offers";
import type { App, TrackingUrl } from "../../types";
import { Card } from "./part";

const text = offers.builder;

const FURTHER = ["c1", "c2", "c3", "c4", "c5", "gaid", "idfa", "placement"] as const;
type Further = (typeof FURTHER)[number];

// The alphabet of a click's parameters.
const isValue = (value: string) => /^[A-Za-z0-9_@.-]*$/.test(value);
const MAX_USER_ID = 128;
const MAX_LENGTH = 256;

export function TrackingUrlBuilder({ app, offerId }: { app: App; offerId: string }) {
  const [offer, setOffer] = useState(offerId);
  const [user, setUser] = useState("");
  const [further, setFurther] = useState<Partial<Record<Further, string>>>({});
  const [url, setUrl] = useState<TrackingUrl | null>(null);
  useEffect(() => {
    if (offerId) setOffer(offerId);
  }, [offerId]);
  // A URL belongs to the values that it was made from, so typing removes it.
  useEffect(() => setUrl(null), [offer, user, JSON.stringify(further)]);
  const isWrong = ![user, ...Object.values(further)].every(isValue);
  const make = useAction(async () => {
    const given = Object.fromEntries(Object.entries(further).filter(([, value]) => value));
    const wanted = { offer_id: offer.trim(), user_id: user, ...given };
    setUrl(await post("/apps/{app_id}/tracking_url", { app_id: app.app_id }, wanted));
  });
  const errors = fieldErrors(make.error, ["offer_id", "user_id", ...FURTHER]);
  return (
    <div id="tracking-url">
      <Card title={text.title} intro={app.test ? text.countsNowhere : text.counts}>
        <Form onSubmit={() => !isWrong && void make.run()}>
          <div class="field-row">
            <Input
              label={text.offer}
              error={errors.of("offer_id")}
              required
              spellcheck={false}
              value={offer}
              onChange={setOffer}
            />
            <Input
              data-first
              label={text.user}
              hint={text.userHint}
              error={isValue(user) ? errors.of("user_id") : text.badValue}
              required
              maxLength={MAX_USER_ID}
              spellcheck={false}
              value={user}
              onChange={setUser}
            />
          </div>
          <details class="further">
            <summary>{text.more}</summary>
            <p class="note">{text.moreHint}</p>
            <div class="field-row">
              {FURTHER.map((name) => (
                <Input
                  key={name}
                  label={name}
                  error={isValue(further[name] ?? "") ? errors.of(name) : text.badValue}
                  maxLength={MAX_LENGTH}
                  spellcheck={false}
                  value={further[name] ?? ""}
                  onChange={(value) => setFurther({ ...further, [name]: value })}
                />
              ))}
            </div>
          </details>
          <p class="note">{app.signs_clicks ? text.signed : text.unsigned}</p>
          <FormError error={inWords(errors.rest, { offer_not_listed: text.notListed }, null)} />
          <div class="row part-buttons">
            <SubmitButton isDisabled={isWrong || make.isRunning}>{text.make}</SubmitButton>
          </div>
        </Form>
        <p class="visually-hidden" role="status">
          {url && text.made}
        </p>
        {url && (
          <div class="test-result">
            <CopyField isSecret={false} label={text.url} value={url.url} />
            {url.expires_at !== null && <p class="note">{text.ends(url.expires_at)}</p>}
            <a class="button" href={url.url} target="_blank" rel="noreferrer noopener">
              {text.open}
            </a>
          </div>
        )}
      </Card>
    </div>
  );
}

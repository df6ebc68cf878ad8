// The offers that this app's users see, by country and device; and tracking URLs to try an offer with.

import { useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { api } from "../../api";
import { useCached } from "../../../shared/cache";
import { Field } from "../../../shared/components/field";
import { Empty, Failed, FormError, Stale } from "../../../shared/components/states";
import { type Column, Table, TableSkeleton } from "../../../shared/components/table";
import { countryName, money, percent, smallMoney } from "../../../shared/format";
import { PLATFORM_NAMES } from "../../messages/apps";
import { offers as text } from "../../messages/offers";
import { session } from "../../session";
import type { Amount, App, AppOffer, OfferPage, OfferQuery, Platform } from "../../types";
import { COUNTRIES } from "../../../shared/countries";
import { AppFrame } from "./frame";
import { appKey } from "./keys";
import { TrackingUrlBuilder } from "./tracking-url";

export function Offers({ appId }: { appId: string }) {
  const app = useCached(appKey(appId), () => api.app(appId));
  return (
    <AppFrame appId={appId} app={app} current="offers">
      {app.data && <List app={app.data} />}
    </AppFrame>
  );
}

function List({ app }: { app: App }) {
  const [country, setCountry] = useState("");
  // A web app is used on any device.
  const [platform, setPlatform] = useState<Platform | "">(app.platform === "web" ? "" : app.platform);
  const query: OfferQuery = { ...(country && { country }), ...(platform && { platform }) };
  const key = `offers ${app.app_id} ${JSON.stringify(query)}`;
  return (
    <>
      <div class="card padded offer-filters">
        <p class="note">{text.intro}</p>
        <div class="field-row">
          <Field label={text.country}>
            {(props) => (
              <select {...props} value={country} onChange={(event) => setCountry(event.currentTarget.value)}>
                <option value="">{text.anyCountry}</option>
                {COUNTRIES.map((code) => (
                  <option key={code} value={code}>
                    {countryName(code)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label={text.platform}>
            {(props) => (
              <select
                {...props}
                value={platform}
                onChange={(event) => setPlatform(event.currentTarget.value as Platform | "")}
              >
                <option value="">{text.anyPlatform}</option>
                {(["ios", "android", "web"] as const).map((name) => (
                  <option key={name} value={name}>
                    {PLATFORM_NAMES[name]}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
      </div>
      <Pages key={key} cacheKey={key} app={app} query={query} />
    </>
  );
}

interface PagesProps {
  cacheKey: string;
  app: App;
  query: OfferQuery;
}

function Pages({ cacheKey, app, query }: PagesProps) {
  // A question by POST names the account, which is known once the session is.
  const first = useCached(session.value ? cacheKey : null, () => api.offers(app.app_id, query));
  const [kept, setKept] = useState<OfferPage | null>(null);
  const [chosen, setChosen] = useState("");
  const page = kept ?? first.data;
  const more = useAction(async () => {
    const next = await api.offers(app.app_id, { ...query, cursor: page!.cursor! });
    setKept({ ...next, offers: [...page!.offers, ...next.offers] });
  });
  const build = (offerId: string) => {
    setChosen(offerId);
    const builder = document.getElementById("tracking-url");
    builder?.scrollIntoView({ block: "start" });
    builder?.querySelector<HTMLElement>("[data-first]")?.focus();
  };
  return (
    <>
      <Stale of={first} retry={first.reload} />
      {!page ? (
        first.error ? (
          <Failed error={first.error} retry={first.reload} />
        ) : (
          <div class="card">
            <TableSkeleton rows={6} />
          </div>
        )
      ) : page.offers.length === 0 ? (
        <Empty title={text.noneTitle}>{text.none}</Empty>
      ) : (
        <>
          <div class="card table-card">
            <Table stacks name={text.tableName} columns={columns(build)} rows={page.offers} rowKey={({ id }) => id} />
          </div>
          <FormError error={more.error} />
          <div class="row">
            {page.cursor && (
              <button type="button" class="button" aria-disabled={more.isRunning} onClick={() => void more.run()}>
                {text.more}
              </button>
            )}
            <p class="note">{text.shown(page.offers.length, page.total, page.built_at)}</p>
          </div>
        </>
      )}
      {page && <TrackingUrlBuilder app={app} offerId={chosen} />}
    </>
  );
}

const amount = ({ amt, cur }: Amount) => `${amt} ${cur}`;

const columns = (build: (offerId: string) => void): Column<AppOffer>[] => [
  {
    key: "offer",
    header: text.offer,
    cell: ({ id, name, gls: goals }) => (
      <div class="offer">
        {name}
        <span class="cell-second">{id}</span>
        <details>
          <summary>{text.goalCount(goals.length)}</summary>
          <ul class="goals">
            {goals.map((goal) => (
              <li key={goal.id}>
                {goal.ttl}
                <span class="cell-second">
                  {amount(goal.inapp_pyt)}, {smallMoney(goal.pyt.amt)}
                </span>
              </li>
            ))}
          </ul>
        </details>
      </div>
    ),
  },
  { key: "value", header: text.value, isNumber: true, cell: ({ inapp_pyt: value }) => amount(value) },
  { key: "payout", header: text.payout, isNumber: true, cell: ({ pyt }) => money(pyt.amt) },
  {
    key: "left",
    header: text.left,
    cell: ({ click_cap: clicks, conversion_cap: conversions }) =>
      !clicks && !conversions ? (
        <span class="note">{text.noCap}</span>
      ) : (
        <span class="lines">
          {clicks && <span>{text.clicksLeft(clicks.lim)}</span>}
          {conversions && <span>{text.conversionsLeft(conversions.lim)}</span>}
        </span>
      ),
  },
  {
    key: "figures",
    header: text.figures,
    cell: ({ metrics: [metrics] = [] }) =>
      metrics ? (
        <span class="lines">
          <span>{text.rate(percent(metrics.cr))}</span>
          <span>{text.perClick(smallMoney(metrics.epc))}</span>
        </span>
      ) : (
        <span class="note">{text.noClicks}</span>
      ),
  },
  {
    key: "build",
    header: text.build,
    isHeaderHidden: true,
    isNumber: true,
    cell: ({ id, name }) => (
      <button type="button" class="button small" aria-label={text.buildOf(name)} onClick={() => build(id)}>
        {text.build}
      </button>
    ),
  },
];

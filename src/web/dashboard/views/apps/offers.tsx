// The offers that this app's users see, by country and device; and tracking URLs to try an offer with.

import { useState } from "preact/hooks";
import { get, post } from "../../api";
import { useCached } from "../../../shared/cache";
import { Select } from "../../../shared/components/field";
import { LoadedTable } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { buttonColumn } from "../../../shared/components/row-button";
import { Empty } from "../../../shared/components/states";
import { type Column, column, numberColumn } from "../../../shared/components/table";
import { amount, countryName, money, percent, exactMoney, smallMoney } from "../../../shared/format";
import { offers as text } from "../../messages/offers";
import { session } from "../../session";
import type { Amount, App, ListedOffer, AppOffers, AppOffersQuery, Platform } from "../../types";
import { COUNTRIES } from "../../../shared/countries";
import { PLATFORM_NAMES, PLATFORMS } from "../../../shared/messages/apps";
import { usePages } from "../../../shared/use-pages";
import { PLAIN_TEST_OFFER } from "../../../shared/test-apps";
import { AppFrame } from "./frame";
import { appKey } from "./keys";
import { TrackingUrlBuilder } from "./tracking-url";

export function Offers({ appId }: { appId: string }) {
  const app = useCached(appKey(appId), () => get("/apps/{app_id}", { app_id: appId }));
  // If a refresh fails, the app that was loaded before is good enough.
  const error = app.data ? undefined : app.error;
  return (
    <AppFrame appId={appId} app={{ ...app, error }} current="offers">
      {(known) => <List app={known} />}
    </AppFrame>
  );
}

function List({ app }: { app: App }) {
  const [country, setCountry] = useState("");
  // A web app is used on any device.
  const [platform, setPlatform] = useState<Platform | "">(app.platform === "web" ? "" : app.platform);
  const query: AppOffersQuery = { ...(country && { country }), ...(platform && { platform }) };
  const key = `offers ${app.app_id} ${JSON.stringify(query)}`;
  return (
    <>
      <div class="card padded offer-filters">
        <p class="note">{text.intro}</p>
        <div class="field-row">
          <Select
            label={text.country}
            value={country}
            options={COUNTRIES}
            nameOf={countryName}
            any={text.anyCountry}
            onChange={setCountry}
          />
          <Select
            label={text.platform}
            value={platform}
            options={PLATFORMS}
            nameOf={(name) => PLATFORM_NAMES[name]}
            any={text.anyPlatform}
            onChange={setPlatform}
          />
        </div>
      </div>
      <Pages key={key} cacheKey={key} app={app} query={query} />
    </>
  );
}

function Pages({ cacheKey, app, query }: { cacheKey: string; app: App; query: AppOffersQuery }) {
  // A POST must name the account, so it waits for the session.
  const pages = usePages<ListedOffer, Pick<AppOffers, "total" | "built_at">>(
    session.value ? cacheKey : null,
    async (cursor) => {
      const asked = { ...query, ...(cursor && { cursor }) };
      const { offers, ...page } = await post("/apps/{app_id}/offers", { app_id: app.app_id }, asked);
      return { ...page, rows: offers };
    },
  );
  const { data } = pages.first;
  const { rows } = pages;
  const [chosen, setChosen] = useState("");
  const build = (offerId: string) => {
    setChosen(offerId);
    const builder = document.getElementById("tracking-url");
    builder?.scrollIntoView({ block: "start" });
    builder?.querySelector<HTMLElement>("[data-first]")?.focus();
  };
  return (
    <>
      <LoadedTable
        of={pages.list}
        lines={6}
        empty={<Empty title={text.noneTitle}>{text.none}</Empty>}
        name={text.tableName}
        columns={columns(build)}
        rowKey="id"
      >
        <div class="row">
          <More of={pages} label={text.more} />
          {rows && data && <p class="note">{text.shown(rows.length, data.total, data.built_at)}</p>}
        </div>
      </LoadedTable>
      {rows && <TrackingUrlBuilder app={app} offerId={chosen || (app.test ? PLAIN_TEST_OFFER : (rows[0]?.id ?? ""))} />}
    </>
  );
}

const inCurrency = ({ amt, cur }: Amount) => `${amount(amt)} ${cur}`;

const columns = (build: (offerId: string) => void): Column<ListedOffer>[] => [
  column("offer", text.offer, ({ id, name, gls: goals }) => (
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
                {inCurrency(goal.inapp_pyt)}, {exactMoney(goal.pyt.amt)}
              </span>
            </li>
          ))}
        </ul>
      </details>
    </div>
  )),
  numberColumn("value", text.value, ({ inapp_pyt: value }) => inCurrency(value)),
  numberColumn("payout", text.payout, ({ pyt }) => money(pyt.amt)),
  column("left", text.left, ({ click_cap: clicks, conversion_cap: conversions }) =>
    !clicks && !conversions ? (
      <span class="note">{text.noCap}</span>
    ) : (
      <span class="lines">
        {clicks && <span>{text.clicksLeft(clicks.lim)}</span>}
        {conversions && <span>{text.conversionsLeft(conversions.lim)}</span>}
      </span>
    ),
  ),
  column<ListedOffer>("figures", text.figures, ({ metrics: [metrics] = [] }) =>
    metrics ? (
      <span class="lines">
        <span>{text.rate(percent(metrics.cr))}</span>
        <span>{text.perClick(smallMoney(metrics.epc))}</span>
      </span>
    ) : (
      <span class="note">{text.noClicks}</span>
    ),
  ),
  buttonColumn({ name: text.build, labelOf: ({ name }) => text.buildOf(name), onClick: ({ id }) => build(id) }),
];

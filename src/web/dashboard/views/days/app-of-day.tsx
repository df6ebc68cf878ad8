// An app's day: the revenue by demand source, and the offerwall's revenue by offer, next to the rewards behind it.

import { useCached } from "../../../shared/cache";
import { Loaded } from "../../../shared/components/loaded";
import { Name } from "../../../shared/components/name";
import { NotFound } from "../../../shared/components/not-found";
import { Section } from "../../../shared/components/section";
import { PartFailed } from "../../../shared/components/states";
import { type Column, column, numberColumn, Table, TableSkeleton } from "../../../shared/components/table";
import { count, money, moneyOf } from "../../../shared/format";
import { get, reports } from "../../api";
import { common } from "../../messages";
import { days as text } from "../../messages/days";
import { dayPath, REPORTS_PATH } from "../../router";
import { type OfferOfDay, isRefusal, type Query, type ReportRow, type Totals } from "../../types";
import { micros, sum } from "./sums";

interface Props {
  date: string;
  app: string;
}

export const useOffersOfDay = ({ date, app }: Props) =>
  useCached(`day ${date} ${app}`, async () => (await get("/apps/{app_id}/days/{date}", { app_id: app, date })).offers);

const query = ({ date, app }: Props): Query => ({
  date_range: { start_date: date, end_date: date },
  dimensions: ["demand_source"],
  metrics: ["revenue", "clicks"],
  filters: [{ dimension: "app", values: [app] }],
  order_by: [{ column: "revenue", ascending: false }],
  pagination: { page: 1, count: 1000 },
  totals: true,
});

export function AppOfDay(of: Props) {
  const sources = useCached(`sources ${of.date} ${of.app}`, async () => (await reports([query(of)])).results[0]!);
  const offers = useOffersOfDay(of);
  return (
    <>
      <Section title={text.sourcesTitle} class="card table-card">
        <Loaded of={sources} loading={<TableSkeleton rows={2} />} isCompact>
          {(result) =>
            isRefusal(result) ? (
              <PartFailed part={result} retry={sources.reload} />
            ) : result.rows.length === 0 ? (
              <p class="note card-foot">{text.none}</p>
            ) : (
              <Table
                name={text.sourcesTitle}
                columns={sourceColumns(result.totals ?? {})}
                rows={result.rows}
                rowKey={({ demand_source: source }) => source ?? ""}
                hasTotals
              />
            )
          }
        </Loaded>
      </Section>
      <Section title={text.offersTitle} class="card table-card">
        <Loaded
          of={offers}
          loading={<TableSkeleton rows={4} />}
          missing={<NotFound title={text.unknownApp} back={{ name: common.reports, path: REPORTS_PATH }} />}
          isCompact
        >
          {(rows) =>
            rows.length === 0 ? (
              <p class="note card-foot">{text.noOffers}</p>
            ) : (
              <Table
                name={text.offersTitle}
                columns={offerColumns(of, rows)}
                rows={rows}
                rowKey="offer_id"
                hasTotals={rows.length > 1}
              />
            )
          }
        </Loaded>
        <p class="note table-note">{text.offersNote}</p>
      </Section>
    </>
  );
}

const sourceColumns = (totals: Totals): Column<ReportRow>[] => [
  column("source", text.source, ({ demand_source: source }) => <Name>{source ?? ""}</Name>, { total: text.total }),
  numberColumn("clicks", text.clicks, ({ clicks }) => count(clicks ?? 0), { total: count(totals.clicks ?? 0) }),
  numberColumn("revenue", text.revenue, ({ revenue }) => moneyOf(micros(revenue)), {
    total: moneyOf(micros(totals.revenue)),
  }),
];

function offerColumns({ date, app }: Props, rows: OfferOfDay[]): Column<OfferOfDay>[] {
  const hasReasons = rows.some(({ reason }) => reason);
  const counted = (key: "rewards" | "reversals") =>
    numberColumn<OfferOfDay>(key, text[key], (row) => count(row[key]), {
      total: count(sum(rows, (row) => row[key])),
    });
  const amounts = (key: "revenue" | "paid") =>
    numberColumn<OfferOfDay>(key, text[key], (row) => money(row[key]), {
      total: moneyOf(sum(rows, (row) => micros(row[key]))),
    });
  return [
    column("offer", text.offer, ({ offer_id: offer }) => <a href={dayPath(date, app, offer)}>{offer}</a>, {
      total: text.total,
    }),
    amounts("revenue"),
    amounts("paid"),
    counted("rewards"),
    counted("reversals"),
    ...(hasReasons
      ? [column("reason", text.difference, ({ reason }: OfferOfDay) => reason && text.reasons[reason])]
      : []),
  ];
}

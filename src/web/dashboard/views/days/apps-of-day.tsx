// The revenue of a day by app, from the offerwall and from ads.

import { useCached } from "../../../shared/cache";
import { Loaded } from "../../../shared/components/loaded";
import { Name } from "../../../shared/components/name";
import { Section } from "../../../shared/components/section";
import { Empty, PartFailed } from "../../../shared/components/states";
import { CardSkeleton, type Column, column, numberColumn, Table } from "../../../shared/components/table";
import { moneyOf } from "../../../shared/format";
import { reports } from "../../api";
import { labelOf } from "../../labels";
import { days as text } from "../../messages/days";
import { OWN_DEMAND_SOURCE } from "../../report-facts";
import { dayPath } from "../../router";
import { isRefusal, type Query, type ReportResult } from "../../types";
import { micros, sum } from "./sums";

interface AppRevenue {
  app: string;
  /** In micro-USD. */
  offerwall: number;
  ads: number;
}

// Maximum rows in an answer of the API.
const MOST = 1000;

const query = (date: string): Query => ({
  date_range: { start_date: date, end_date: date },
  dimensions: ["app", "demand_source"],
  metrics: ["revenue"],
  order_by: [{ column: "revenue", ascending: false }],
  pagination: { page: 1, count: MOST },
  totals: true,
});

function byApp({ rows }: ReportResult): AppRevenue[] {
  const apps = new Map<string, AppRevenue>();
  for (const row of rows) {
    const app = row.app_id ?? "";
    const sums = apps.get(app) ?? { app, offerwall: 0, ads: 0 };
    sums[row.demand_source === OWN_DEMAND_SOURCE ? "offerwall" : "ads"] += micros(row.revenue);
    apps.set(app, sums);
  }
  return [...apps.values()].sort((one, other) => other.offerwall + other.ads - one.offerwall - one.ads);
}

export function AppsOfDay({ date }: { date: string }) {
  const answer = useCached(`day ${date}`, async () => (await reports([query(date)])).results[0]!);
  return (
    <Loaded of={answer} loading={<CardSkeleton rows={5} />}>
      {(result) =>
        isRefusal(result) ? (
          <PartFailed part={result} retry={answer.reload} />
        ) : result.rows.length === 0 ? (
          <Empty title={text.none} />
        ) : (
          <Section title={text.appsTitle} class="card table-card">
            <Table name={text.appsTitle} columns={columns(date, result)} rows={byApp(result)} rowKey="app" hasTotals />
            {result.total_count > MOST && <p class="note table-note">{text.someRows}</p>}
          </Section>
        )
      }
    </Loaded>
  );
}

function columns(date: string, result: ReportResult): Column<AppRevenue>[] {
  // If the answer lacks rows, only the total of the revenue is known.
  const rows = result.total_count > MOST ? null : byApp(result);
  const amounts = (key: "offerwall" | "ads") =>
    numberColumn<AppRevenue>(key, text[key], (row) => moneyOf(row[key]), {
      total: rows && moneyOf(sum(rows, (row) => row[key])),
    });
  return [
    column(
      "app",
      text.app,
      ({ app }) => (
        <>
          <a href={dayPath(date, app)}>
            <Name>{labelOf("app", app)}</Name>
          </a>{" "}
          <span class="cell-id">{app}</span>
        </>
      ),
      { total: text.total },
    ),
    amounts("offerwall"),
    amounts("ads"),
    numberColumn("revenue", text.revenue, ({ offerwall, ads }) => moneyOf(offerwall + ads), {
      total: moneyOf(micros(result.totals?.revenue)),
    }),
  ];
}

// Types of the dashboard's calls.

import type { Schemas } from "../shared/api-types";

export * from "../shared/types";

export type Query = Schemas["BatchQuery"];
export type DateRange = Query["date_range"];
/** The API also takes numbers in filters; the pages send only strings. */
export type Filter = Omit<NonNullable<Query["filters"]>[number], "values"> & { values: string[] };
export type Order = NonNullable<Query["order_by"]>[number];
export type ReportResult = Schemas["ResultMade"];
export type ReportBatch = Schemas["BatchMade"];
export type ChangeCause = Schemas["DayChange"]["cause"];
export type Measure = keyof Schemas["DayChange"]["before"];

export type App = Schemas["OwnApp"];
export type CallbackPreview = Schemas["CallbackPreviewed"];
export type CallbackTest = Schemas["CallbackTested"];

/** An analyst's row has only some of the fields that other roles see. */
export type RewardRow = Schemas["AnalystRow"] & Partial<Schemas["RewardRow"]>;
export type RewardPage = Omit<Schemas["RewardPage"], "rows"> & { rows: RewardRow[] };
export type RewardQuery = Schemas["RewardList"];
export type Firsts = Schemas["Activity"]["first"];

export type Amount = Schemas["Usd"] | Schemas["InApp"];

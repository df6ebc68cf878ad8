// Names for the values of dimensions. The names of apps come from the answers to earlier calls.

import { signal } from "@preact/signals";
import { countryName, dateWithWeekday } from "../shared/format";
import { type Dimension, isRefusal, type ReportBatch, type ReportRow, type Suggestion } from "./types";

const appNames = signal<ReadonlyMap<string, string>>(new Map());

function add(names: [string, string][]) {
  if (names.every(([id, name]) => appNames.peek().get(id) === name)) return;
  appNames.value = new Map([...appNames.peek(), ...names]);
}

export function rememberNames(batch: ReportBatch): ReportBatch {
  add(
    batch.results.flatMap((result) =>
      isRefusal(result)
        ? []
        : result.rows.flatMap((row): [string, string][] => (row.app_id && row.app ? [[row.app_id, row.app.name]] : [])),
    ),
  );
  return batch;
}

export function rememberSuggestions(dimension: Dimension, suggestions: Suggestion[]) {
  if (dimension !== "app") return;
  add(suggestions.flatMap(({ value, label }): [string, string][] => (label ? [[value, label]] : [])));
}

export function labelOf(dimension: Dimension, value: string): string {
  if (dimension === "app") return appNames.value.get(value) || value;
  if (dimension === "country") return countryName(value);
  return dimension === "date" ? dateWithWeekday(value) : value;
}

/** The row's value of a dimension, as filters and keys use it. */
export const cellValueOf = (dimension: Dimension, row: ReportRow): string =>
  (dimension === "app" ? row.app_id : row[dimension]) ?? "";

// The key numbers. Impressions and eCPM leave out the offerwall, whose clicks have no impressions.

import { ComparedTile, type TileProps } from "../../components/tile";
import { change, count, money, smallMoney } from "../../../shared/format";
import { overview as text } from "../../messages";
import { isRefusal, type Refusal, type Totals, type TotalsPart } from "../../types";
import type { Figures } from "./figures";

type Amount = (totals: Totals) => number | null;

const perClick: Amount = ({ revenue = 0, clicks }) => (clicks ? revenue / clicks : null);

function tile(
  label: string,
  amount: Amount,
  write: (value: number) => string,
  now: TotalsPart | Refusal,
  before: TotalsPart | Refusal,
  note: string,
): TileProps {
  if (isRefusal(now)) return { label, note, value: null, ratio: null, state: "failed" };
  const value = amount(now.totals);
  const old = isRefusal(before) ? null : amount(before.totals);
  return {
    label,
    note,
    value: value === null ? null : write(value),
    ratio: value === null || old === null ? null : change(value, old),
    state: "ready",
    isBeforeMissing: isRefusal(before),
  };
}

export function Tiles({ figures }: { figures: Figures | null }) {
  return (
    <dl class="tiles">
      {(figures ? ready(figures) : loading()).map((props) => (
        <ComparedTile key={props.label} {...props} />
      ))}
    </dl>
  );
}

function loading(): TileProps[] {
  const { revenue, clicks, perClick, impressions, ecpm, revenueNote, allNote, adsNote } = text.tiles;
  const names = [
    [revenue, revenueNote],
    [clicks, allNote],
    [perClick, allNote],
    [impressions, adsNote],
    [ecpm, adsNote],
  ] as const;
  return names.map(([label, note]) => ({
    label,
    note,
    value: null,
    ratio: null,
    state: "loading",
  }));
}

function ready({ reports, compared }: Figures): TileProps[] {
  const { current, previous, ads_current: ads, ads_previous: adsBefore } = reports;
  const names = text.tiles;
  const tiles = [
    tile(names.revenue, (totals) => totals.revenue ?? 0, money, current, previous, names.revenueNote),
    tile(names.clicks, (totals) => totals.clicks ?? 0, count, current, previous, names.allNote),
    tile(names.perClick, perClick, smallMoney, current, previous, names.allNote),
  ];
  if (isRefusal(ads) || ads.totals.impressions) {
    tiles.push(
      tile(names.impressions, (totals) => totals.impressions ?? 0, count, ads, adsBefore, names.adsNote),
      tile(names.ecpm, (totals) => totals.ecpm ?? null, money, ads, adsBefore, names.adsNote),
    );
  }
  return tiles.map((props) => ({ ...props, weeks: (compared?.days ?? 0) / 7 }));
}

// The key numbers. Impressions and eCPM leave out the offerwall, whose clicks have no impressions.

import { Tile } from "../../../shared/components/tile";
import { change, count, money, smallMoney } from "../../../shared/format";
import { Change } from "../../components/change";
import { common, overview as text } from "../../messages";
import { isRefusal, type Totals } from "../../types";
import type { Figures } from "./figures";

interface KeyNumber {
  label: string;
  note: string;
  amount: (totals: Totals) => number | null;
  write: (value: number) => string;
  /** Leaves out the offerwall. */
  isOfAds?: boolean;
}

const names = text.tiles;
const { revenueNote, allNote, adsNote } = names;
const perClick: KeyNumber["amount"] = ({ revenue = 0, clicks }) => (clicks ? revenue / clicks : null);

const NUMBERS: KeyNumber[] = [
  { label: names.revenue, note: revenueNote, amount: ({ revenue = 0 }) => revenue, write: money },
  { label: names.clicks, note: allNote, amount: ({ clicks = 0 }) => clicks, write: count },
  { label: names.perClick, note: allNote, amount: perClick, write: smallMoney },
  {
    label: names.impressions,
    note: adsNote,
    amount: ({ impressions = 0 }) => impressions,
    write: count,
    isOfAds: true,
  },
  { label: names.ecpm, note: adsNote, amount: ({ ecpm = null }) => ecpm, write: money, isOfAds: true },
];

function NumberTile({
  of: { label, note, amount, write, isOfAds },
  figures,
}: {
  of: KeyNumber;
  figures: Figures | null;
}) {
  const named = { label, note };
  if (!figures) return <Tile {...named} value={undefined} />;
  const { current, previous, ads_current, ads_previous } = figures.reports;
  const [now, before] = isOfAds ? [ads_current, ads_previous] : [current, previous];
  if (isRefusal(now)) return <Tile {...named} value={common.none} below={text.tileFailed} belowClass="failed-text" />;
  const value = amount(now.totals);
  const shown = value === null ? common.none : write(value);
  if (isRefusal(before)) return <Tile {...named} value={shown} below={text.beforeFailed} />;
  const old = amount(before.totals);
  const ratio = value === null || old === null ? null : change(value, old);
  const versus =
    ratio === null ? (
      <span aria-hidden="true">{text.nothingBefore}</span>
    ) : (
      <span class="tile-versus">{text.before((figures.compared?.days ?? 0) / 7)}</span>
    );
  return (
    <Tile
      {...named}
      value={shown}
      below={
        <>
          <Change ratio={ratio} /> {versus}
        </>
      }
    />
  );
}

export function Tiles({ figures }: { figures: Figures | null }) {
  const ads = figures?.reports.ads_current;
  const hasAds = !ads || isRefusal(ads) || Boolean(ads.totals.impressions);
  return (
    <dl class="tiles">
      {NUMBERS.filter(({ isOfAds }) => hasAds || !isOfAds).map((number) => (
        <NumberTile key={number.label} of={number} figures={figures} />
      ))}
    </dl>
  );
}

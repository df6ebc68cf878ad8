// The figures of an offer in the last 30 days, and what is used of its caps today.

import { useCached } from "../../../shared/cache";
import { Failed, Skeleton, Stale } from "../../../shared/components/states";
import { count, money, percent } from "../../../shared/format";
import { offersApi } from "../../api/offers";
import { offer as messages } from "../../messages/offers";
import type { Figures, UsedCap } from "../../types/offers";
import { figuresKey } from "../cache-keys";

const text = messages.figures;
const NEARLY = 0.8;

export function FiguresOf({ offerId }: { offerId: string }) {
  const figures = useCached(figuresKey(offerId), () => offersApi.figuresOf([offerId]));
  const own = figures.data?.figures[offerId];
  if (!figures.data && figures.error) {
    return (
      <div class="card">
        <Failed compact error={figures.error} retry={figures.reload} />
      </div>
    );
  }
  return (
    <>
      <Stale of={figures} retry={figures.reload} />
      <dl class="tiles" aria-label={text.label}>
        {figures.data ? own && <Tiles figures={own} at={figures.data.as_of} /> : <Loading />}
      </dl>
    </>
  );
}

interface TileProps {
  name: string;
  note: string;
  value: string;
  below?: string | null;
  isNear?: boolean;
}

const Tile = ({ name, note, value, below, isNear }: TileProps) => (
  <div class="tile">
    <dt>
      {name} <span class="tile-note">{note}</span>
    </dt>
    <dd>
      <span class="tile-value">{value}</span>
      {below && <span class={isNear ? "tile-change near-cap" : "tile-change"}>{below}</span>}
    </dd>
  </div>
);

function CapTile({ name, cap }: { name: string; cap: UsedCap | null }) {
  if (!cap) return <Tile name={name} note={text.today} value={text.noCap} />;
  const share = cap.lim === 0 ? 1 : cap.used / cap.lim;
  return (
    <Tile
      name={name}
      note={text.today}
      value={count(cap.used)}
      below={`${text.of(cap.lim)}, ${percent(share)}`}
      isNear={share >= NEARLY}
    />
  );
}

function Tiles({ figures, at }: { figures: Figures; at: number | null }) {
  const { clicks, conversions, payout_usd: payout, caps } = figures;
  return (
    <>
      <Tile name={text.payout} note={text.note} value={money(payout)} below={at === null ? null : text.asOf(at)} />
      <Tile name={text.clicks} note={text.note} value={count(clicks)} />
      <Tile
        name={text.conversions}
        note={text.note}
        value={count(conversions)}
        below={clicks > 0 ? text.rate(percent(conversions / clicks)) : null}
      />
      <CapTile name={text.clickCap} cap={caps.click} />
      <CapTile name={text.conversionCap} cap={caps.conversion} />
    </>
  );
}

const Loading = () => (
  <>
    {[text.payout, text.clicks, text.conversions, text.clickCap, text.conversionCap].map((name) => (
      <div class="tile" key={name}>
        <dt>{name}</dt>
        <dd>
          <Skeleton class="tile-skeleton" lines={2} />
        </dd>
      </div>
    ))}
  </>
);

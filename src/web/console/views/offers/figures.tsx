// The figures of an offer in the last 30 days, and today's use of its caps.

import { useCached } from "../../../shared/cache";
import { Failed, Stale } from "../../../shared/components/states";
import { Tile } from "../../../shared/components/tile";
import { count, money, percent } from "../../../shared/format";
import type { CapUse, OfferFigures } from "../../../shared/generated/openapi";
import { post } from "../../api";
import { offer as messages } from "../../messages/offers";
import { figuresKey } from "../cache-keys";

const text = messages.figures;
const LABELS = [text.payout, text.clicks, text.conversions, text.clickCap, text.conversionCap];
const NEARLY = 0.8;

export function FiguresOf({ offerId }: { offerId: string }) {
  const figures = useCached(figuresKey(offerId), () => post("/offer_figures", {}, { offer_ids: [offerId] }));
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
        {figures.data
          ? own && <Tiles figures={own} at={figures.data.as_of} />
          : LABELS.map((name) => <Tile key={name} label={name} value={undefined} />)}
      </dl>
    </>
  );
}

function CapTile({ name, cap }: { name: string; cap: CapUse }) {
  if (!cap) return <Tile label={name} note={text.today} value={text.noCap} />;
  const share = cap.lim === 0 ? 1 : cap.used / cap.lim;
  return (
    <Tile
      label={name}
      note={text.today}
      value={count(cap.used)}
      below={`${text.of(cap.lim)}, ${percent(share)}`}
      belowClass={share >= NEARLY ? "near-cap" : undefined}
    />
  );
}

function Tiles({ figures, at }: { figures: OfferFigures["figures"][string]; at: number | null }) {
  const { clicks, conversions, payout_usd: payout, caps } = figures;
  return (
    <>
      <Tile label={text.payout} note={text.note} value={money(payout)} below={at === null ? null : text.asOf(at)} />
      <Tile label={text.clicks} note={text.note} value={count(clicks)} />
      <Tile
        label={text.conversions}
        note={text.note}
        value={count(conversions)}
        below={clicks > 0 ? text.rate(percent(conversions / clicks)) : null}
      />
      <CapTile name={text.clickCap} cap={caps.click} />
      <CapTile name={text.conversionCap} cap={caps.conversion} />
    </>
  );
}

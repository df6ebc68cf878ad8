// The offers of an advertiser.

import { More } from "../../../shared/components/more";
import { Failed, Stale } from "../../../shared/components/states";
import { Table, TableSkeleton } from "../../../shared/components/table";
import { queryText } from "../../../shared/query-text";
import { usePages } from "../../../shared/use-pages";
import { offersApi } from "../../api/offers";
import { itsOffers as text } from "../../messages/advertisers";
import { OFFERS_PATH } from "../../router";
import type { KeptOffer } from "../../types/offers";
import { offerColumn, payoutColumn, stateColumn } from "../offers/columns";

const PAGE_OFFERS = 10;
const COLUMNS = [offerColumn, stateColumn, payoutColumn];

export function ItsOffers({ advertiserId }: { advertiserId: string }) {
  const pages = usePages<KeptOffer>(`offers of ${advertiserId}`, async (from) => {
    const { offers, cursor } = await offersApi.list(from, PAGE_OFFERS, { advertiser_id: advertiserId });
    return { rows: offers, cursor };
  });
  const { first, rows, hasMore, reload } = pages;
  return (
    <section class="card table-card" aria-labelledby="its-offers">
      <div class="card-head">
        <h2 id="its-offers">{text.title}</h2>
        {rows && rows.length > 0 && (
          <div class="card-tools">
            <a href={OFFERS_PATH + queryText({ advertiser: advertiserId })}>{text.open}</a>
          </div>
        )}
      </div>
      <Stale of={first} retry={reload} />
      {!rows ? (
        first.error ? (
          <Failed compact error={first.error} retry={reload} />
        ) : (
          <TableSkeleton rows={3} />
        )
      ) : rows.length === 0 ? (
        <p class="card-foot">{text.none}</p>
      ) : (
        <Table stacks name={text.title} columns={COLUMNS} rows={rows} rowKey={({ offer_id }) => offer_id} />
      )}
      {hasMore && (
        <div class="card-foot padded-top">
          <More of={pages} label={text.more} />
        </div>
      )}
    </section>
  );
}

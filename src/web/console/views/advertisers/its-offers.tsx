// The offers of an advertiser.

import { Loaded } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { Section } from "../../../shared/components/section";
import { TableOr, TableSkeleton } from "../../../shared/components/table";
import { pageOf } from "../../../shared/page-of";
import { queryText } from "../../../shared/query-text";
import { usePages } from "../../../shared/use-pages";
import { get } from "../../api";
import { itsOffers as text } from "../../messages/advertisers";
import { OFFERS_PATH } from "../../router";
import { offerColumn, payoutColumn, stateColumn } from "../offers/columns";

const PAGE_OFFERS = 10;
const COLUMNS = [offerColumn, stateColumn, payoutColumn];

export function ItsOffers({ advertiserId }: { advertiserId: string }) {
  const pages = usePages(`offers of ${advertiserId}`, (cursor) =>
    get("/offers", { advertiser_id: advertiserId, limit: PAGE_OFFERS, cursor }).then(pageOf("offers")),
  );
  const tools = pages.rows && pages.rows.length > 0 && (
    <a href={OFFERS_PATH + queryText({ advertiser: advertiserId })}>{text.open}</a>
  );
  return (
    <Section title={text.title} tools={tools} class="card table-card">
      <Loaded of={pages.list} loading={<TableSkeleton rows={3} />} isCompact>
        {(rows) => <TableOr none={text.none} name={text.title} columns={COLUMNS} rows={rows} rowKey="offer_id" />}
      </Loaded>
      {pages.hasMore && (
        <div class="card-foot padded-top">
          <More of={pages} />
        </div>
      )}
    </Section>
  );
}

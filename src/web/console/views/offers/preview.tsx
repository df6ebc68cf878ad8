// The API's answer for an offer and the target of a click, with sample values. Nothing is stored.

import { useEffect, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { Button, PrimaryButton } from "../../../shared/components/button";
import { Dialog } from "../../../shared/components/dialog";
import { FormError, Skeleton } from "../../../shared/components/states";
import { Exact } from "../../../shared/components/sent-request";
import { type Column, column, numberColumn, Table } from "../../../shared/components/table";
import { amount, exactMoney } from "../../../shared/format";
import type { ListedOffer, Offer, OfferPreview } from "../../../shared/generated/openapi";
import { post } from "../../api";
import { common } from "../../messages";
import { preview as text } from "../../messages/offer-editor";

export function Preview({ offerId, document, onClose }: { offerId: string; document: Offer; onClose: () => void }) {
  const [shown, setOfferPreview] = useState<OfferPreview | null>(null);
  const load = useAction(async () =>
    setOfferPreview(await post("/offers/{offer_id}/preview", { offer_id: offerId }, document)),
  );
  useEffect(() => void load.run(), []);
  return (
    <Dialog title={text.title(document.name)} isWide onClose={onClose}>
      <p class="note">{text.text}</p>
      {!shown && !load.error && (
        <div role="status">
          <span class="visually-hidden">{text.loading}</span>
          <Skeleton lines={5} />
        </div>
      )}
      <FormError error={load.error} />
      {shown && <Result preview={shown} />}
      <div class="dialog-buttons">
        {load.error !== null && <Button onClick={() => void load.run()}>{common.retry}</Button>}
        <PrimaryButton onClick={onClose}>{common.close}</PrimaryButton>
      </div>
    </Dialog>
  );
}

function Result({ preview: { offer, redirect_url: redirect } }: { preview: OfferPreview }) {
  const inCurrency = ({ amt, cur }: ListedOffer["inapp_pyt"]) => `${amount(amt)} ${cur}`;
  const columns: Column<ListedOffer["gls"][number]>[] = [
    column("goal", text.goals, ({ id, ttl, instr }) => (
      <div class="offer">
        {ttl}
        <span class="cell-second">{id}</span>
        {instr && <span class="cell-second steps-text">{instr}</span>}
      </div>
    )),
    numberColumn("value", text.value, ({ inapp_pyt }) => inCurrency(inapp_pyt)),
    numberColumn("payout", text.payout, ({ pyt }) => exactMoney(pyt.amt)),
  ];
  return (
    <div class="preview">
      <Exact label={text.redirect} value={redirect} />
      <h3>{text.listed}</h3>
      <p>
        <b>{offer.name}</b>, {inCurrency(offer.inapp_pyt)}, {exactMoney(offer.pyt.amt)}
      </p>
      <p class="steps-text">{offer.desc.raw || text.noText}</p>
      <div class="dialog-table">
        <Table name={text.goals} columns={columns} rows={offer.gls} rowKey="id" />
      </div>
      <Exact label={text.json} value={JSON.stringify(offer, null, 2)} isOpen={false} />
    </div>
  );
}

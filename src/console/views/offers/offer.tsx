// The page of an offer: its figures, its terms and the editor. At the ID of no offer the editor makes a new one.

import { useState } from "preact/hooks";
import { put, refresh, useCached } from "../../../pages/cache";
import { Confirm } from "../../../pages/components/dialog";
import { Heading } from "../../../pages/components/heading";
import { Empty, Failed, Skeleton, Stale } from "../../../pages/components/states";
import { say } from "../../../pages/components/status";
import { withVerification } from "../../../pages/passkeys";
import { offersApi } from "../../api/offers";
import { offer as text } from "../../messages/offers";
import { advertiserPath, OFFERS_PATH } from "../../router";
import { may } from "../../session";
import type { KeptOffer } from "../../types/offers";
import { useAdvertisers } from "../use-advertisers";
import { writable } from "./draft";
import { Editor } from "./editor";
import { FiguresOf } from "./figures";
import { offerKey, offersKey } from "../cache-keys";
import { StateBadge } from "./state-badge";
import { TermsOf } from "./terms";

export function Offer({ offerId }: { offerId: string }) {
  const offer = useCached(offerKey(offerId), () => offersApi.read(offerId));
  const isNew = !offer.data && offer.error?.status === 404;
  if (offer.data) return <Kept offer={offer.data} reload={offer.reload} stale={<Stale of={offer} retry={offer.reload} />} />;
  if (isNew && may("manage")) {
    return (
      <>
        <Heading title={text.fresh(offerId)} within={[text.title]} note={text.freshText}>
          <ToList />
        </Heading>
        <Editor offerId={offerId} kept={null} reload={offer.reload} />
      </>
    );
  }
  return (
    <>
      <Heading title={text.title} note={offerId}>
        <ToList />
      </Heading>
      {isNew ? (
        <Empty title={text.notFound} />
      ) : offer.error ? (
        <Failed error={offer.error} retry={offer.reload} />
      ) : (
        <Skeleton lines={5} />
      )}
    </>
  );
}

const ToList = () => (
  <a class="button" href={OFFERS_PATH}>
    {text.toList}
  </a>
);

interface KeptProps {
  offer: KeptOffer;
  reload: () => Promise<void>;
  stale: ReturnType<typeof Stale>;
}

function Kept({ offer, reload, stale }: KeptProps) {
  const { offer_id: id, advertiser_id: advertiser, name, active } = offer;
  const { nameOf } = useAdvertisers();
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Heading
        title={name}
        within={[text.title]}
        note={
          <>
            <StateBadge offer={offer} /> {text.id} <code>{id}</code>,{" "}
            <a href={advertiserPath(advertiser)}>{nameOf(advertiser)}</a>, {text.updatedAt(offer.updated_at)}
          </>
        }
      >
        <ToList />
        {may("manage") && (
          <button type="button" class={active ? "button danger-text" : "button"} onClick={() => setAsking(true)}>
            {active ? text.deactivate : text.activate}
          </button>
        )}
      </Heading>
      {stale}
      {!may("manage") && <p class="note read-only">{text.readOnly}</p>}
      <FiguresOf offerId={id} />
      <TermsOf offer={offer} />
      <Editor offerId={id} kept={offer} reload={reload} />
      {isAsking && (
        <Confirm
          title={active ? text.deactivateTitle(name) : text.activateTitle(name)}
          text={active ? text.deactivateText : text.activateText}
          button={active ? text.deactivate : text.activate}
          dangerous={active}
          onConfirm={async () => {
            // What somebody else has changed meanwhile stays.
            const newest = await offersApi.read(id);
            const document = { ...writable(newest), active: !active };
            put(offerKey(id), await withVerification(() => offersApi.write(id, document)));
            void refresh(offersKey());
            say(active ? text.deactivated : text.activated);
            setAsking(false);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

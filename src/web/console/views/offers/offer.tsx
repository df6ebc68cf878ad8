// The page of an offer: its figures, its terms and the editor. If no offer has the ID, the editor creates one.

import { put, refresh, useCached } from "../../../shared/cache";
import type { Tagged } from "../../../shared/client";
import { LinkButton } from "../../../shared/components/button";
import { useQuestion } from "../../../shared/components/form-dialog";
import { Heading } from "../../../shared/components/heading";
import { Loaded } from "../../../shared/components/loaded";
import { Empty, Stale } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import type { KeptOffer } from "../../../shared/generated/openapi";
import { getTagged, putTagged } from "../../api";
import { offer as text } from "../../messages/offers";
import { advertiserPath, OFFERS_PATH } from "../../router";
import { may } from "../../session";
import { useAdvertisers } from "../use-advertisers";
import { writable } from "./draft";
import { Editor } from "./editor";
import { FiguresOf } from "./figures";
import { offerKey, offersKey } from "../cache-keys";
import { StateBadge } from "./columns";
import { TermsOf } from "./terms";

export function Offer({ offerId }: { offerId: string }) {
  const offer = useCached(offerKey(offerId), () => getTagged("/offers/{offer_id}", { offer_id: offerId }));
  const isNew = !offer.data && offer.error?.status === 404;
  if (offer.data)
    return <Kept offer={offer.data} reload={offer.reload} stale={<Stale of={offer} retry={offer.reload} />} />;
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
      <Loaded of={offer} missing={<Empty title={text.notFound} />}>
        {() => null}
      </Loaded>
    </>
  );
}

const ToList = () => <LinkButton href={OFFERS_PATH}>{text.toList}</LinkButton>;

interface KeptProps {
  offer: Tagged<KeptOffer>;
  reload: () => Promise<unknown>;
  stale: ReturnType<typeof Stale>;
}

function Kept({ offer, reload, stale }: KeptProps) {
  const { offer_id: id, advertiser_id: advertiser, name, active } = offer;
  const { nameOf } = useAdvertisers();
  // `wanted` is the state that the member asked for. It does not change if somebody else switches the offer at the same time.
  const [ask, question] = useQuestion((wanted: boolean) => ({
    title: wanted ? text.activateTitle(name) : text.deactivateTitle(name),
    text: wanted ? text.activateText : text.deactivateText,
    button: wanted ? text.activate : text.deactivate,
    dangerous: !wanted,
    onConfirm: async (close) => {
      const document = { ...writable(offer), active: wanted };
      put(offerKey(id), await putTagged("/offers/{offer_id}", { offer_id: id }, document, offer));
      void refresh(offersKey());
      say(wanted ? text.activated : text.deactivated);
      close();
    },
    reload,
  }));
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
          <button type="button" class={active ? "button danger-text" : "button"} onClick={() => ask(!active)}>
            {active ? text.deactivate : text.activate}
          </button>
        )}
      </Heading>
      {stale}
      {!may("manage") && <p class="note read-only">{text.readOnly}</p>}
      <FiguresOf offerId={id} />
      <TermsOf offer={offer} reload={reload} />
      <Editor offerId={id} kept={offer} reload={reload} />
      {question}
    </>
  );
}

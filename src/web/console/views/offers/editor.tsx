// The editor of an offer: every field, its problems beside it, and what a save changes before it is made.

import { useRef, useState } from "preact/hooks";
import { put, refresh } from "../../../shared/cache";
import { ApiError, type Tagged } from "../../../shared/client";
import { Button } from "../../../shared/components/button";
import { SubmitButton } from "../../../shared/components/form";
import { focusHeading } from "../../../shared/components/heading";
import { useUnsaved } from "../../../shared/components/part";
import { FormError, Problem } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { fieldErrors } from "../../../shared/field-errors";
import { withVerification } from "../../../shared/passkeys";
import { offersApi } from "../../api/offers";
import { editor as text } from "../../messages/offer-editor";
import { review } from "../../messages/offers";
import { may, nowSeconds } from "../../session";
import type { KeptOffer, Offer } from "../../types/offers";
import { documentOf, draftOf, NEW_OFFER, type OfferDraft, problemsOf, SHOWN_FIELDS, writable } from "./draft";
import { Goals } from "./editor-goals";
import { General, Limits, Links, Rules, Targeting } from "./editor-parts";
import type { EditorState } from "./fields";
import { figuresKey, offerKey, offersKey, termsKey } from "../cache-keys";
import { Preview } from "./preview";
import { Review } from "./review";

interface Props {
  offerId: string;
  /** None where the offer is new. */
  kept: Tagged<KeptOffer> | null;
  reload: () => Promise<void>;
}

export function Editor({ offerId, kept, reload }: Props) {
  const saved = kept ? draftOf(kept) : NEW_OFFER;
  const [typed, setTyped] = useState<OfferDraft | null>(null);
  const [wasAsked, setAsked] = useState(false);
  const [refusal, setRefusal] = useState<unknown>(null);
  const [open, setOpen] = useState<{ dialog: "review" | "preview"; document: Offer } | null>(null);
  const draft = typed ?? saved;
  const isChanged = typed !== null && JSON.stringify(typed) !== JSON.stringify(saved);
  const mayChange = may("manage");
  // What was read when the first change was typed: somebody else may change the offer meanwhile.
  const base = useRef(kept);
  if (!isChanged) base.current = kept;

  const form = useRef<HTMLFormElement>(null);
  useUnsaved(isChanged);

  const problems = problemsOf(draft, kept?.terms_since, nowSeconds());
  const refused = fieldErrors(refusal, SHOWN_FIELDS);
  const state: EditorState = {
    draft,
    isReadOnly: !mayChange,
    problem: (path) => refused.of(path) ?? (wasAsked ? (problems.get(path) ?? null) : null),
    set: (change) => {
      setRefusal(null);
      setTyped({ ...draft, ...change });
    },
  };

  const focusProblem = () =>
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
  const openDialog = (dialog: "review" | "preview") => {
    setAsked(true);
    if (problems.size > 0) focusProblem();
    else setOpen({ dialog, document: documentOf(draft) });
  };
  const discard = () => {
    setTyped(null);
    setAsked(false);
    setRefusal(null);
    setOpen(null);
  };
  const save = async (document: Offer) => {
    try {
      const written = await withVerification(() => offersApi.write(offerId, base.current, document));
      put(offerKey(offerId), written);
    } catch (error) {
      // What is wrong with a field is said at the field.
      if (!(error instanceof ApiError) || fieldErrors(error, SHOWN_FIELDS).rest) throw error;
      setOpen(null);
      setRefusal(error);
      focusProblem();
      return;
    }
    discard();
    say(kept ? review.saved : review.created);
    focusHeading();
    for (const key of [offersKey(), termsKey(offerId), figuresKey(offerId)]) void refresh(key);
  };

  return (
    <form
      ref={form}
      class="offer-editor"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (mayChange && (isChanged || !kept)) openDialog("review");
      }}
    >
      <fieldset disabled={!mayChange}>
        <General state={state} />
        <Links state={state} />
        <Targeting state={state} />
        <Goals state={state} retired={kept?.retired_goals ?? []} />
        <Limits state={state} />
        <Rules state={state} />
      </fieldset>
      <div class="save-bar">
        <FormError error={refused.rest} />
        <Problem>{wasAsked && problems.size > 0 && text.wrong}</Problem>
        <div class="row">
          {mayChange && <SubmitButton isDisabled={!isChanged && kept !== null}>{review.button}</SubmitButton>}
          <Button onClick={() => openDialog("preview")}>{text.preview}</Button>
          {isChanged && (
            <>
              <Button
                onClick={() => {
                  discard();
                  form.current?.querySelector<HTMLElement>("[type=submit]")?.focus();
                }}
              >
                {text.discard}
              </Button>
              <span class="note">{text.unsaved}</span>
            </>
          )}
        </div>
      </div>
      {open?.dialog === "preview" && (
        <Preview offerId={offerId} document={open.document} onClose={() => setOpen(null)} />
      )}
      {open?.dialog === "review" && (
        <Review
          before={base.current && writable(base.current)}
          after={open.document}
          onSave={save}
          onReload={async () => {
            await reload();
            discard();
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </form>
  );
}

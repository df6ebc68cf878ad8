// The editor of an offer: every field with its problems, and a review of the changes before they are saved.

import { useRef, useState } from "preact/hooks";
import { put, refresh } from "../../../shared/cache";
import { ApiError, isChangedMeanwhile, type Tagged } from "../../../shared/client";
import { Button } from "../../../shared/components/button";
import { SubmitButton } from "../../../shared/components/form";
import { focusHeading } from "../../../shared/components/heading";
import { Discard, useUnsaved } from "../../../shared/components/part";
import { SaveError } from "../../../shared/components/save-error";
import { Problem } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { fieldErrors } from "../../../shared/field-errors";
import { useMerged } from "../../../shared/use-merged";
import type { KeptOffer, Offer } from "../../../shared/generated/openapi";
import { putTagged } from "../../api";
import { editor as text } from "../../messages/offer-editor";
import { review } from "../../messages/offers";
import { may, nowSeconds } from "../../session";
import { clashWords } from "./changes";
import { documentOf, draftOf, NEW_OFFER, ofTree, problemsOf, SHOWN_FIELDS, treeOf, writable } from "./draft";
import { Goals } from "./editor-goals";
import { General, Limits, Links, Rules, Targeting } from "./editor-parts";
import type { EditorState } from "./fields";
import { figuresKey, offerKey, offersKey, termsKey } from "../cache-keys";
import { Preview } from "./preview";
import { Review } from "./review";

interface Props {
  offerId: string;
  /** Null if the offer is new. */
  kept: Tagged<KeptOffer> | null;
  reload: () => Promise<unknown>;
}

export function Editor({ offerId, kept, reload }: Props) {
  const saved = kept ? draftOf(kept) : NEW_OFFER;
  const [wasAsked, setAsked] = useState(false);
  const [refusal, setRefusal] = useState<unknown>(null);
  const [open, setOpen] = useState<"review" | "preview" | null>(null);
  const typed = useMerged(treeOf(saved), clashWords);
  const { isChanged, clashes } = typed;
  const draft = ofTree(typed.values);
  const mayChange = may("manage");
  const maySave = (isChanged || !kept) && clashes.length === 0;

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
      typed.set(treeOf({ ...draft, ...change }));
    },
  };

  const focusProblem = () =>
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
  const openDialog = (dialog: "review" | "preview") => {
    setAsked(true);
    if (problems.size > 0) focusProblem();
    else setOpen(dialog);
  };
  const discard = () => {
    typed.discard();
    setAsked(false);
    setRefusal(null);
    setOpen(null);
  };
  const save = async (document: Offer) => {
    try {
      const written = await putTagged("/offers/{offer_id}", { offer_id: offerId }, document, kept);
      put(offerKey(offerId), written);
    } catch (error) {
      // The review closes if the form can show the error: wrong fields, or changes by somebody else. The review itself
      // shows all other errors.
      const isOfForm = kept !== null && isChangedMeanwhile(error);
      if (!isOfForm && (!(error instanceof ApiError) || fieldErrors(error, SHOWN_FIELDS).rest)) throw error;
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
        if (mayChange && maySave) openDialog("review");
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
        <SaveError error={refused.rest} reload={reload} clashes={clashes} />
        <Problem>{wasAsked && problems.size > 0 && text.wrong}</Problem>
        <div class="row">
          {mayChange && <SubmitButton isDisabled={!maySave}>{review.button}</SubmitButton>}
          <Button onClick={() => openDialog("preview")}>{text.preview}</Button>
          {isChanged && <Discard onClick={discard} />}
        </div>
      </div>
      {open === "preview" && <Preview offerId={offerId} document={documentOf(draft)} onClose={() => setOpen(null)} />}
      {open === "review" && maySave && (
        <Review before={kept && writable(kept)} after={documentOf(draft)} onSave={save} onClose={() => setOpen(null)} />
      )}
    </form>
  );
}

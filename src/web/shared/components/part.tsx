// One part of a document that is edited: the typed values until they are saved, the save, and its errors.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { useAction } from "../action";
import { isChangedMeanwhile } from "../client";
import { type FieldErrors, fieldErrors } from "../field-errors";
import { form as text } from "../messages/form";
import { noteUnsaved } from "../navigation";
import { Button } from "./button";
import { Form, SubmitButton } from "./form";
import { type Merged, named, useMerged, type Writes } from "../use-merged";
import { SaveError } from "./save-error";
import { say } from "./status";

export interface Draft<Values> extends Merged<Values> {
  isSaving: boolean;
  error: unknown;
  errors: FieldErrors;
  save: () => Promise<void>;
}

export interface DraftOptions<Values> {
  /** The values as they are saved. */
  saved: Values;
  /** The fields of the API that this part shows. */
  fields: string[];
  /** The names of the fields, by their paths in the values. */
  names: Record<string, string>;
  writes?: Writes;
  /** Fails with 412 if somebody else has changed the document since it was loaded. */
  save: (values: Values) => Promise<void>;
}

export function useUnsaved(isChanged: boolean) {
  const form = useRef({});
  useEffect(() => noteUnsaved(form.current, isChanged), [isChanged]);
  useEffect(() => () => noteUnsaved(form.current, false), []);
}

/** Typed values stay until they are saved, even if the document is reloaded before. */
export function useDraft<Values>({ saved, fields, names, writes, save }: DraftOptions<Values>): Draft<Values> {
  const merged = useMerged(saved, named(names, writes));
  useUnsaved(merged.isChanged);
  const action = useAction(async () => {
    const sent = merged.values;
    await save(sent);
    merged.saved(sent);
    say(text.saved);
  });
  return {
    ...merged,
    isSaving: action.isRunning,
    error: action.error,
    errors: fieldErrors(action.error, fields),
    discard: () => {
      merged.discard();
      action.clear();
    },
    save: action.run,
  };
}

export function Card({ title, intro, children }: { title: string; intro?: string; children: ComponentChildren }) {
  const id = useId();
  return (
    <section class="card padded part" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {intro && <p class="note">{intro}</p>}
      {children}
    </section>
  );
}

/** Gives up what was typed. The button then disappears, so the focus moves to the button that saves. */
export const Discard = ({ onClick }: { onClick: () => void }) => (
  <>
    <Button
      onClick={({ currentTarget: { form } }) => {
        onClick();
        form?.querySelector<HTMLElement>("[type=submit]")?.focus();
      }}
    >
      {text.discard}
    </Button>
    <span class="note">{text.unsaved}</span>
  </>
);

interface PartFormProps<Values> {
  draft: Draft<Values>;
  reload: () => Promise<unknown>;
  /** Keeps the form from being sent. */
  isWrong?: boolean;
  buttons?: ComponentChildren;
  children: ComponentChildren;
}

export function PartForm<Values>({ draft, reload, isWrong, buttons, children }: PartFormProps<Values>) {
  const maySave = draft.isChanged && !isWrong && draft.clashes.length === 0;
  return (
    <Form onSubmit={() => maySave && void draft.save()}>
      {children}
      <SaveError
        error={isChangedMeanwhile(draft.error) ? draft.error : draft.errors.rest}
        reload={reload}
        loaded={draft.isChanged ? text.loaded : text.loadedAgain}
        clashes={draft.clashes}
      />
      <div class="row part-buttons">
        <SubmitButton isDisabled={!maySave || draft.isSaving}>{text.save}</SubmitButton>
        {draft.isChanged && <Discard onClick={draft.discard} />}
        {buttons}
      </div>
    </Form>
  );
}

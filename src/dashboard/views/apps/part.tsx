// One part of an app's settings: what is typed until it is saved, the save, and what may go wrong with it.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useAction } from "../../../pages/action";
import { ApiError } from "../../../pages/client";
import { api } from "../../api";
import { put, refresh } from "../../../pages/cache";
import { Warning } from "../../../pages/components/icons";
import { FormError } from "../../../pages/components/states";
import { say } from "../../../pages/components/status";
import { type FieldErrors, fieldErrors } from "../../../pages/field-errors";
import { appForm as text } from "../../messages/apps";
import { withVerification } from "../../../pages/passkeys";
import { noteUnsaved } from "../../../pages/navigation";
import type { App, AppChange, ChangedApp } from "../../types";
import { appKey, APPS_KEY } from "./keys";

export interface PartProps {
  app: App;
  reload: () => Promise<void>;
}

/** Takes a changed app for what is shown, here and in the list. */
function show(app: App) {
  put(appKey(app.app_id), app);
  void refresh(APPS_KEY);
}

export interface Draft<Values> {
  values: Values;
  isChanged: boolean;
  isSaving: boolean;
  error: unknown;
  errors: FieldErrors;
  set: (values: Values) => void;
  discard: () => void;
  save: () => Promise<void>;
}

interface DraftOptions<Values> {
  app: App;
  /** The values as they are saved. */
  saved: Values;
  /** The fields of the API that this part shows. */
  fields: string[];
  change: (values: Values) => AppChange;
  onSaved?: (app: ChangedApp) => void;
}

/** Until it is saved, what was typed stays, whatever is loaded meanwhile. */
export function useDraft<Values>({ app, saved, fields, change, onSaved }: DraftOptions<Values>): Draft<Values> {
  const [typed, setTyped] = useState<Values | null>(null);
  const values = typed ?? saved;
  const isChanged = typed !== null && JSON.stringify(typed) !== JSON.stringify(saved);
  const form = useRef({});
  useEffect(() => noteUnsaved(form.current, isChanged), [isChanged]);
  useEffect(() => () => noteUnsaved(form.current, false), []);
  const action = useAction(async () => {
    const changed = await withVerification(() => api.changeApp(app.app_id, app.revision, change(values)));
    show(changed);
    setTyped(null);
    say(text.saved);
    onSaved?.(changed);
  });
  return {
    values,
    isChanged,
    isSaving: action.isRunning,
    error: action.error,
    errors: fieldErrors(action.error, fields),
    set: setTyped,
    discard: () => {
      setTyped(null);
      action.clear();
    },
    save: action.run,
  };
}

interface CardProps {
  title: string;
  intro?: string;
  children: ComponentChildren;
}

export function Card({ title, intro, children }: CardProps) {
  const id = useId();
  return (
    <section class="card padded part" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {intro && <p class="note">{intro}</p>}
      {children}
    </section>
  );
}

/** After a button that goes away, reading goes on at the one that stays. */
const focusSave = (form: HTMLFormElement | null) => form?.querySelector<HTMLElement>("[type=submit]")?.focus();

interface PartFormProps<Values> {
  draft: Draft<Values>;
  reload: () => Promise<void>;
  /** Keeps the form from being sent. */
  isWrong?: boolean;
  buttons?: ComponentChildren;
  children: ComponentChildren;
}

export function PartForm<Values>({ draft, reload, isWrong, buttons, children }: PartFormProps<Values>) {
  const [wasLoaded, setLoaded] = useState(false);
  const isOld = draft.error instanceof ApiError && draft.error.status === 412;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setLoaded(false);
        if (draft.isChanged && !isWrong) void draft.save();
      }}
    >
      {children}
      {isOld && !wasLoaded ? (
        <div class="banner warning" role="alert">
          <Warning />
          <p>
            <b>{text.changedTitle}.</b> {text.changed}
          </p>
          <button
            type="button"
            class="button small"
            onClick={async (event) => {
              const { form } = event.currentTarget;
              await reload();
              setLoaded(true);
              focusSave(form);
            }}
          >
            {text.loadAgain}
          </button>
        </div>
      ) : (
        !isOld && <FormError error={draft.errors.rest} />
      )}
      {wasLoaded && draft.isChanged && (
        <p class="note" role="status">
          {text.loaded}
        </p>
      )}
      <div class="row part-buttons">
        <button
          type="submit"
          class="button primary"
          aria-disabled={!draft.isChanged || isWrong || draft.isSaving}
        >
          {text.save}
        </button>
        {draft.isChanged && (
          <>
            <button
              type="button"
              class="button"
              onClick={(event) => {
                draft.discard();
                focusSave(event.currentTarget.form);
              }}
            >
              {text.discard}
            </button>
            <span class="note">{text.unsaved}</span>
          </>
        )}
        {buttons}
      </div>
    </form>
  );
}

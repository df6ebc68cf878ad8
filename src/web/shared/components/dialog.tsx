// A modal dialog on the browser's own <dialog>, which keeps the focus inside while it is open.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { useAction } from "../action";
import { common } from "../messages";
import { CopyField } from "./copy-button";
import { form as formText } from "../messages/form";
import { SaveError } from "./save-error";
import { FormError } from "./states";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Wider, for what is read rather than asked. */
  isWide?: boolean;
  /** A click beside the dialog closes it, unless what it shows is shown only once. */
  keepOpen?: boolean;
}

export function Dialog({ title, onClose, children, isWide, keepOpen }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // A layout effect, so that a dialog has given the focus back before the one that takes its place opens.
  useLayoutEffect(() => {
    const element = dialog.current!;
    const opener = document.activeElement as HTMLElement | null;
    element.showModal();
    return () => {
      element.close();
      // The browser gives the focus back only to a dialog that is still in the page.
      if (opener?.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? "wide" : undefined}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!keepOpen) onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current && !keepOpen) onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface FormProps {
  title: string;
  /** What the form's button says. */
  button: string;
  onSubmit: () => Promise<void>;
  onClose: () => void;
  /** Loads what is changed, which somebody else may have changed meanwhile. What was typed stays. */
  reload?: () => Promise<void>;
  children: ComponentChildren;
}

/** Asks for what a change needs; stays open with the reason when the change fails. */
export function FormDialog({ title, button, onSubmit, onClose, reload, children }: FormProps) {
  const action = useAction(onSubmit);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void action.run();
        }}
      >
        {children}
        {reload ? <SaveError error={action.error} reload={reload} /> : <FormError error={action.error} />}
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={onClose}>
            {common.cancel}
          </button>
          <button type="submit" class="button primary" aria-disabled={action.isRunning}>
            {button}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface TextFieldProps {
  label: string;
  hint?: string;
  longest: number;
  value: string;
  onChange: (value: string) => void;
}

/** A line of text that a form needs. */
export function TextField({ label, hint, longest, value, onChange }: TextFieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        required
        maxLength={longest}
        autocomplete="off"
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {hint && <small>{hint}</small>}
    </label>
  );
}

interface SecretProps {
  title: string;
  text: string;
  label: string;
  value: string;
  onClose: () => void;
}

/** Shows what is shown only once, to be copied. */
export function SecretDialog({ title, text, label, value, onClose }: SecretProps) {
  return (
    <Dialog title={title} onClose={onClose} keepOpen>
      <p>{text}</p>
      <CopyField label={label} value={value} />
      <div class="dialog-buttons">
        <button type="button" class="button primary" onClick={onClose}>
          {common.done}
        </button>
      </div>
    </Dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** Several are paragraphs. */
  text: string | string[];
  button: string;
  cancel?: string;
  dangerous?: boolean;
  onConfirm: () => Promise<void>;
  onClose: () => void;
  /** Loads what is changed, which somebody else may have changed meanwhile. */
  reload?: () => Promise<void>;
}

/** Asks before a change; stays open with the reason when the change fails. */
export function Confirm(props: ConfirmProps) {
  const { title, text, button, cancel = common.cancel, dangerous, onConfirm, onClose, reload } = props;
  const action = useAction(onConfirm);
  return (
    <Dialog title={title} onClose={onClose}>
      {[text].flat().map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
      {reload ? (
        <SaveError
          error={action.error}
          reload={reload}
          explanation={formText.changedAsked}
          loaded={formText.loadedAsked}
        />
      ) : (
        <FormError error={action.error} />
      )}
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          {cancel}
        </button>
        <button
          type="button"
          class={dangerous ? "button danger" : "button primary"}
          data-confirms
          aria-disabled={action.isRunning}
          onClick={() => void action.run()}
        >
          {button}
        </button>
      </div>
    </Dialog>
  );
}

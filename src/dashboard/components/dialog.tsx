// A modal dialog on the browser's own <dialog>, which keeps the focus inside while it is open.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { useAction } from "../action";
import { common } from "../messages";
import { FormError } from "./states";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** A click beside the dialog closes it, unless what it shows is shown only once. */
  keepOpen?: boolean;
}

export function Dialog({ title, onClose, children, keepOpen }: Props) {
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

interface ConfirmProps {
  title: string;
  text: string;
  button: string;
  dangerous?: boolean;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** Asks before a change; stays open with the reason when the change fails. */
export function Confirm({ title, text, button, dangerous, onConfirm, onClose }: ConfirmProps) {
  const action = useAction(onConfirm);
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <FormError error={action.error} />
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          {common.cancel}
        </button>
        <button
          type="button"
          class={dangerous ? "button danger" : "button primary"}
          aria-disabled={action.isRunning}
          onClick={() => void action.run()}
        >
          {button}
        </button>
      </div>
    </Dialog>
  );
}

// A modal dialog on the browser's own <dialog>, which keeps the focus inside while it is open.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { common } from "../messages";
import { isSignedOut } from "../session";
import { Button, PrimaryButton } from "./button";

/** True if an element is neither behind the sign-in view nor behind a dialog. */
export const isReachable = (element: Element) =>
  !element.closest("[hidden]") &&
  element.closest("dialog") === ([...document.querySelectorAll("dialog[open]")].at(-1) ?? null);

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Makes the dialog wider, for content to read rather than a question. */
  isWide?: boolean;
  /** Keeps the dialog open if somebody clicks outside it, because its content is shown only once. */
  keepOpen?: boolean;
}

export function Dialog({ title, onClose, children, isWide, keepOpen }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const opener = useRef<Element | null>(null);
  const pressed = useRef<EventTarget | null>(null);
  const isCovered = isSignedOut.value;
  // A layout effect, so that a dialog gives the focus back before the next dialog opens in its place.
  useLayoutEffect(() => {
    const element = dialog.current!;
    // A dialog behind the sign-in view is closed, because an open one would make that view unusable.
    if (isCovered) return;
    opener.current ??= document.activeElement;
    element.showModal();
    return () => {
      element.close();
      // The browser gives the focus back only to a dialog that is still in the page.
      if (opener.current?.isConnected) (opener.current as HTMLElement).focus();
    };
  }, [isCovered]);
  return (
    <dialog
      ref={dialog}
      class={isWide ? "wide" : undefined}
      aria-labelledby={titleId}
      onCancel={(event) => {
        // A file field inside also cancels, when its own window is closed.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        if (!keepOpen) onClose();
      }}
      onClose={() => {
        // Browsers close a dialog at the second Escape, whatever the page says.
        if (!dialog.current?.isConnected || isSignedOut.peek()) return;
        if (keepOpen) dialog.current.showModal();
        else onClose();
      }}
      onPointerDown={(event) => {
        pressed.current = event.target;
      }}
      onClick={(event) => {
        // A selection of text may begin inside and end outside.
        const isOutside = event.target === dialog.current && pressed.current === dialog.current;
        if (isOutside && !keepOpen) onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface ButtonsProps {
  onClose: () => void;
  cancel?: string;
  /** True if closing is the only choice. */
  isOnly?: boolean;
  /** Reloads an answer that failed to load. */
  retry?: (() => void) | false;
  children?: ComponentChildren;
}

/** The buttons at the foot of a dialog: one cancels, the others continue. */
export const DialogButtons = ({ onClose, cancel = common.cancel, isOnly, retry, children }: ButtonsProps) => (
  <div class="dialog-buttons">
    <Button class={isOnly ? "button primary" : "button"} onClick={onClose}>
      {cancel}
    </Button>
    {retry && <PrimaryButton onClick={retry}>{common.retry}</PrimaryButton>}
    {children}
  </div>
);

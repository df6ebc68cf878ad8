// Buttons that do something at once.

import type { ComponentChildren } from "preact";
import type { Action } from "../action";

interface Props {
  class?: string;
  onClick: (event: { currentTarget: HTMLButtonElement }) => void;
  children: ComponentChildren;
}

export const Button = ({ class: name = "button", onClick, children }: Props) => (
  <button type="button" class={name} onClick={onClick}>
    {children}
  </button>
);

/** Starts an action, unless it is running. */
export const RunButton = ({ of, class: name = "button", children }: Omit<Props, "onClick"> & { of: Action<[]> }) => (
  <button type="button" class={name} aria-disabled={of.isRunning} onClick={() => void of.run()}>
    {children}
  </button>
);

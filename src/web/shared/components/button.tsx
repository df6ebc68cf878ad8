// Buttons that do something at once, and links that look like them.

import type { ComponentChildren } from "preact";
import type { Action } from "../action";
import { Plus } from "./icons";

interface Props {
  class?: string;
  /** Read aloud in place of the content. */
  label?: string;
  isDisabled?: boolean;
  onClick: (event: { currentTarget: HTMLButtonElement }) => void;
  children: ComponentChildren;
}

export const Button = ({ class: name = "button", label, isDisabled, onClick, children }: Props) => (
  <button
    type="button"
    class={name}
    aria-label={label}
    aria-disabled={isDisabled}
    onClick={(event) => !isDisabled && onClick(event)}
  >
    {children}
  </button>
);

const styled = (name: string) => (props: Omit<Props, "class">) => <Button class={name} {...props} />;

export const PrimaryButton = styled("button primary");
export const SmallButton = styled("button small");
export const WideButton = styled("button wide");
/** Takes something away, or asks whether to take it away. */
export const DangerButton = styled("button danger-text");

/** Creates something, or opens the form for it. */
export const AddButton = ({ onClick, children }: Omit<Props, "class">) => (
  <PrimaryButton onClick={onClick}>
    <Plus /> {children}
  </PrimaryButton>
);

interface LinkProps {
  class?: string;
  href: string;
  children: ComponentChildren;
}

export const LinkButton = ({ class: name = "button", href, children }: LinkProps) => (
  <a class={name} href={href}>
    {children}
  </a>
);

interface RunProps {
  of: Action<[]>;
  class?: string;
  children: ComponentChildren;
}

/** Starts an action, unless it is running. */
export const RunButton = ({ of, class: name = "button", children }: RunProps) => (
  <Button class={name} isDisabled={of.isRunning} onClick={() => void of.run()}>
    {children}
  </Button>
);

const running = (name: string) => (props: Omit<RunProps, "class">) => <RunButton class={name} {...props} />;

export const PrimaryRun = running("button primary");
export const WideRun = running("button primary wide");
export const SmallRun = running("button small");

// A form that the page sends by itself, with its button.

import type { ComponentChildren } from "preact";

interface FormProps {
  class?: string;
  noValidate?: boolean;
  onSubmit: () => void;
  children: ComponentChildren;
}

export const Form = ({ onSubmit, children, ...own }: FormProps) => (
  <form
    {...own}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  >
    {children}
  </form>
);

interface SubmitProps {
  class?: string;
  isDisabled?: boolean;
  children: ComponentChildren;
}

export const SubmitButton = ({ class: name = "button primary", isDisabled, children }: SubmitProps) => (
  <button type="submit" class={name} aria-disabled={isDisabled}>
    {children}
  </button>
);

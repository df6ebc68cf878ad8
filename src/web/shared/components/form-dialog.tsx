// Dialogs that ask for the input of a change, and dialogs that show its result.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../action";
import { inWords } from "../error-text";
import type { FieldErrors } from "../field-errors";
import { common } from "../messages";
import { form as formText } from "../messages/form";
import type { Decision } from "../use-merged";
import { CopyField } from "./copy-button";
import { Dialog, DialogButtons } from "./dialog";
import { Input, type InputProps } from "./field";
import { Form, SubmitButton } from "./form";
import { SaveError } from "./save-error";
import { FormError } from "./states";

interface FormProps {
  title: string;
  /** The label of the submit button. */
  button: string;
  cancel?: string;
  dangerous?: boolean;
  onSubmit: () => Promise<void>;
  onClose: () => void;
  /** Reloads the document after somebody else changed it. The typed text stays. */
  reload?: () => Promise<unknown>;
  loaded?: string;
  /** Fields that somebody else has also changed. */
  clashes?: Decision[];
  /** The errors of the fields that the children show. */
  errorsOf?: (error: unknown) => FieldErrors;
  /** The errors that only this form has, by their codes, in words. */
  words?: Record<string, string>;
  /** Keeps the form from being sent. */
  isWrong?: boolean;
  children: ComponentChildren | ((errors: FieldErrors) => ComponentChildren);
}

const NO_FIELDS = (error: unknown): FieldErrors => ({ of: () => null, rest: error });

/** Asks for the input of a change. If the change fails, stays open and shows the reason. */
export function FormDialog(props: FormProps) {
  const { title, button, cancel, dangerous, onSubmit, onClose, reload, loaded, clashes = [] } = props;
  const { errorsOf = NO_FIELDS, words, children } = props;
  const isWrong = props.isWrong || clashes.length > 0;
  const action = useAction(onSubmit);
  const errors = errorsOf(action.error);
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={() => !isWrong && void action.run()}>
        {typeof children === "function" ? children(errors) : children}
        {reload ? (
          <SaveError error={errors.rest} reload={reload} loaded={loaded} clashes={clashes} />
        ) : (
          <FormError error={inWords(errors.rest, words ?? {}, null)} />
        )}
        <DialogButtons onClose={onClose} cancel={cancel}>
          <SubmitButton class={dangerous ? "button danger" : undefined} isDisabled={action.isRunning || isWrong}>
            {button}
          </SubmitButton>
        </DialogButtons>
      </Form>
    </Dialog>
  );
}

export interface ConfirmProps extends Omit<FormProps, "onSubmit" | "children"> {
  /** Several texts are shown as paragraphs. */
  text: string | string[];
  onConfirm: (close: () => void) => Promise<void>;
  /** Shown below the text. */
  children?: ComponentChildren;
}

export const Confirm = ({ text, onConfirm, children, ...own }: ConfirmProps) => (
  <FormDialog {...own} loaded={formText.loadedAsked} onSubmit={() => onConfirm(own.onClose)}>
    {[text].flat().map((paragraph) => (
      <p key={paragraph}>{paragraph}</p>
    ))}
    {children}
  </FormDialog>
);

/**
 * A question about a subject: the function that asks it, and its dialog, drawn from `of` while it is open. So the words
 * and the change are always those of the newest answers.
 */
export function useQuestion<Subject>(
  of: (subject: Subject) => Omit<ConfirmProps, "onClose">,
): [(subject: Subject) => void, ComponentChildren] {
  const [subject, setSubject] = useState<Subject | null>(null);
  return [setSubject, subject !== null && <Confirm {...of(subject)} onClose={() => setSubject(null)} />];
}

/** A line of text that a form needs. */
export const TextField = ({ longest, ...own }: InputProps & { longest: number }) => (
  <Input {...own} required maxLength={longest} />
);

interface SecretProps {
  title: string;
  text: string;
  label: string;
  value: string;
  onClose: () => void;
}

/** Shows a secret that is shown only once, so that it can be copied. */
export function SecretDialog({ title, text, label, value, onClose }: SecretProps) {
  return (
    <Dialog title={title} onClose={onClose} keepOpen>
      <p>{text}</p>
      <CopyField label={label} value={value} />
      <DialogButtons onClose={onClose} cancel={common.done} isOnly />
    </Dialog>
  );
}

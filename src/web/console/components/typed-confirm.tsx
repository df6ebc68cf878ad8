// Asks before a change that nobody can undo. The change is made only after an id was typed.

import { useState } from "preact/hooks";
import { Input } from "../../shared/components/field";
import { type ConfirmProps, FormDialog } from "../../shared/components/form-dialog";
import { typed as words } from "../messages/typed";

type Props = Pick<ConfirmProps, "title" | "text" | "button" | "onConfirm" | "onClose" | "reload"> & {
  /** The name for this kind of id. */
  what: string;
  id: string;
};

export function TypedConfirm({ text, what, id, onConfirm, ...own }: Props) {
  const [typed, setTyped] = useState("");
  const [isWrong, setWrong] = useState(false);
  const isOther = typed !== id;
  return (
    <FormDialog
      {...own}
      dangerous
      onSubmit={async () => {
        setWrong(isOther);
        if (!isOther) await onConfirm(own.onClose);
      }}
    >
      {[text].flat().map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
      <Input
        label={words.label(what)}
        // Show the id unchanged, because it has to be copied exactly.
        hint={<bdi>{words.hint(id)}</bdi>}
        error={isWrong && isOther ? words.mismatch(what) : null}
        required
        spellcheck={false}
        value={typed}
        onChange={setTyped}
      />
    </FormDialog>
  );
}

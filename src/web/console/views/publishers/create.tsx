// A new publisher. It is refused where there is one with its id.

import { useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { isChangedMeanwhile } from "../../../shared/client";
import { Dialog } from "../../../shared/components/dialog";
import { Field } from "../../../shared/components/field";
import { FormError } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { fieldErrors } from "../../../shared/field-errors";
import { LONGEST_NAME } from "../../../shared/limits";
import { navigate } from "../../../shared/navigation";
import { withVerification } from "../../../shared/passkeys";
import { publishersApi as api } from "../../api/publishers";
import { isId, LONGEST_ID } from "../../ids";
import { common } from "../../messages";
import { publishers as text } from "../../messages/publishers";
import { publisherPath } from "../../router";

/** "Lumen Arcade" as lumen-arcade. */
const idOf = (name: string) =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9\s-]/g, "")
    .trim()
    .replace(/[\s-]+/g, "-")
    .slice(0, LONGEST_ID);

export function CreatePublisher({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [typedId, setId] = useState<string | null>(null);
  const [approved, setApproved] = useState(false);
  const [taken, setTaken] = useState<string | null>(null);
  const id = typedId ?? idOf(name);
  const isBad = id !== "" && !isId(id);
  const action = useAction(async () => {
    const given = { name: name.trim(), approved };
    try {
      await withVerification(() => api.create(id, given));
    } catch (error) {
      if (isChangedMeanwhile(error)) return setTaken(id);
      throw error;
    }
    say(text.created(given.name));
    onClose();
    navigate(publisherPath(id));
  });
  const errors = fieldErrors(action.error, ["name", "publisher_id"]);
  const idError = isBad ? text.badId : taken === id ? text.isTaken(id) : errors.of("publisher_id");
  return (
    <Dialog title={text.create} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (id !== "" && !isBad) void action.run();
        }}
      >
        <p>{text.createText}</p>
        <Field label={text.nameOf} hint={text.nameHint} error={errors.of("name")}>
          {(props) => (
            <input
              {...props}
              type="text"
              required
              maxLength={LONGEST_NAME}
              autocomplete="off"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={text.id} hint={text.idHint} error={idError}>
          {(props) => (
            <input
              {...props}
              type="text"
              required
              maxLength={LONGEST_ID}
              autocomplete="off"
              spellcheck={false}
              value={id}
              onInput={(event) => setId(event.currentTarget.value)}
            />
          )}
        </Field>
        <label class="choice">
          <input type="checkbox" checked={approved} onChange={(event) => setApproved(event.currentTarget.checked)} />
          <span>{text.approveAtOnce}</span>
          <span class="choice-hint">{text.approveHint}</span>
        </label>
        <FormError error={errors.rest} />
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={onClose}>
            {common.cancel}
          </button>
          <button type="submit" class="button primary" aria-disabled={action.isRunning || isBad}>
            {text.createIt}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

// Creates a publisher. Refused if a publisher with this id exists.

import { useState } from "preact/hooks";
import { isChangedMeanwhile } from "../../../shared/client";
import { Checkbox, Input } from "../../../shared/components/field";
import { FormDialog } from "../../../shared/components/form-dialog";
import { say } from "../../../shared/components/status";
import { fieldErrors } from "../../../shared/field-errors";
import { MAX_NAME } from "../../../shared/limits";
import { navigate } from "../../../shared/navigation";
import { putTagged } from "../../api";
import { isId, MAX_ID } from "../../ids";
import { publishers as text } from "../../messages/publishers";
import { publisherPath } from "../../router";

/** Suggests an id: lumen-arcade for "Lumen Arcade". */
const idOf = (name: string) =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9\s-]/g, "")
    .trim()
    .replace(/[\s-]+/g, "-")
    .slice(0, MAX_ID);

export function CreatePublisher({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [typedId, setId] = useState<string | null>(null);
  const [approved, setApproved] = useState(false);
  const [taken, setTaken] = useState<string | null>(null);
  const id = typedId ?? idOf(name);
  const isBad = id !== "" && !isId(id);
  const create = async () => {
    const given = { name: name.trim(), approved };
    try {
      await putTagged("/publishers/{publisher_id}", { publisher_id: id }, given, null);
    } catch (error) {
      if (isChangedMeanwhile(error)) return setTaken(id);
      throw error;
    }
    say(text.created(given.name));
    onClose();
    navigate(publisherPath(id));
  };
  return (
    <FormDialog
      title={text.create}
      button={text.createIt}
      onSubmit={create}
      onClose={onClose}
      errorsOf={(error) => fieldErrors(error, ["name", "publisher_id"])}
      isWrong={isBad}
    >
      {(errors) => (
        <>
          <p>{text.createText}</p>
          <Input
            label={text.nameOf}
            hint={text.nameHint}
            error={errors.of("name")}
            required
            maxLength={MAX_NAME}
            value={name}
            onChange={setName}
          />
          <Input
            label={text.id}
            hint={text.idHint}
            error={isBad ? text.badId : taken === id ? text.isTaken(id) : errors.of("publisher_id")}
            required
            maxLength={MAX_ID}
            spellcheck={false}
            value={id}
            onChange={setId}
          />
          <Checkbox class="choice" checked={approved} onChange={setApproved}>
            <span>{text.approveAtOnce}</span>
            <span class="choice-hint">{text.approveHint}</span>
          </Checkbox>
        </>
      )}
    </FormDialog>
  );
}

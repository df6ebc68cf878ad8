// Approves, suspends and edits a publisher. A write replaces the whole document, so it is read anew just before.

import { useState } from "preact/hooks";
import { Confirm, FormDialog, TextField } from "../../../pages/components/dialog";
import { Field } from "../../../pages/components/field";
import { focusHeading } from "../../../pages/components/heading";
import { say } from "../../../pages/components/status";
import { withVerification } from "../../../pages/passkeys";
import { publishersApi as api } from "../../api/publishers";
import { publisher as text, publishers } from "../../messages/publishers";
import type { Publisher } from "../../types/publishers";
import { LONGEST_NAME } from "./create";

export type StateDialog = "approve" | "suspend" | "edit";

interface Props {
  dialog: StateDialog;
  publisher: Publisher;
  onChanged: () => Promise<void>;
  onClose: () => void;
}

type Change = Partial<Omit<Publisher, "publisher_id">>;

async function write(publisherId: string, change: Change) {
  const { publisher_id: _, ...kept } = await api.read(publisherId);
  await api.write(publisherId, { ...kept, ...change });
}

export function StateDialogs({ dialog, publisher, onChanged, onClose }: Props) {
  const { publisher_id: id, name } = publisher;
  const change = async (to: Change, said: string) => {
    await withVerification(() => write(id, to));
    say(said);
    onClose();
    await onChanged();
    focusHeading();
  };
  switch (dialog) {
    case "approve":
      return (
        <Confirm
          title={text.approveTitle(name)}
          text={text.approveText}
          button={text.approve}
          onConfirm={() => change({ approved: true }, text.approvedNow(name))}
          onClose={onClose}
        />
      );
    case "suspend":
      return (
        <Confirm
          title={text.suspendTitle(name)}
          text={text.suspendText}
          button={text.suspend}
          dangerous
          onConfirm={() => change({ approved: false }, text.suspended(name))}
          onClose={onClose}
        />
      );
    case "edit":
      return <Edit publisher={publisher} onSave={(to) => change(to, text.saved)} onClose={onClose} />;
  }
}

interface EditProps {
  publisher: Publisher;
  onSave: (change: Change) => Promise<void>;
  onClose: () => void;
}

function Edit({ publisher, onSave, onClose }: EditProps) {
  const [name, setName] = useState(publisher.name);
  const [most, setMost] = useState(publisher.max_apps == null ? "" : String(publisher.max_apps));
  return (
    <FormDialog
      title={text.editTitle(publisher.name)}
      button={text.save}
      onSubmit={() => onSave({ name: name.trim(), max_apps: most === "" ? null : Number(most) })}
      onClose={onClose}
    >
      <TextField
        label={publishers.nameOf}
        hint={publishers.nameHint}
        longest={LONGEST_NAME}
        value={name}
        onChange={setName}
      />
      <Field label={text.mostApps} hint={text.mostAppsHint}>
        {(props) => (
          <input
            {...props}
            type="number"
            min={0}
            max={1000}
            step={1}
            value={most}
            onInput={(event) => setMost(event.currentTarget.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}

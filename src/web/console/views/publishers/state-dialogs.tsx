// Approves, suspends, closes and edits a publisher.

import { put } from "../../../shared/cache";
import { confirmed } from "../../../shared/change";
import type { Tagged } from "../../../shared/client";
import { Input } from "../../../shared/components/field";
import { Confirm, FormDialog, TextField } from "../../../shared/components/form-dialog";
import { named, useMerged } from "../../../shared/use-merged";
import { MAX_NAME } from "../../../shared/limits";
import type { KeptPublisher, Publisher } from "../../../shared/generated/openapi";
import { putTagged } from "../../api";
import { TypedConfirm } from "../../components/typed-confirm";
import { publisher as text, publishers } from "../../messages/publishers";
import { publisherKey } from "../cache-keys";

export type StateDialog = "approve" | "suspend" | "close" | "edit";

interface Props {
  dialog: StateDialog;
  publisher: Tagged<KeptPublisher>;
  /** Loads the publisher again. */
  reload: () => Promise<unknown>;
  onClose: () => void;
}

type Change = Partial<Publisher>;

export function StateDialogs({ dialog, publisher, reload, onClose }: Props) {
  const { publisher_id: id, name } = publisher;
  const change = (to: Change, said: string) =>
    confirmed(async () => {
      const { publisher_id, ...document } = publisher;
      const changed = putTagged("/publishers/{publisher_id}", { publisher_id }, { ...document, ...to }, publisher);
      put(publisherKey(id), await changed);
    }, said);
  const questions = {
    approve: {
      title: text.approveTitle(name),
      text: text.approveText,
      button: text.approve,
      onConfirm: change({ approved: true }, text.approvedNow(name)),
    },
    suspend: {
      title: text.suspendTitle(name),
      text: text.suspendText,
      button: text.suspend,
      dangerous: true,
      onConfirm: change({ approved: false }, text.suspended(name)),
    },
  };
  switch (dialog) {
    case "close":
      return (
        <TypedConfirm
          title={text.closeTitle(name)}
          text={text.closeText}
          button={text.close}
          what={text.typedId}
          id={id}
          onConfirm={change({ approved: false, closed: true }, text.closed(name))}
          onClose={onClose}
          reload={reload}
        />
      );
    case "edit":
      return <Edit {...{ publisher, onClose, reload }} onSave={(to) => change(to, text.saved)(onClose)} />;
    default:
      return <Confirm {...questions[dialog]} onClose={onClose} reload={reload} />;
  }
}

interface EditProps {
  publisher: KeptPublisher;
  onSave: (change: Change) => Promise<void>;
  onClose: () => void;
  reload: () => Promise<unknown>;
}

function Edit({ publisher, onSave, onClose, reload }: EditProps) {
  const saved = { name: publisher.name, most: publisher.max_apps == null ? "" : String(publisher.max_apps) };
  const typed = useMerged(saved, named({ name: publishers.nameOf, most: text.mostApps }));
  const { name, most } = typed.values;
  return (
    <FormDialog
      title={text.editTitle(publisher.name)}
      button={text.save}
      onSubmit={() => onSave({ name: name.trim(), max_apps: most === "" ? null : Number(most) })}
      onClose={onClose}
      reload={reload}
      clashes={typed.clashes}
    >
      <TextField
        label={publishers.nameOf}
        hint={publishers.nameHint}
        longest={MAX_NAME}
        value={name}
        onChange={(name) => typed.set({ name, most })}
      />
      <Input
        label={text.mostApps}
        hint={text.mostAppsHint}
        inputMode="numeric"
        pattern="\d{1,3}|1000"
        value={most}
        onChange={(most) => typed.set({ name, most })}
      />
    </FormDialog>
  );
}

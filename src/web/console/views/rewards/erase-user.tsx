// Erases a user of an app, once the user id was typed.

import { useState } from "preact/hooks";
import { Input } from "../../../shared/components/field";
import { FormDialog } from "../../../shared/components/form-dialog";
import { say } from "../../../shared/components/status";
import { withVerification } from "../../../shared/passkeys";
import { rewardsApi } from "../../api/rewards";
import { erase as text } from "../../messages/rewards";

interface Props {
  appId: string;
  userId: string;
  onClose: () => void;
  reload: () => Promise<void>;
}

export function EraseUser({ appId, userId, onClose, reload }: Props) {
  const [typed, setTyped] = useState("");
  const [isWrong, setWrong] = useState(false);
  return (
    <FormDialog
      title={text.title}
      button={text.button}
      onClose={onClose}
      onSubmit={async () => {
        setWrong(typed !== userId);
        if (typed !== userId) return;
        const { erased, waiting } = await withVerification(() => rewardsApi.eraseUser(appId, userId));
        onClose();
        say(text.done(erased, waiting));
        await reload();
      }}
    >
      <p>{text.text}</p>
      <Input
        label={text.label}
        // As it is, because it has to be copied whole.
        hint={<bdi>{text.hint(userId)}</bdi>}
        error={isWrong && typed !== userId ? text.mismatch : null}
        required
        spellcheck={false}
        value={typed}
        onChange={setTyped}
      />
    </FormDialog>
  );
}

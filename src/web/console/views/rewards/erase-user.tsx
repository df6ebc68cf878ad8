// Erases a user of an app, after the user id was typed to confirm it.

import { say } from "../../../shared/components/status";
import { post } from "../../api";
import { TypedConfirm } from "../../components/typed-confirm";
import { erase as text } from "../../messages/rewards";

interface Props {
  appId: string;
  userId: string;
  onClose: () => void;
  reload: () => Promise<unknown>;
}

export const EraseUser = ({ appId, userId, onClose, reload }: Props) => (
  <TypedConfirm
    title={text.title}
    text={text.text}
    button={text.button}
    what={text.what}
    id={userId}
    onConfirm={async () => {
      const { erased, waiting } = await post("/apps/{app_id}/erase_user", { app_id: appId }, { user_id: userId });
      onClose();
      say(text.done(erased, waiting));
      await reload();
    }}
    onClose={onClose}
  />
);

// One user's data over all apps: downloaded as a file, or erased.

import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { Button, DangerButton } from "../../../shared/components/button";
import { Dialog, DialogButtons } from "../../../shared/components/dialog";
import { Confirm } from "../../../shared/components/form-dialog";
import { Input } from "../../../shared/components/field";
import { Form, SubmitButton } from "../../../shared/components/form";
import { FormError, SaidNote } from "../../../shared/components/states";
import { post } from "../../api";
import { common } from "../../messages";
import { userData as text } from "../../messages/rewards";
import type { ErasedUser, UserData as Data } from "../../types";

interface Props {
  /** The user whose rewards the log shows; empty if the log is not limited to a user. */
  user: string;
  onErased: () => void;
}

/** The button, and its dialogs one after the other. */
export function UserData({ user: shown, onErased }: Props) {
  const [step, setStep] = useState<"ask" | "erase" | ErasedUser | null>(null);
  const [user, setUser] = useState("");
  const close = () => setStep(null);
  return (
    <>
      <Button
        onClick={() => {
          setUser(shown);
          setStep("ask");
        }}
      >
        {text.title}
      </Button>
      {step === "ask" ? (
        <Ask key="ask" user={user} onChange={setUser} onErase={() => setStep("erase")} onClose={close} />
      ) : step === "erase" ? (
        <Erase
          key="erase"
          user={user.trim()}
          onErased={(total) => {
            setStep(total);
            onErased();
          }}
          onClose={() => setStep("ask")}
        />
      ) : (
        step && <Erased key="erased" user={user.trim()} total={step} onClose={close} />
      )}
    </>
  );
}

interface AskProps {
  user: string;
  onChange: (user: string) => void;
  onErase: () => void;
  onClose: () => void;
}

function Ask({ user, onChange, onErase, onClose }: AskProps) {
  const [said, setSaid] = useState("");
  const isOpen = useRef(true);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );
  const download = useAction(async () => {
    const id = user.trim();
    setSaid("");
    const conversions: Data["conversions"] = [];
    let cursor: string | null = null;
    do {
      const from: string | null = cursor;
      const page: Data = await post("/users/export", {}, { user_id: id, cursor: from });
      if (!isOpen.current) return;
      conversions.push(...page.conversions);
      cursor = page.cursor;
    } while (cursor !== null);
    if (conversions.length > 0) save(text.fileName(id), { user_id: id, conversions });
    setSaid(conversions.length > 0 ? text.downloaded(conversions.length) : text.none(id));
  });
  return (
    <Dialog title={text.title} onClose={onClose}>
      <Form onSubmit={() => void download.run()}>
        <p>{text.text}</p>
        <Input label={text.user} hint={text.hint} required spellcheck={false} value={user} onChange={onChange} />
        {said && <SaidNote>{said}</SaidNote>}
        <FormError error={download.error} />
        <DialogButtons onClose={onClose} cancel={common.close}>
          <DangerButton onClick={({ currentTarget: { form } }) => form!.reportValidity() && user.trim() && onErase()}>
            {text.erase}
          </DangerButton>
          <SubmitButton isDisabled={download.isRunning}>
            {download.isRunning ? text.downloading : text.download}
          </SubmitButton>
        </DialogButtons>
      </Form>
    </Dialog>
  );
}

/** Has the browser write a file. */
function save(name: string, contents: object) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(contents, null, 2)], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

interface EraseProps {
  user: string;
  onErased: (total: ErasedUser) => void;
  onClose: () => void;
}

function Erase({ user, onErased, onClose }: EraseProps) {
  // A retry continues where the last try failed.
  const total = useRef<ErasedUser>({ apps: 0, erased: 0, waiting: 0, cursor: null });
  return (
    <Confirm
      title={text.eraseTitle(user)}
      text={text.eraseText}
      button={text.eraseIt}
      dangerous
      onConfirm={async () => {
        do {
          const { apps, erased, waiting, cursor } = total.current;
          const next = await post("/users/erase", {}, { user_id: user, cursor });
          total.current = {
            apps: apps + next.apps,
            erased: erased + next.erased,
            waiting: waiting + next.waiting,
            cursor: next.cursor,
          };
        } while (total.current.cursor !== null);
        onErased(total.current);
      }}
      onClose={onClose}
    />
  );
}

function Erased({ user, total, onClose }: { user: string; total: ErasedUser; onClose: () => void }) {
  const { apps, erased, waiting } = total;
  const isKnown = erased + waiting > 0;
  return (
    <Dialog title={isKnown ? text.erasedTitle(user, waiting) : text.nothingTitle(user)} onClose={onClose}>
      <p>
        {erased > 0 && text.erased(erased)} {waiting > 0 && text.waiting(waiting)} {text.apps(apps)}
      </p>
      <DialogButtons onClose={onClose} cancel={common.done} isOnly />
    </Dialog>
  );
}

// The URL that receives alarms: a form for it, a test, and the result of the last message. Each site has its own calls.

import { useState } from "preact/hooks";
import { useAction } from "../action";
import { useCached } from "../cache";
import { confirmed } from "../change";
import { AddButton, Button, DangerButton, RunButton } from "../components/button";
import { Facts } from "../components/facts";
import { FormDialog, SecretDialog, TextField, useQuestion } from "../components/form-dialog";
import { Loaded } from "../components/loaded";
import { Empty, FormError } from "../components/states";
import { tell } from "../components/status";
import { count, timeText } from "../format";
import { SECTION_NAMES } from "../messages";
import { alarms as text } from "../messages/alarms";
import type { AlarmAddressIfAny, AlarmsTested, NewAlarmAddress, NewAlarmSecret } from "../types";
import { Page } from "./page";

const LONGEST_URL = 4096;

interface Props {
  /** The events that the site's alarms report. */
  intro: string;
  mayChange: boolean;
  /** The calls by the paths that both sites have. */
  calls: {
    get: (path: "/alarms", parameters: object) => Promise<AlarmAddressIfAny>;
    put: (path: "/alarms", parameters: object, body: NewAlarmAddress) => Promise<NewAlarmSecret>;
    remove: (path: "/alarms", parameters: object) => Promise<void>;
    post: (path: "/alarms/test", parameters: object) => Promise<AlarmsTested>;
  };
}

export function Alarms({ intro, mayChange, calls }: Props) {
  const alarms = useCached("alarms", () => calls.get("/alarms", {}));
  const [isSetting, setSetting] = useState(false);
  const [askToEnd, question] = useQuestion(() => ({
    title: text.endTitle,
    text: text.endText,
    button: text.end,
    dangerous: true,
    onConfirm: confirmed(() => calls.remove("/alarms", {}), text.ended, alarms.reload),
  }));
  const test = useAction(async () => {
    const { http_status, error } = await calls.post("/alarms/test", {});
    tell(text.tested(http_status, error));
    await alarms.reload();
  });
  const set = <AddButton onClick={() => setSetting(true)}>{text.set}</AddButton>;
  return (
    <Page section="alarms" note={intro}>
      <FormError error={test.error} />
      <Loaded of={alarms}>
        {({ address }) =>
          address === null ? (
            <Empty title={text.emptyTitle} action={mayChange && set}>
              {text.empty}
            </Empty>
          ) : (
            <>
              <Facts
                title={SECTION_NAMES.alarms}
                facts={[
                  [text.address, <span class="long">{address.url ?? text.unreadable}</span>],
                  [text.setAt, timeText(address.set_ts)],
                  [text.lastTry, address.last_try ? text.answered(address.last_try) : text.never],
                  [text.waiting, count(address.waiting)],
                ]}
              />
              {mayChange && (
                <div class="row">
                  <RunButton of={test}>{test.isRunning ? text.testing : text.test}</RunButton>
                  <Button onClick={() => setSetting(true)}>{text.change}</Button>
                  <DangerButton onClick={askToEnd}>{text.end}</DangerButton>
                </div>
              )}
            </>
          )
        }
      </Loaded>
      {isSetting && <SetAddress calls={calls} onClose={() => setSetting(false)} onSet={alarms.reload} />}
      {question}
    </Page>
  );
}

interface SetProps {
  calls: Props["calls"];
  onSet: () => Promise<unknown>;
  onClose: () => void;
}

function SetAddress({ calls, onSet, onClose }: SetProps) {
  const [url, setUrl] = useState("");
  const [secret, setSecret] = useState<string | null>(null);
  if (secret !== null) {
    return (
      <SecretDialog
        key="secret"
        title={text.secretTitle}
        text={text.secretText}
        label={text.secret}
        value={secret}
        onClose={() => {
          onClose();
          void onSet();
        }}
      />
    );
  }
  return (
    <FormDialog
      key="form"
      title={text.setIt}
      button={text.setIt}
      onSubmit={async () => setSecret((await calls.put("/alarms", {}, { url: url.trim() })).secret)}
      onClose={onClose}
    >
      <p>{text.setText}</p>
      <TextField label={text.address} hint={text.addressHint} longest={LONGEST_URL} value={url} onChange={setUrl} />
    </FormDialog>
  );
}

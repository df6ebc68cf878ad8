// Settles one reward, with a reason. Reasons against an approval are named, and can be overridden.

import { useState } from "preact/hooks";
import { ApiError } from "../../../shared/client";
import { Checkbox } from "../../../shared/components/field";
import { FormDialog, TextField } from "../../../shared/components/form-dialog";
import { say } from "../../../shared/components/status";
import { inWords } from "../../../shared/error-text";
import { isReasonCode } from "../../../shared/messages/rewards";
import type { ReasonCode, Settlement } from "../../../shared/generated/openapi";
import { post } from "../../api";
import { type Settling, settle as text } from "../../messages/rewards";

const MAX_REASON = 200;

/** The reason of a settlement, of one reward or of many. */
export const ReasonField = (typed: { value: string; onChange: (value: string) => void }) => (
  <TextField label={text.reason} hint={text.reasonHint} longest={MAX_REASON} {...typed} />
);

/** `despite` has the reasons that an approval overrides. */
export const settlementOf = (reason: string, despite: string[]): Settlement => ({
  reason: reason.trim(),
  ...(despite.length > 0 && { despite: despite as ReasonCode[] }),
});

export const settle = (app_id: string, transaction_id: string, action: Settling, settlement: Settlement) =>
  post(`/apps/{app_id}/conversions/{transaction_id}/${action}`, { app_id, transaction_id }, settlement);

interface Props {
  appId: string;
  transactionId: string;
  action: Settling;
  onClose: () => void;
  reload: () => Promise<unknown>;
}

export function SettleOne({ appId, transactionId, action, onClose, reload }: Props) {
  const [reason, setReason] = useState("");
  const [against, setAgainst] = useState<string[]>([]);
  const [despite, setDespite] = useState<string[]>([]);
  const submit = async () => {
    try {
      await settle(appId, transactionId, action, settlementOf(reason, despite));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code } = error;
      const mayOverride = action === "approve" && isReasonCode(code);
      if (mayOverride) setAgainst(against.includes(code) ? against : [...against, code]);
      throw inWords(error, { [code]: mayOverride ? text.against(code) : text.refusal(code) });
    }
    onClose();
    say(text.done[action]);
    await reload();
  };
  return (
    <FormDialog title={text.titles[action]} button={text.names[action]} onSubmit={submit} onClose={onClose}>
      <p>{text.texts[action]}</p>
      <ReasonField value={reason} onChange={setReason} />
      {against.map((code) => (
        <Checkbox
          class="choice"
          key={code}
          checked={despite.includes(code)}
          onChange={(isOn) => setDespite(isOn ? [...despite, code] : despite.filter((each) => each !== code))}
        >
          <span>{text.despite(code)}</span>
        </Checkbox>
      ))}
    </FormDialog>
  );
}

// Changes the ticked offers: asks for the edit, shows its result for each offer, then writes them one after the other.

import { useEffect, useState } from "preact/hooks";
import { type Action, useAction } from "../../../shared/action";
import { Button, PrimaryRun, SmallButton } from "../../../shared/components/button";
import { Dialog, DialogButtons } from "../../../shared/components/dialog";
import { Input, Select } from "../../../shared/components/field";
import { FormDialog } from "../../../shared/components/form-dialog";
import { FormError, Problem } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { column } from "../../../shared/components/table";
import type { KeptOffer } from "../../../shared/generated/openapi";
import { getTagged, putTagged } from "../../api";
import type { Ticks } from "../../components/ticks";
import { editMany as text } from "../../messages/offers";
import { nowSeconds } from "../../session";
import { type Edit, isComplete, isDone, NO_EDIT, percentOf, plan, type Planned, TYPED } from "./edit-many";
import { Changes } from "./review";

interface BarProps {
  offers: KeptOffer[];
  ticks: Ticks<KeptOffer>;
  onChanged: () => void;
}

/** The bar above the list while offers are ticked. */
export function EditBar({ offers, ticks, onChanged }: BarProps) {
  const [ids, setIds] = useState<string[] | null>(null);
  const chosen = offers.map(({ offer_id: id }) => id).filter((id) => ticks.ticked.has(id));
  return (
    <div class="row decide-bar" role="status">
      <span>{text.ticked(chosen.length)}</span>
      {chosen.length > 0 && (
        <>
          <SmallButton onClick={() => setIds(chosen)}>{text.edit}</SmallButton>
          <SmallButton onClick={() => ticks.set(new Set())}>{text.clear}</SmallButton>
        </>
      )}
      {chosen.length < offers.length && (
        <SmallButton onClick={() => ticks.set(new Set(offers.map(({ offer_id: id }) => id)))}>
          {text.all(offers.length)}
        </SmallButton>
      )}
      {ids && (
        <EditOffers
          ids={ids}
          onChanged={onChanged}
          onClose={() => {
            setIds(null);
            ticks.set(new Set());
          }}
        />
      )}
    </div>
  );
}

function EditOffers({ ids, onChanged, onClose }: { ids: string[]; onChanged: () => void; onClose: () => void }) {
  const [edit, setEdit] = useState(NO_EDIT);
  const [planned, setPlanned] = useState<Planned[] | null>(null);
  // Offers that were written. A retry must not change their payouts a second time.
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const [closing] = useState(() => new AbortController());
  useEffect(() => () => closing.abort(), []);
  // The offer whose write failed. The write may have taken effect all the same.
  const [failed, setFailed] = useState<Planned | null>(null);
  const left = ids.filter((id) => !done.has(id));
  const look = useAction(async () => {
    const plans = [];
    for (const id of left) {
      const seen = await getTagged("/offers/{offer_id}", { offer_id: id });
      if (failed?.seen.offer_id === id && isDone(failed, seen)) setDone(new Set([...done, id]));
      else plans.push(plan(seen, edit, nowSeconds()));
    }
    setFailed(null);
    setPlanned(plans);
  });
  const run = useAction(async () => {
    const written = new Set(done);
    try {
      for (const own of planned!) {
        const { seen, document, changes } = own;
        if (closing.signal.aborted) return;
        if (changes.length === 0) continue;
        setFailed(own);
        await putTagged("/offers/{offer_id}", { offer_id: seen.offer_id }, document, seen);
        written.add(seen.offer_id);
        setDone(new Set(written));
      }
    } catch (error) {
      // The offers may differ from those in the preview.
      setPlanned(null);
      throw error;
    } finally {
      onChanged();
    }
    say(text.done(written.size));
    onClose();
  });
  if (planned) {
    return <Preview planned={planned} run={run} back={() => setPlanned(null)} done={done.size} onClose={onClose} />;
  }
  const isBadPayout = edit.payout.trim() !== "" && percentOf(edit.payout) === null;
  return (
    <FormDialog
      title={text.title(left.length)}
      button={text.look}
      isWrong={isBadPayout || !isComplete(edit)}
      onSubmit={look.run}
      onClose={onClose}
    >
      <p>{done.size > 0 ? text.doneSoFar(done.size, left.length) : text.intro}</p>
      <Fields edit={edit} onChange={setEdit} isBadPayout={isBadPayout} />
      <FormError error={look.error ?? run.error} />
    </FormDialog>
  );
}

interface FieldsProps {
  edit: Edit;
  onChange: (edit: Edit) => void;
  isBadPayout: boolean;
}

const Fields = ({ edit, onChange, isBadPayout }: FieldsProps) => (
  <>
    <div class="field-row">
      <Select
        label={text.state}
        value={edit.active}
        options={["on", "off"]}
        nameOf={(value) => text.states[value]}
        any={text.keep}
        onChange={(active) => onChange({ ...edit, active })}
      />
      <Input
        label={text.payout}
        hint={text.payoutHint}
        error={isBadPayout ? text.badPayout : null}
        inputMode="decimal"
        value={edit.payout}
        onChange={(payout) => onChange({ ...edit, payout })}
      />
    </div>
    {TYPED.map((field) => (
      <div class="field-row" key={field}>
        <Select
          label={text.fields[field]}
          value={edit.doing[field]}
          options={["set", "remove"]}
          nameOf={(value) => text.doing[value]}
          any={text.keep}
          onChange={(doing) => onChange({ ...edit, doing: { ...edit.doing, [field]: doing } })}
        />
        {edit.doing[field] === "set" && (
          <Input
            label={text.valueOf(text.fields[field])}
            hint={field.endsWith("_at") ? text.timeHint : undefined}
            inputMode={field.endsWith("_at") ? undefined : "numeric"}
            required
            value={edit.typed[field]}
            onChange={(value) => onChange({ ...edit, typed: { ...edit.typed, [field]: value } })}
          />
        )}
      </div>
    ))}
  </>
);

interface PreviewProps {
  planned: Planned[];
  run: Action<[]>;
  done: number;
  back: () => void;
  onClose: () => void;
}

const OFFER = column<{ id: string }>("offer", text.offer, ({ id }) => id);

function Preview({ planned, run, done, back, onClose }: PreviewProps) {
  const rows = planned.flatMap(({ seen, changes }) => changes.map((change) => ({ ...change, id: seen.offer_id })));
  const wrong = planned.flatMap(({ seen, problems }) => problems.map((problem) => `${seen.offer_id}: ${problem}`));
  const changing = planned.filter(({ changes }) => changes.length > 0).length;
  const newTerms = planned.filter(({ hasNewTerms }) => hasNewTerms).length;
  return (
    <Dialog title={text.previewTitle(changing)} isWide onClose={onClose}>
      <p role="status">
        {run.isRunning ? text.running(done, changing) : text.summary(changing, planned.length - changing)}
      </p>
      {newTerms > 0 && <p class="note">{text.newTerms(newTerms)}</p>}
      {rows.length > 0 && <Changes changes={rows} first={[OFFER]} />}
      <Problem>{wrong.length > 0 && wrong.join(" ")}</Problem>
      <FormError error={run.error} />
      <DialogButtons onClose={onClose}>
        <Button onClick={back}>{text.back}</Button>
        {changing > 0 && wrong.length === 0 && <PrimaryRun of={run}>{text.save(changing)}</PrimaryRun>}
      </DialogButtons>
    </Dialog>
  );
}

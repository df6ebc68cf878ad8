// Shows the changes before they are saved. A change of the promised terms makes new terms, which is explained.

import { useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { inWords } from "../../../shared/error-text";
import { PrimaryRun } from "../../../shared/components/button";
import { Dialog, DialogButtons } from "../../../shared/components/dialog";
import { Checkbox } from "../../../shared/components/field";
import { FormError } from "../../../shared/components/states";
import { type Column, column, Table } from "../../../shared/components/table";
import type { Offer } from "../../../shared/generated/openapi";
import { review as text } from "../../messages/offers";
import { nowSeconds } from "../../session";
import { payoutOf } from "./columns";
import { type Change, changesOf, makesNewTerms } from "./changes";

interface Props {
  /** The stored offer; null if the offer is new. */
  before: Offer | null;
  after: Offer;
  onSave: (document: Offer) => Promise<void>;
  onClose: () => void;
}

export function Review({ before, after, onSave, onClose }: Props) {
  const [isRaised, setRaised] = useState(false);
  const save = useAction(() => onSave(isRaised ? { ...after, terms_since: nowSeconds() } : after));
  const changes = before ? changesOf(before, after) : [];
  const hasNewTerms = before !== null && makesNewTerms(before, after);
  const maySave = before === null || changes.length > 0;
  return (
    <Dialog title={before ? text.title : text.createTitle} isWide onClose={onClose}>
      {before && (changes.length > 0 ? <Changes changes={changes} /> : <p>{text.nothing}</p>)}
      {before === null && <p>{summaryOf(after)}</p>}
      {hasNewTerms && (
        <div class="new-terms">
          <h3>{text.newTerms}</h3>
          <p>{text.newTermsText}</p>
          <Checkbox class="choice" checked={isRaised} onChange={setRaised}>
            <span>{text.raise}</span>
            <span class="choice-hint">{text.raiseHint}</span>
          </Checkbox>
        </div>
      )}
      <FormError error={inWords(save.error, { precondition_failed: text.taken })} />
      <DialogButtons onClose={onClose}>
        {maySave && <PrimaryRun of={save}>{before ? text.save : text.create}</PrimaryRun>}
      </DialogButtons>
    </Dialog>
  );
}

const summaryOf = ({ name, goals, active }: Offer) => text.summary(name, goals.length, payoutOf(goals), active);

const COLUMNS = (["field", "before", "after"] as const).map((key) =>
  column<Change>(key, text[key], ({ [key]: value }) => <div class="change-text">{value}</div>),
);

/** The fields that change. The columns in `first` come before the columns of the change. */
export const Changes = <Row extends Change>({ changes, first = [] }: { changes: Row[]; first?: Column<Row>[] }) => (
  <div class="dialog-table">
    <Table name={text.changes} columns={[...first, ...COLUMNS]} rows={changes} rowKey={(_, index) => index} />
  </div>
);

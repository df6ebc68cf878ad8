// What a save changes, asked before it is made. A change of what clicks are promised makes new terms, which is explained.

import { useEffect, useState } from "preact/hooks";
import { useAction } from "../../../pages/action";
import { ApiError } from "../../../pages/client";
import { Dialog } from "../../../pages/components/dialog";
import { Warning } from "../../../pages/components/icons";
import { FormError, Skeleton } from "../../../pages/components/states";
import { type Column, Table } from "../../../pages/components/table";
import { offersApi } from "../../api/offers";
import { common } from "../../messages";
import { review as text } from "../../messages/offers";
import type { KeptOffer, Offer } from "../../types/offers";
import { type Change, changesOf, makesNewTerms } from "./changes";
import { nowSeconds } from "./state-badge";

interface Props {
  offerId: string;
  /** The offer as it was when the change began. */
  base: KeptOffer | null;
  before: Offer | null;
  after: Offer;
  onSave: (document: Offer) => Promise<void>;
  onReload: () => Promise<void>;
  onClose: () => void;
}

/** Whether the offer is still as it was. A new one must not be there. */
async function isAsItWas(offerId: string, base: KeptOffer | null): Promise<boolean> {
  try {
    return JSON.stringify(await offersApi.read(offerId)) === JSON.stringify(base);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return base === null;
    throw error;
  }
}

export function Review({ offerId, base, before, after, onSave, onReload, onClose }: Props) {
  const [isRaised, setRaised] = useState(false);
  const [isOld, setOld] = useState<boolean | null>(null);
  const check = useAction(async () => setOld(!(await isAsItWas(offerId, base))));
  useEffect(() => void check.run(), []);
  const save = useAction(() => onSave(isRaised ? { ...after, terms_since: nowSeconds() } : after));
  const load = useAction(onReload);
  const changes = before ? changesOf(before, after) : [];
  const hasNewTerms = before !== null && makesNewTerms(before, after);
  const maySave = isOld === false && (before === null || changes.length > 0);
  return (
    <Dialog title={before ? text.title : text.createTitle} isWide onClose={onClose}>
      {isOld === null && !check.error && <Skeleton lines={3} />}
      {isOld && (
        <div class="banner warning" role="alert">
          <Warning />
          <p>
            <b>{text.changedTitle}.</b> {text.changed}
          </p>
          <button type="button" class="button small" aria-disabled={load.isRunning} onClick={() => void load.run()}>
            {text.load}
          </button>
        </div>
      )}
      {isOld === false && (
        <>
          {before && (changes.length > 0 ? <Changes changes={changes} /> : <p>{text.nothing}</p>)}
          {before === null && <p>{summaryOf(after)}</p>}
          {hasNewTerms && (
            <div class="new-terms">
              <h3>{text.newTerms}</h3>
              <p>{text.newTermsText}</p>
              <label class="choice">
                <input type="checkbox" checked={isRaised} onChange={(event) => setRaised(event.currentTarget.checked)} />
                <span>{text.raise}</span>
                <span class="choice-hint">{text.raiseHint}</span>
              </label>
            </div>
          )}
        </>
      )}
      <FormError error={check.error ?? load.error ?? save.error} />
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          {common.cancel}
        </button>
        {check.error !== null && (
          <button type="button" class="button primary" onClick={() => void check.run()}>
            {common.retry}
          </button>
        )}
        {maySave && (
          <button type="button" class="button primary" aria-disabled={save.isRunning} onClick={() => void save.run()}>
            {before ? text.save : text.create}
          </button>
        )}
      </div>
    </Dialog>
  );
}

const summaryOf = ({ name, goals, active }: Offer) =>
  text.summary(name, goals.length, goals.reduce((sum, { payout_usd }) => sum + payout_usd, 0), active);

const COLUMNS: Column<Change>[] = [
  { key: "field", header: text.field, cell: ({ field }) => <div class="change-text">{field}</div> },
  { key: "before", header: text.before, cell: ({ before }) => <div class="change-text">{before}</div> },
  { key: "after", header: text.after, cell: ({ after }) => <div class="change-text">{after}</div> },
];

const Changes = ({ changes }: { changes: Change[] }) => (
  <div class="dialog-table">
    <Table stacks name={text.changes} columns={COLUMNS} rows={changes} rowKey={({ field }) => field} />
  </div>
);

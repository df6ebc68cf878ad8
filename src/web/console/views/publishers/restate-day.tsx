// Restates a day: first shows the changes from its sources, then makes them.

import { useEffect, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { confirmed } from "../../../shared/change";
import { ApiError } from "../../../shared/client";
import { PrimaryRun } from "../../../shared/components/button";
import { Dialog, DialogButtons } from "../../../shared/components/dialog";
import { FormError } from "../../../shared/components/states";
import type { RestatedDay } from "../../../shared/generated/openapi";
import { post } from "../../api";
import { restate as text } from "../../messages/publishers";
import { type ChangedSum, ChangedSums } from "./changed-sums";

interface Props {
  publisherId: string;
  date: string;
  onRestated: () => Promise<unknown>;
  onClose: () => void;
}

export function RestateDay({ publisherId, date, onRestated, onClose }: Props) {
  const [preview, setPreview] = useState<RestatedDay | null>(null);
  const restateDay = (dry_run: "true" | "false") =>
    post("/publishers/{publisher_id}/days/{date}/restate", { publisher_id: publisherId, date, dry_run });
  const ask = useAction(async () => setPreview(await restateDay("true")));
  useEffect(() => void ask.run(), []);
  const restate = useAction(() => confirmed(() => restateDay("false"), text.done(date), onRestated)(onClose));
  return (
    <Dialog title={text.title(date)} isWide onClose={onClose} keepOpen={restate.isRunning}>
      <p class="note">{text.intro}</p>
      <div class="comparison" role="status">
        {preview ? <Findings {...preview} /> : !ask.error && <p>{text.asking}</p>}
      </div>
      {preview && <ChangedSums rows={[{ before: preview.before, after: preview.after }, ...preview.apps]} />}
      <FormError error={inItsWords(ask.error ?? restate.error)} />
      <DialogButtons onClose={onClose} retry={ask.error !== null && (() => void ask.run())}>
        {preview && <PrimaryRun of={restate}>{restate.isRunning ? text.running : text.start}</PrimaryRun>}
      </DialogButtons>
    </Dialog>
  );
}

/** Shows the message of a 503, which names the source that did not answer. Usually a 503 shows only "busy". */
const inItsWords = (error: unknown) =>
  error instanceof ApiError && error.status === 503 && error.message
    ? new ApiError(409, error.code, error.message, error.requestId, null)
    : error;

const isLess = ({ before, after }: ChangedSum) => after.clicks < before.clicks || after.revenue < before.revenue;

function Findings({ before, after, apps, damaged_segments: damaged, not_kept: notKept }: RestatedDay) {
  return (
    <>
      {apps.length > 0 && <p class="verdict">{text.changes(apps.length)}</p>}
      {apps.length === 0 && damaged === 0 && (
        <p>
          <b>{text.nothing}</b> {text.nothingMore}
        </p>
      )}
      {[{ before, after }, ...apps].some(isLess) && <p class="failed-text">{text.less}</p>}
      {damaged > 0 && <p class="failed-text">{text.damaged(damaged)}</p>}
      {notKept.length > 0 && <p class="failed-text">{text.notKept(notKept)}</p>}
    </>
  );
}

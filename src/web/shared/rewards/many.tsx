// The parts of the dialogs about many rewards: the button that opens a dialog, and the count.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import type { DateRange } from "../periods";

interface OpenerProps<Subject> {
  name: string;
  /** What the dialog is about. It stays what it was when the dialog was opened, even if Back changes the list behind. */
  subject: Subject;
  /** The reason why the dialog cannot be opened now, in words. */
  hint: string | null;
  class?: string;
  isOpenAtFirst?: boolean;
  children: (subject: Subject, close: () => void) => ComponentChildren;
}

/** The button that opens a dialog, or the reason why it cannot be opened now. */
export function Opener<Subject>(props: OpenerProps<Subject>) {
  const { name, subject, hint, class: extra = "", isOpenAtFirst = false, children } = props;
  const [opened, setOpened] = useState(isOpenAtFirst && hint === null ? { subject } : null);
  const id = useId();
  return (
    <div class={`row ${extra}`}>
      <button
        type="button"
        class="button"
        aria-disabled={hint !== null}
        aria-describedby={hint === null ? undefined : id}
        onClick={() => hint === null && setOpened({ subject })}
      >
        {name}
      </button>
      {hint !== null && (
        <span class="note" id={id}>
          {hint}
        </span>
      )}
      {opened && children(opened.subject, () => setOpened(null))}
    </div>
  );
}

/** Counts the rewards that a dialog is about, and counts again when `choice` or the days change. */
export function useCount<Counted>(
  choice: string,
  range: DateRange,
  count: (isOver: () => boolean) => Promise<Counted>,
) {
  const [{ counted, error }, setState] = useState<{ counted?: Counted; error?: unknown }>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOver = false;
    setState({});
    count(() => isOver).then(
      (answer) => !isOver && setState({ counted: answer }),
      (problem) => !isOver && setState({ error: problem }),
    );
    return () => {
      isOver = true;
    };
  }, [choice, range.start_date, range.end_date, round]);
  return {
    counted,
    error,
    retry: error !== undefined && (() => setRound(round + 1)),
    isCounting: !counted && !error,
  };
}

// A field for a file, which is dropped there or chosen.

import { useId, useState } from "preact/hooks";
import { Problem } from "../../shared/components/states";

interface Props {
  accept: string;
  /** The text of the field before a file is chosen. */
  text: string;
  /** The text of the button. */
  label: string;
  hint: string;
  /** Describes the file that the field has accepted; null if there is none. */
  chosen: string | null;
  problem: string | null;
  /** True while a file is processed. No other file is accepted then. */
  isBusy?: boolean;
  onFile: (file: File) => void;
}

export function DropFile({ accept, text, label, hint, chosen, problem, isBusy, onFile }: Props) {
  const [isOver, setOver] = useState(false);
  const id = useId();
  return (
    <div
      class={isOver ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer?.files[0];
        if (file && !isBusy) onFile(file);
      }}
    >
      <p class="drop-text" role="status">
        {chosen ? <b>{chosen}</b> : text}
      </p>
      <input
        id={id}
        class="visually-hidden"
        type="file"
        accept={accept}
        disabled={isBusy}
        aria-describedby={`${id}-hint`}
        aria-invalid={problem ? true : undefined}
        onChange={(event) => {
          const input = event.currentTarget;
          const file = input.files?.[0];
          if (file) onFile(file);
          // Reset the field, so that the same file can be chosen again after it was corrected.
          input.value = "";
        }}
      />
      <label class="button" for={id}>
        {label}
      </label>
      <small id={`${id}-hint`}>{hint}</small>
      <Problem>{problem}</Problem>
    </div>
  );
}

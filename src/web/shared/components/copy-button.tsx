// Copies a text and says so.

import { useId, useState } from "preact/hooks";
import { common } from "../messages";
import { Check, Copy } from "./icons";
import { say, tell } from "./status";

const CONFIRMED_MILLISECONDS = 2000;

interface Props {
  text: () => string;
  label?: string;
  /** Returns the message that replaces "Copied." */
  said?: () => string;
  class?: string;
}

export function CopyButton({ text, label = common.copy, said = () => common.copied, class: name = "button" }: Props) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      tell(common.copyFailed);
      return;
    }
    say(said());
    setCopied(true);
    setTimeout(() => setCopied(false), CONFIRMED_MILLISECONDS);
  };
  return (
    <button type="button" class={name} onClick={() => void copy()}>
      {isCopied ? <Check /> : <Copy />} {label}
    </button>
  );
}

/** A value that is copied as a whole, such as a key or a link. The whole value is visible, and one click selects it. */
export function CopyField({ label, value, isSecret = true }: { label: string; value: string; isSecret?: boolean }) {
  const id = useId();
  return (
    <div class="copy-field" role="group" aria-labelledby={id} data-secret={isSecret || undefined}>
      <span id={id}>{label}</span>
      <code>{value}</code>
      <CopyButton text={() => value} />
    </div>
  );
}

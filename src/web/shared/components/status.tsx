// A short message at the foot of the page, read aloud when it appears. A newer message replaces it, and opening another
// view removes it.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { pathParts } from "../navigation";
import { Check, Info } from "./icons";

interface Message {
  id: number;
  text: string;
  isDone: boolean;
  saidAt: number;
}

// Long enough to read two sentences. Everything that is said here can also be seen in the view.
const SHOWN_MILLISECONDS = 6000;
// A message from just before a view opens belongs to that view.
const OF_LAST_VIEW_MILLISECONDS = 500;

// Height of the strip at the foot in which messages are shown.
const STRIP_PIXELS = 120;

/** True if a message at the foot would cover the focused element. */
function coversFocus() {
  const focused = document.activeElement;
  if (!focused || focused === document.body) return false;
  const { top, bottom } = focused.getBoundingClientRect();
  return top < innerHeight && bottom > innerHeight - STRIP_PIXELS;
}

const message = signal<Message | null>(null);
let lastId = 0;

function show(text: string, isDone: boolean) {
  const id = ++lastId;
  message.value = { id, text, isDone, saidAt: performance.now() };
  setTimeout(() => {
    if (message.peek()?.id === id) message.value = null;
  }, SHOWN_MILLISECONDS);
}

/** Says that something was done. */
export const say = (text: string) => show(text, true);
/** Says something that is neither a success nor an error. */
export const tell = (text: string) => show(text, false);

export function Status() {
  const path = pathParts.value.join("/");
  useEffect(() => {
    const shown = message.peek();
    if (shown && performance.now() - shown.saidAt > OF_LAST_VIEW_MILLISECONDS) message.value = null;
  }, [path]);
  const shown = message.value;
  return (
    <div class={shown && coversFocus() ? "status above" : "status"} role="status" aria-live="polite">
      {shown && (
        <p key={shown.id} class={shown.isDone ? "done" : undefined}>
          {shown.isDone ? <Check /> : <Info />} <span>{shown.text}</span>
        </p>
      )}
    </div>
  );
}

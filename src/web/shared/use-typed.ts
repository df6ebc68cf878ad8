// The text of a filter that the server applies: it is asked after a pause, not after each letter.

import { useEffect, useRef, useState } from "preact/hooks";

const PAUSE_MILLISECONDS = 300;

/** What stands in the field, and what to do when it changes. `value` is the text that is in force, without outer spaces. */
export function useTyped(value: string, change: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const stop = () => clearTimeout(timer.current);
  useEffect(() => {
    // The space that is typed last belongs to the next word.
    if (typed.trim() !== value) setTyped(value);
    return stop;
  }, [value]);
  return [
    typed,
    (text) => {
      setTyped(text);
      stop();
      if (text.trim() !== value) timer.current = setTimeout(() => change(text.trim()), PAUSE_MILLISECONDS);
    },
  ];
}

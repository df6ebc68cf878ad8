// The text of a filter that the server applies. The request follows after a pause rather than after each letter.

import { useEffect, useRef, useState } from "preact/hooks";

const PAUSE_MILLISECONDS = 300;

/** The text of the field, and a function that changes it. `value` is the text in force, without outer spaces. */
export function useTyped(value: string, change: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const stop = () => clearTimeout(timer.current);
  useEffect(() => {
    // Keep a space at the end, because the next word may follow.
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

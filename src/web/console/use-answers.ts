// Answers of a call about the ids that a page shows. Each id is requested once.

import { useEffect, useRef, useState } from "preact/hooks";
import { generation } from "../shared/session";

/** Answers by id. Null if the answer failed or lacks the id; an id that is still loading is left out. */
export type Answers<Answer> = Record<string, Answer | null>;

/** `load` is called with at most `most` ids. */
export function useAnswers<Answer>(
  shown: string[],
  most: number,
  load: (ids: string[]) => Promise<Record<string, Answer>>,
) {
  const [answers, setAnswers] = useState<Answers<Answer>>({});
  const [error, setError] = useState<unknown>(null);
  const asked = useRef(new Set<string>());
  const ask = async (ids: string[]) => {
    const account = generation.peek();
    const take = (came: Record<string, Answer>) => {
      const all = Object.fromEntries(ids.map((id) => [id, came[id] ?? null]));
      if (account === generation.peek()) setAnswers((known) => ({ ...known, ...all }));
    };
    for (const id of ids) asked.current.add(id);
    try {
      take(await load(ids));
    } catch (problem) {
      for (const id of ids) asked.current.delete(id);
      take({});
      setError(problem);
    }
  };
  const askAll = () => {
    const ids = shown.filter((id) => !asked.current.has(id));
    for (let first = 0; first < ids.length; first += most) void ask(ids.slice(first, first + most));
  };
  useEffect(() => {
    // After a failure, only the retry button asks again.
    if (!error) askAll();
  }, [shown.join(" ")]);
  return {
    answers,
    error,
    retry: () => {
      setError(null);
      askAll();
    },
  };
}

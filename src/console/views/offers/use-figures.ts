// The figures of the offers that are shown, each asked for once.

import { useEffect, useRef, useState } from "preact/hooks";
import { generation } from "../../../pages/session";
import { offersApi } from "../../api/offers";
import type { Figures } from "../../types/offers";

// As many as one call answers.
const MOST = 100;

export function useFigures(shown: string[]) {
  const [figures, setFigures] = useState<Record<string, Figures>>({});
  const [error, setError] = useState<unknown>(null);
  const asked = useRef(new Set<string>());
  const ask = async (ids: string[]) => {
    const account = generation.peek();
    for (const id of ids) asked.current.add(id);
    try {
      const answer = await offersApi.figuresOf(ids);
      if (account === generation.peek()) setFigures((known) => ({ ...known, ...answer.figures }));
    } catch (problem) {
      for (const id of ids) asked.current.delete(id);
      setError(problem);
    }
  };
  const wanted = () => shown.filter((id) => !asked.current.has(id));
  const load = () => {
    const ids = wanted();
    for (let first = 0; first < ids.length; first += MOST) void ask(ids.slice(first, first + MOST));
  };
  useEffect(() => {
    // After a failure only its button asks again.
    if (!error) load();
  }, [shown.join(" ")]);
  return {
    figures,
    error,
    retry: () => {
      setError(null);
      load();
    },
  };
}

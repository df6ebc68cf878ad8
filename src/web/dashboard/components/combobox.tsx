// A field for several values, with suggestions from the server.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { reports } from "../messages";
import type { Suggestion } from "../types";
import { Field, Options } from "../../shared/components/field";
import { Cross } from "../../shared/components/icons";

/** The values that the server suggests for a text; null if they could not be loaded. */
interface Found {
  text: string;
  values: string[] | null;
}

interface Props {
  label: string;
  values: string[];
  labelOf: (value: string) => string;
  suggest: (text: string) => Promise<Suggestion[]>;
  onChange: (values: string[]) => void;
}

// Short enough to feel immediate, and long enough that typing a word sends one request.
const PAUSE_MILLISECONDS = 150;

// The input types of events that choose an option. Some browsers give such an event no input type.
const CHOSEN = ["insertReplacementText", undefined];

export function Combobox({ label, values, labelOf, suggest, onChange }: Props) {
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [found, setFound] = useState<Found | null>(null);
  const [entered, setEntered] = useState("");
  const typed = text.trim();

  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(
      () => {
        suggest(typed).then(
          (suggestions) => isCurrent && setFound({ text: typed, values: suggestions.map(({ value }) => value) }),
          () => isCurrent && setFound({ text: typed, values: null }),
        );
      },
      typed ? PAUSE_MILLISECONDS : 0,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [typed]);

  const suggested = found?.values ?? [];
  const known = suggested.find((value) => value.toLowerCase() === typed.toLowerCase());
  // A value that is not suggested can still be chosen: the report's dates may be wider than those of the search.
  const options = typed && !known ? [...suggested, typed] : suggested;
  const isWaiting = found?.text !== typed;
  const first = known ?? options[0] ?? "";
  const hint = isWaiting
    ? reports.searching
    : found.values === null
      ? reports.suggestionsFailed
      : suggested.length === 0
        ? reports.noSuggestions
        : typed
          ? reports.enterAdds(labelOf(first))
          : reports.typeToSearch;

  const set = (next: string[]) => {
    onChange(next);
    setText("");
    input.current?.focus();
  };
  const add = (value: string) => set([...new Set([...values, value])]);

  // Enter also counts while the suggestions for the text are loading.
  useEffect(() => {
    if (entered && entered === typed && !isWaiting) add(first);
    if (!isWaiting) setEntered("");
  }, [entered, isWaiting]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && typed) isWaiting ? setEntered(typed) : add(first);
    else if (event.key === "Escape" && text) setText("");
    else if (event.key === "Backspace" && !text && values.length > 0) onChange(values.slice(0, -1));
    else return;
    event.preventDefault();
  };

  return (
    <div class="combobox">
      {values.length > 0 && (
        <ul class="chips">
          {values.map((value) => (
            <li key={value} class="chip">
              <span>{labelOf(value)}</span>
              <button
                type="button"
                aria-label={reports.removeValue(labelOf(value))}
                onClick={() => set(values.filter((chosen) => chosen !== value))}
              >
                <Cross />
              </button>
            </li>
          ))}
        </ul>
      )}
      <Field label={label} hint={isWaiting ? hint : <span role="status">{hint}</span>}>
        {(props) => (
          <>
            <input
              {...props}
              ref={input}
              type="text"
              list={list}
              autocomplete="off"
              spellcheck={false}
              value={text}
              onInput={({ currentTarget: { value }, inputType }) =>
                CHOSEN.includes(inputType) && options.includes(value) ? add(value) : setText(value)
              }
              onKeyDown={onKeyDown}
            />
            <datalist id={list}>
              <Options
                options={options}
                nameOf={(value) => (value === typed && !known ? reports.useText(value) : labelOf(value))}
              />
            </datalist>
          </>
        )}
      </Field>
    </div>
  );
}

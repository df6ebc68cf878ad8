// A text field with suggestions from the server, several of which can be chosen; follows WAI-ARIA's combobox pattern.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { reports } from "../messages";
import type { Suggestion } from "../types";
import { Check, Cross } from "../../shared/components/icons";

interface Props {
  label: string;
  values: string[];
  labelOf: (value: string) => string;
  suggest: (text: string) => Promise<Suggestion[]>;
  onChange: (values: string[]) => void;
}

// Short enough to feel immediate, long enough that a typed word is one question.
const PAUSE_MILLISECONDS = 150;

export function Combobox({ label, values, labelOf, suggest, onChange }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [found, setFound] = useState<Suggestion[] | "failed" | null>(null);
  const [isOpen, setOpen] = useState(true);
  const [activeValue, setActiveValue] = useState<string | null>(null);

  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(
      () => {
        suggest(text.trim()).then(
          (suggestions) => isCurrent && setFound(suggestions),
          () => isCurrent && setFound("failed"),
        );
      },
      text ? PAUSE_MILLISECONDS : 0,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text]);

  const suggestions = Array.isArray(found) ? found : [];
  const typed = text.trim();
  const isKnown = suggestions.some((suggestion) => suggestion.value.toLowerCase() === typed.toLowerCase());
  // A value that no suggestion has can still be used: the dates may be wider than the search.
  const options: Suggestion[] =
    typed && !isKnown ? [...suggestions, { value: typed, label: reports.useText(typed) }] : suggestions;
  const active = options.findIndex((option) => option.value === activeValue);
  const isListed = isOpen && options.length > 0;
  const optionId = (index: number) => `${id}-option-${index}`;

  const toggle = (value: string) => {
    onChange(values.includes(value) ? values.filter((chosen) => chosen !== value) : [...values, value]);
    setText("");
    input.current?.focus();
  };

  const move = (step: number) => {
    if (!isListed) return setOpen(true);
    const next = active === -1 && step < 0 ? options.length - 1 : (active + step + options.length) % options.length;
    setActiveValue(options[next]!.value);
    document.getElementById(optionId(next))?.scrollIntoView({ block: "nearest" });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter" && isListed && (active >= 0 || typed)) {
      const option = options[Math.max(active, 0)];
      if (option) toggle(option.value);
    } else if (event.key === "Escape" && isOpen && (text || active >= 0)) {
      setText("");
      setActiveValue(null);
    } else if (event.key === "Backspace" && !text && values.length > 0) onChange(values.slice(0, -1));
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
              <button type="button" aria-label={reports.removeValue(labelOf(value))} onClick={() => toggle(value)}>
                <Cross />
              </button>
            </li>
          ))}
        </ul>
      )}
      <label class="field">
        <span>{label}</span>
        <input
          ref={input}
          type="text"
          role="combobox"
          autocomplete="off"
          spellcheck={false}
          aria-autocomplete="list"
          aria-expanded={isListed}
          aria-controls={`${id}-list`}
          aria-activedescendant={active >= 0 && isListed ? optionId(active) : undefined}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setOpen(true);
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      <ul
        class="options"
        id={`${id}-list`}
        role="listbox"
        aria-multiselectable="true"
        aria-label={label}
        hidden={!isListed}
      >
        {options.map((option, index) => (
          <li
            key={option.value}
            id={optionId(index)}
            role="option"
            class={index === active ? "active" : undefined}
            aria-selected={values.includes(option.value)}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => toggle(option.value)}
          >
            <span>{option.label ?? labelOf(option.value)}</span>
            {option.label && option.value !== typed && <span class="option-value">{option.value}</span>}
            {values.includes(option.value) && <Check />}
          </li>
        ))}
      </ul>
      <p class="options-note" role="status">
        {found === "failed"
          ? reports.suggestionsFailed
          : found && suggestions.length === 0
            ? reports.noSuggestions
            : found && typed
              ? reports.suggestions(suggestions.length)
              : ""}
      </p>
    </div>
  );
}

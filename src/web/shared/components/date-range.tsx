// The days of a report or of a list: presets, each with its letter key, or custom dates.

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { dateRangeText, daysIn, isDate } from "../format";
import { periods as text } from "../messages/periods";
import { type DateRange, type Days, daysOfList, type Preset, PRESETS, presetRange } from "../periods";
import { stored } from "../stored";
import { PrimaryButton } from "./button";
import { isReachable } from "./dialog";
import { Checkbox, DateInput } from "./field";
import { Calendar, Check, ChevronDown } from "./icons";
import { Popover } from "./popover";
import { Problem } from "./states";

interface Props {
  range: DateRange;
  /** Null for custom dates. If it is left out, the preset is the one that has these dates. */
  preset?: Preset | null;
  presets?: readonly Preset[];
  days?: Days;
  mostDays?: number;
  /** If it is set, this is a field of a list, in which an empty date means no condition. */
  label?: string;
  onChange: (range: DateRange, preset: Preset | null) => void;
}

const NO_DATES: DateRange = { start_date: "", end_date: "" };

// People who dictate, or whose screen reader has letters for commands, can turn the letters off.
const areLettersOn = signal(stored("letters") !== "off");
function setLetters(areOn: boolean) {
  areLettersOn.value = areOn;
  stored("letters", areOn ? "on" : "off");
}

const FIELDS = "input:not([type=checkbox], [type=radio]), select, textarea";

function rangeText({ start_date: start, end_date: end }: DateRange) {
  if (!start) return text.upTo(end);
  return end ? dateRangeText(start, end) : text.since(start);
}

export function DateRangePicker(props: Props) {
  const { range, preset, presets = PRESETS, days = daysOfList(), mostDays, label, onChange } = props;
  const root = useRef<HTMLDivElement>(null);
  const choices = presets.map((own) => ({ own, words: text.presets[own], dates: presetRange(own, days) }));
  const all = label ? [{ own: null, words: text.any, dates: NO_DATES }, ...choices] : choices;
  const isRange = (dates: DateRange) => dates.start_date === range.start_date && dates.end_date === range.end_date;
  const chosen = all.find(({ own, dates }) => (preset === undefined ? isRange(dates) : own === preset));
  const name = chosen?.words[0] ?? rangeText(range);
  const detail = chosen?.own && rangeText(range);
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
      if (!areLettersOn.value || ctrlKey || metaKey || altKey || shiftKey || (target as Element).matches(FIELDS))
        return;
      if (!isReachable(root.current!)) return;
      const choice = all.find(({ words }) => words[1] === key.toUpperCase());
      if (!choice && key.toUpperCase() !== text.custom[1]) return;
      const button = root.current!.querySelector<HTMLElement>("[aria-expanded]")!;
      // Custom dates open the panel, and a preset closes it.
      if ((button.ariaExpanded === "true") === (choice !== undefined)) button.click();
      if (choice) onChange(choice.dates, choice.own);
      requestAnimationFrame(() => (choice ? button : root.current?.querySelector("input"))?.focus());
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  return (
    <div ref={root} class={label ? "field" : undefined}>
      {label && <span>{label}</span>}
      <Popover
        name={label ?? text.label}
        buttonLabel={label && `${label}: ${name} ${detail ?? ""}`}
        label={
          <>
            <Calendar /> {name}
            {detail && <span class="button-detail">{detail}</span>} <ChevronDown />
          </>
        }
      >
        {(close) => (
          <>
            <ul class="presets">
              {all.map((choice) => (
                <li key={choice.own}>
                  <button
                    type="button"
                    class="preset"
                    aria-pressed={choice === chosen}
                    aria-keyshortcuts={areLettersOn.value ? choice.words[1] : undefined}
                    data-first={choice === chosen || undefined}
                    onClick={() => {
                      onChange(choice.dates, choice.own);
                      close();
                    }}
                  >
                    <span>
                      {choice.words[0]} {choice === chosen && <Check />}
                    </span>
                    <kbd aria-hidden="true">{choice.words[1]}</kbd>
                  </button>
                </li>
              ))}
            </ul>
            <CustomRange key={name} {...{ range, mostDays, close, onChange }} today={days.today} />
            <Checkbox class="choice" checked={areLettersOn.value} onChange={setLetters}>
              {text.letters}
            </Checkbox>
            <p class="panel-note">{text.note(days.last === days.today)}</p>
          </>
        )}
      </Popover>
    </div>
  );
}

type CustomProps = Pick<Props, "range" | "mostDays" | "onChange"> & { today: string; close: () => void };

/**
 * Not a form itself, because it may be in another form. Only reports have a limit of days; other ranges may be
 * open-ended.
 */
function CustomRange({ range, mostDays, today, close, onChange }: CustomProps) {
  const [dates, setDates] = useState(range);
  const { start_date: start, end_date: end } = dates;
  const [bad, setBad] = useState<keyof typeof text.badDates | null>(null);
  const check = () => {
    if (mostDays && (!start || !end)) return "missing";
    if (start && end && end < start) return "order";
    if (mostDays && end > today) return "future";
    return mostDays && daysIn(start, end) > mostDays ? "long" : null;
  };
  const apply = () => {
    // A field with an unreadable date shows its own error.
    const isUnread = [start, end].some((date) => date && !isDate(date));
    const problem = isUnread ? null : check();
    setBad(problem);
    if (problem || isUnread) return;
    onChange(dates, null);
    close();
  };
  return (
    <div
      class="custom-range"
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
        event.preventDefault();
        apply();
      }}
    >
      <fieldset>
        <legend>
          {text.custom[0]} <kbd aria-hidden="true">{text.custom[1]}</kbd>
        </legend>
        <DateInput label={text.from} value={start} onChange={(start_date) => setDates({ ...dates, start_date })} />
        <DateInput label={text.to} value={end} onChange={(end_date) => setDates({ ...dates, end_date })} />
      </fieldset>
      <Problem>{bad && text.badDates[bad]}</Problem>
      <PrimaryButton onClick={apply}>{text.apply}</PrimaryButton>
    </div>
  );
}

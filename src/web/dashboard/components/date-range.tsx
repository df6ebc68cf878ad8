// The dates of a report: presets, or two dates of one's own.

import { useId, useState } from "preact/hooks";
import { Form, SubmitButton } from "../../shared/components/form";
import { Problem } from "../../shared/components/states";
import { dateRangeText, daysIn, isDate } from "../../shared/format";
import { reports } from "../messages";
import type { DateRange } from "../types";
import { Calendar, Check, ChevronDown } from "../../shared/components/icons";
import { Popover } from "../../shared/components/popover";

interface Props<Preset extends string> {
  range: DateRange;
  preset: Preset | null;
  presets: readonly Preset[];
  presetName: (preset: Preset) => string;
  today: string;
  mostDays: number;
  onPreset: (preset: Preset) => void;
  onRange: (range: DateRange) => void;
}

type BadDates = keyof typeof reports.badDates;

export function DateRangePicker<Preset extends string>(props: Props<Preset>) {
  const { range, preset, presets, presetName, today, mostDays, onRange } = props;
  const dates = dateRangeText(range.start_date, range.end_date);
  return (
    <Popover
      name={reports.dateRange}
      label={
        <>
          <Calendar /> {preset ? presetName(preset) : dates}
          {preset && <span class="button-detail">{dates}</span>} <ChevronDown />
        </>
      }
    >
      {(close) => (
        <>
          <ul class="presets">
            {presets.map((name) => (
              <li key={name}>
                <button
                  type="button"
                  class="preset"
                  aria-pressed={name === preset}
                  data-first={name === preset || undefined}
                  onClick={() => {
                    props.onPreset(name);
                    close();
                  }}
                >
                  {presetName(name)} {name === preset && <Check />}
                </button>
              </li>
            ))}
          </ul>
          <CustomRange {...{ range, today, mostDays, onRange, close }} />
          <p class="panel-note">{reports.presetNote}</p>
        </>
      )}
    </Popover>
  );
}

type CustomProps = Pick<Props<string>, "range" | "today" | "mostDays" | "onRange"> & { close: () => void };

function CustomRange({ range, today, mostDays, onRange, close }: CustomProps) {
  const errorId = useId();
  const [start, setStart] = useState(range.start_date);
  const [end, setEnd] = useState(range.end_date);
  const [bad, setBad] = useState<BadDates | null>(null);

  const check = (): BadDates | null => {
    if (!isDate(start) || !isDate(end)) return "missing";
    if (end < start) return "order";
    if (end > today) return "future";
    return daysIn(start, end) > mostDays ? "long" : null;
  };
  const fields = [
    { label: reports.from, value: start, onType: setStart },
    { label: reports.to, value: end, onType: setEnd },
  ];
  return (
    <Form
      class="custom-range"
      noValidate
      onSubmit={() => {
        const problem = check();
        setBad(problem);
        if (problem) return;
        onRange({ start_date: start, end_date: end });
        close();
      }}
    >
      <fieldset>
        <legend>{reports.custom}</legend>
        {fields.map(({ label, value, onType }) => (
          <label class="field" key={label}>
            <span>{label}</span>
            <input
              type="date"
              value={value}
              max={today}
              aria-describedby={bad ? errorId : undefined}
              aria-invalid={bad !== null}
              onInput={(event) => onType(event.currentTarget.value)}
            />
          </label>
        ))}
      </fieldset>
      <Problem id={errorId}>{bad && reports.badDates[bad]}</Problem>
      <SubmitButton>{reports.apply}</SubmitButton>
    </Form>
  );
}

// One choice out of a few, all in sight: radio buttons drawn as one row.

import { useId } from "preact/hooks";

interface Props<Value> {
  name: string;
  options: { value: Value; label: string }[];
  value: Value;
  onChange: (value: Value) => void;
}

export function Segments<Value extends string>({ name, options, value, onChange }: Props<Value>) {
  const group = useId();
  if (options.length < 2) return null;
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">{name}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={group}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

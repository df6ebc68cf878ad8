// The field for an app: its App-Id, with the names of the first apps to choose from.

import { useId } from "preact/hooks";
import { Input, Options } from "../../shared/components/field";
import { Name } from "../../shared/components/name";
import { useAppNames } from "../app-names";
import { rewards as text } from "../messages/rewards";

interface Props {
  value: string;
  onChange: (value: string) => void;
  error?: string | null;
}

export function AppField({ value, onChange, error }: Props) {
  const { apps, nameOf } = useAppNames();
  const list = useId();
  const known = apps.find(({ app_id }) => app_id === value);
  return (
    <>
      <Input
        label={text.app}
        hint={known ? <Name>{known.name}</Name> : text.appHint}
        error={error}
        list={list}
        spellcheck={false}
        value={value}
        onChange={(typed) => onChange(typed.trim())}
      />
      <datalist id={list}>
        <Options options={apps.map(({ app_id }) => app_id)} nameOf={nameOf} />
      </datalist>
    </>
  );
}

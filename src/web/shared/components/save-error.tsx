// The error of a change. After somebody else's change it loads the document, and asks about fields that both changed.

import { useEffect, useState } from "preact/hooks";
import { isChangedMeanwhile } from "../client";
import { errorText } from "../error-text";
import { form as text } from "../messages/form";
import type { Decision } from "../use-merged";
import { SmallButton } from "./button";
import { Banner, FormError } from "./states";
import { column, Table } from "./table";

interface Props {
  error: unknown;
  reload: () => Promise<unknown>;
  /** Tells what happens to the typed values. */
  loaded?: string;
  clashes?: Decision[];
}

export function SaveError({ error, reload, loaded = text.loaded, clashes = [] }: Props) {
  // The last load after somebody else's change. It belongs to one failed save.
  const [load, setLoad] = useState<{ of: unknown; failure: unknown } | null>(null);
  const isChanged = isChangedMeanwhile(error);
  const ask = () => void reload().then((failure) => setLoad({ of: error, failure }));
  useEffect(() => {
    if (isChanged) ask();
  }, [error]);
  const isLoaded = load?.of === error;
  const failure = isChanged && isLoaded && load?.failure;
  if (clashes.length === 0 && !isChanged) return <FormError error={error} />;
  if (clashes.length === 0 && !isLoaded) return null;
  return (
    <>
      <Banner role="alert" onClick={failure ? ask : undefined}>
        <b>{text.changedTitle}.</b>{" "}
        {failure ? `${text.notLoaded} ${errorText(failure)}` : clashes.length > 0 ? text.clash : loaded}
      </Banner>
      {clashes.length > 0 && (
        <Table class="clashes" name={text.changedTitle} columns={COLUMNS} rows={clashes} rowKey="key" />
      )}
    </>
  );
}

const choice = (takes: "theirs" | "mine") =>
  column<Decision>(takes, text[takes], ({ field, decide, [takes]: value }) => (
    <div>
      <div class="change-text">{value}</div>
      <SmallButton
        onClick={({ currentTarget: { form } }) => {
          decide(takes);
          // The button disappears, so the focus moves to the next decision, or after the last one to the save button.
          requestAnimationFrame(() => form?.querySelector<HTMLElement>(".clashes button, [type=submit]")?.focus());
        }}
      >
        <span class="visually-hidden">{field}: </span>
        {text.take[takes]}
      </SmallButton>
    </div>
  ));

const COLUMNS = [column<Decision>("field", text.field, ({ field }) => field), choice("theirs"), choice("mine")];

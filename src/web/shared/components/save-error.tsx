// The error of a change. After somebody else's change the document is loaded, and what both have changed is decided.

import { useEffect, useState } from "preact/hooks";
import { isChangedMeanwhile } from "../client";
import { form as text } from "../messages/form";
import type { Decision } from "../use-merged";
import { SmallButton } from "./button";
import { Banner, FormError } from "./states";
import { column, Table } from "./table";

interface Props {
  error: unknown;
  reload: () => Promise<void>;
  /** What becomes of what was typed, in words. */
  loaded?: string;
  clashes?: Decision[];
}

export function SaveError({ error, reload, loaded = text.loaded, clashes = [] }: Props) {
  // The error that the load has answered; a further try has another.
  const [answered, setAnswered] = useState<unknown>(null);
  const isChanged = isChangedMeanwhile(error);
  useEffect(() => {
    if (isChanged) void reload().then(() => setAnswered(error));
  }, [error]);
  if (clashes.length === 0 && !isChanged) return <FormError error={error} />;
  if (clashes.length === 0 && answered !== error) return null;
  return (
    <>
      <Banner role="alert">
        <b>{text.changedTitle}.</b> {clashes.length > 0 ? text.clash : loaded}
      </Banner>
      {clashes.length > 0 && (
        <Table stacks class="clashes" name={text.changedTitle} columns={COLUMNS} rows={clashes} rowKey="field" />
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
          // The button goes away: reading goes on at the next decision, and then at the button that saves.
          requestAnimationFrame(() => form?.querySelector<HTMLElement>(".clashes button, [type=submit]")?.focus());
        }}
      >
        <span class="visually-hidden">{field}: </span>
        {text.take[takes]}
      </SmallButton>
    </div>
  ));

const COLUMNS = [column<Decision>("field", text.field, ({ field }) => field), choice("theirs"), choice("mine")];

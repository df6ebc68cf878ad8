// The error of a change. Where somebody else has changed the document meanwhile, it is loaded again first.

import { useState } from "preact/hooks";
import { isChangedMeanwhile } from "../client";
import { form as text } from "../messages/form";
import { Banner, FormError, SaidNote } from "./states";

interface Props {
  error: unknown;
  reload: () => Promise<void>;
  /** What becomes of what was typed, in words. */
  explanation?: string;
  loaded?: string;
}

export function SaveError({ error, reload, explanation = text.changed, loaded = text.loaded }: Props) {
  // The error that the load has answered; a further try has another.
  const [answered, setAnswered] = useState<unknown>(null);
  if (!isChangedMeanwhile(error)) return <FormError error={error} />;
  if (answered === error) return <SaidNote>{loaded}</SaidNote>;
  return (
    <Banner
      role="alert"
      button={text.loadAgain}
      onClick={async (event) => {
        // The button goes away: reading goes on at the one that saves.
        const within = event.currentTarget.closest("form, dialog");
        await reload();
        setAnswered(error);
        within?.querySelector<HTMLElement>("[type=submit]")?.focus();
      }}
    >
      <b>{text.changedTitle}.</b> {explanation}
    </Banner>
  );
}

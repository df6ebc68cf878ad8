// The button below a list that has further rows.

import { common } from "../messages";
import type { Pages } from "../use-pages";
import { RunButton } from "./button";
import { FormError } from "./states";

interface Props {
  of: Pick<Pages<unknown>, "hasMore" | "more">;
  label?: string;
  /** The button's text while it loads. */
  busy?: string;
}

export function More({ of: { hasMore, more }, label = common.more, busy = label }: Props) {
  return (
    <>
      <FormError error={more.error} />
      {hasMore && <RunButton of={more}>{more.isRunning ? busy : label}</RunButton>}
    </>
  );
}

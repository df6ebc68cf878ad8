// The button below a list that has further rows.

import type { Pages } from "../use-pages";
import { FormError } from "./states";

interface Props {
  of: Pick<Pages<unknown>, "hasMore" | "more">;
  label: string;
  /** What the button says while it loads. */
  busy?: string;
}

export function More({ of: { hasMore, more }, label, busy = label }: Props) {
  return (
    <>
      <FormError error={more.error} />
      {hasMore && (
        <button type="button" class="button" aria-disabled={more.isRunning} onClick={() => void more.run()}>
          {more.isRunning ? busy : label}
        </button>
      )}
    </>
  );
}

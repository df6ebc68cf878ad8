// The button below a list that has further rows.

import { FormError } from "../../pages/components/states";
import type { Walk } from "../walk";

interface Props {
  of: Pick<Walk<unknown>, "hasMore" | "more">;
  label: string;
  /** What the button says while it loads. */
  busy: string;
}

export function More({ of: { hasMore, more }, label, busy }: Props) {
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

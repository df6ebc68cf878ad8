// The heading of a view: it names the page and takes the focus when the view changes.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { common } from "../messages";
import { focusNextHeading, takeHeadingFocus } from "../navigation";

/** Moves the focus to the top of the view, after a change that removed the focused button. */
export const focusHeading = () => document.querySelector("h1")?.focus();

interface Props {
  title: string;
  /** Further parts of the document's title, the nearest first. */
  within?: string[];
  /** Placed next to the heading. */
  children?: ComponentChildren;
  note?: ComponentChildren;
}

export function Heading({ title, within = [], children, note }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const page = common.title(title, ...within);
  useLayoutEffect(() => {
    document.title = page;
  }, [page]);
  useLayoutEffect(() => {
    const wanted = takeHeadingFocus();
    if (wanted === "no") return;
    heading.current?.focus({ preventScroll: true });
    if (wanted === "focus-and-scroll") scrollTo(0, 0);
  }, [title]);
  // When the loaded view's heading replaces the one that was shown during the load, it takes over the focus.
  useLayoutEffect(() => () => void (document.activeElement === heading.current && focusNextHeading("focus")), []);
  return (
    <div class="heading">
      <div>
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
        {note && <p class="note">{note}</p>}
      </div>
      {children && <div class="actions">{children}</div>}
    </div>
  );
}

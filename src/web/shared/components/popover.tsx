// A button that opens a panel of controls below it. On a narrow screen the panel is at the foot of the screen.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props {
  label: ComponentChildren;
  /** Name of the panel for a screen reader. */
  name: string;
  buttonLabel?: string;
  buttonClass?: string;
  align?: "left" | "right";
  children: (close: () => void) => ComponentChildren;
}

const FOCUSABLE = "input:not([disabled]), select, button:not([disabled]), a[href], [tabindex='0']";

export function Popover({ label, name, buttonLabel, buttonClass = "button", align = "left", children }: Props) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const panelId = useId();

  const close = () => {
    setOpen(false);
    button.current?.focus();
  };

  // A panel that would leave the screen on the right is aligned with the button's right edge.
  useLayoutEffect(() => {
    if (!isOpen || align === "right") return;
    const place = () => {
      const { classList } = panel.current!;
      classList.remove("right");
      const { right } = panel.current!.getBoundingClientRect();
      classList.toggle("right", right > document.documentElement.clientWidth - 8);
    };
    place();
    addEventListener("resize", place);
    return () => removeEventListener("resize", place);
  }, [isOpen]);

  // Also a layout effect, because in the next frame a quick person may already have focused another field.
  useLayoutEffect(() => {
    if (!isOpen) return;
    const first = panel.current?.querySelector<HTMLElement>("[data-first]") ?? panel.current?.querySelector(FOCUSABLE);
    (first as HTMLElement | null)?.focus();
  }, [isOpen]);

  useEffect(() => {
    if (!isOpen) return;
    const onPointerDown = (event: PointerEvent) => {
      // The path, and not the parent, because the clicked element may have been removed from the page by now.
      if (root.current && !event.composedPath().includes(root.current)) setOpen(false);
    };
    document.addEventListener("pointerdown", onPointerDown);
    return () => document.removeEventListener("pointerdown", onPointerDown);
  }, [isOpen]);

  return (
    <div
      class="popover"
      ref={root}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen || event.defaultPrevented) return;
        event.preventDefault();
        close();
      }}
      onFocusOut={(event) => {
        const next = event.relatedTarget as Node | null;
        if (next && !root.current?.contains(next)) setOpen(false);
      }}
    >
      <button
        type="button"
        class={buttonClass}
        ref={button}
        aria-expanded={isOpen}
        aria-controls={isOpen ? panelId : undefined}
        aria-label={buttonLabel}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
      </button>
      {isOpen && (
        <div class={`panel ${align}`} id={panelId} ref={panel} role="group" aria-label={name}>
          {children(close)}
        </div>
      )}
    </div>
  );
}

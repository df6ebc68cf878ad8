// The search in the header of every page. While somebody types, it also offers pages and actions.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { refresh } from "../../shared/cache";
import { isReachable } from "../../shared/components/dialog";
import { commandsOf } from "../commands";
import { search as text } from "../messages/search";
import { openSearch, searchKey } from "../search-state";

// Long enough for a click id and for text that was pasted around it.
const MAX_TEXT = 2000;

// A letter alone would get in the way of dictation and of screen readers, which use letters for their own commands.
const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.platform);
const [SHORTCUT, ARIA_SHORTCUT] = IS_APPLE ? ["⌘K", "Meta+K"] : ["Ctrl+K", "Control+K"];

const isShortcut = ({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent) =>
  key.toLowerCase() === "k" && !altKey && !shiftKey && (IS_APPLE ? metaKey && !ctrlKey : ctrlKey && !metaKey);

export function SearchBox() {
  const [value, setValue] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const hint = useId();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isShortcut(event) || !isReachable(input.current!)) return;
      event.preventDefault();
      input.current!.focus();
      // Select the text even if the field already had the focus.
      input.current!.select();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  const asked = value.trim();
  const commands = commandsOf(asked);
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || commands.length === 0) return;
    event.preventDefault();
    const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, a")];
    stops.at((stops.indexOf(event.target as HTMLElement) + step) % stops.length)!.focus();
  };
  return (
    <form
      class="search-box"
      role="search"
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        if (!asked) return;
        const state = { text: asked, app: "" };
        // Load again, because the same text may have been searched before.
        void refresh(searchKey(state));
        openSearch(state);
      }}
    >
      <input
        ref={input}
        type="text"
        aria-label={text.label}
        aria-describedby={hint}
        aria-keyshortcuts={ARIA_SHORTCUT}
        placeholder={text.placeholder}
        maxLength={MAX_TEXT}
        enterkeyhint="search"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={value}
        onInput={(event) => setValue(event.currentTarget.value)}
        onFocus={(event) => event.currentTarget.select()}
      />
      <kbd aria-hidden="true">{SHORTCUT}</kbd>
      <div class="search-hint">
        {commands.length > 0 && (
          <ul onClick={() => setValue("")}>
            {commands.map(({ name, path }) => (
              <li key={name}>
                <a href={path}>{name}</a>
              </li>
            ))}
          </ul>
        )}
        <p id={hint}>
          {text.hint} <span class="shortcut-hint">{text.shortcut(SHORTCUT)}</span>
        </p>
      </div>
    </form>
  );
}

// The two ways to work the page: by mouse, and by keyboard alone. A task is written once for both.

import assert from "node:assert/strict";

// A view of 50 rows has about 20 stops; a settings section with its dialogs has fewer.
const MOST_STOPS = 80;

export class Mouse {
  static handName = "mouse";

  constructor(page) {
    this.page = page;
  }

  press = (target) => target.click();

  tick = (target, isOn = true) => target.setChecked(isOn);

  async write(target, text) {
    await target.click();
    await this.page.keyboard.type(text);
  }

  /** Sends the form that was written in. */
  send = () => this.page.keyboard.press("Enter");

  // The list of a <select> is drawn by the system, where no test can point at it.
  choose = (target, label) => target.selectOption({ label });

  writeDate = (target, date) => target.fill(date);

  // The system also draws the suggestions of a field. A browser reports a choice to the page with these events.
  takeSuggestion = (box, value) =>
    box.evaluate((input, text) => {
      input.value = text;
      input.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertReplacementText" }));
    }, value);

  /** Reads the last day of a chart. */
  async lastDay(frame) {
    await frame.scrollIntoViewIfNeeded();
    const { width } = await frame.boundingBox();
    await frame.hover({ position: { x: width - 6, y: 60 } });
    return frame.locator(".tooltip").innerText();
  }
}

export class Keyboard {
  static handName = "keyboard";

  constructor(page) {
    this.page = page;
  }

  async press(target) {
    await this.reach(target);
    await this.page.keyboard.press("Enter");
  }

  /** Only the chosen radio button of a group is a stop. Arrows move on from that button. */
  async tick(target) {
    const isRadio = (await target.getAttribute("type")) === "radio";
    if (!isRadio) {
      await this.reach(target);
      return this.page.keyboard.press("Space");
    }
    const name = await target.getAttribute("name");
    await this.reach(this.page.locator(`input[type=radio][name="${name}"]:checked`));
    for (let moves = 0; !(await target.isChecked()); moves += 1) {
      assert.ok(moves < 10, "arrows reach the radio button");
      await this.page.keyboard.press("ArrowDown");
    }
  }

  async write(target, text) {
    await this.reach(target);
    await this.page.keyboard.type(text);
  }

  /** Sends the form that was written in. */
  send = () => this.page.keyboard.press("Enter");

  /** The first letter of an option selects it. */
  async choose(target, label) {
    await this.reach(target);
    await this.page.keyboard.press(label[0].toLowerCase());
  }

  async writeDate(target, date) {
    await this.reach(target);
    await this.page.keyboard.press("Control+a");
    await this.page.keyboard.type(date);
  }

  /** Takes the first of the suggestions. */
  takeSuggestion = () => this.page.keyboard.press("Enter");

  async lastDay(frame) {
    await this.reach(frame);
    await this.page.keyboard.press("End");
    const spoken = this.page.locator(".chart [aria-live]", { hasText: /\S/ });
    await spoken.waitFor({ state: "attached" });
    return spoken.innerText();
  }

  /** Moves by Tab, backwards where the target lies before; the focus is seen at each stop. */
  async reach(target) {
    await target.waitFor();
    for (let stops = 0; stops <= MOST_STOPS; stops += 1) {
      const way = await target.evaluate((element) => {
        const current = document.activeElement;
        if (current === element) return "here";
        const isBehind = current && current.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING;
        return isBehind && current !== document.body ? "Shift+Tab" : "Tab";
      });
      if (way === "here") return;
      await this.page.keyboard.press(way);
      await this.checkFocusIsSeen();
    }
    assert.fail(`no stop of Tab is ${target}`);
  }

  async checkFocusIsSeen() {
    const unseen = await this.page.evaluate(() => {
      const focused = document.activeElement;
      if (!focused || focused === document.body) return null;
      // A radio button of a row is invisible; its label beside it has the outline.
      const drawn = [focused, focused.nextElementSibling].filter(Boolean).map((element) => getComputedStyle(element));
      return drawn.some((style) => style.outlineStyle !== "none") ? null : focused.outerHTML.slice(0, 120);
    });
    assert.equal(unseen, null, "the focus is seen");
  }
}

export const HANDS = [Mouse, Keyboard];

/** How a task is walked: by each hand, and on each screen. */
export const WAYS = [
  [Mouse, 1440],
  [Keyboard, 360],
];

// Typing does not count, nor does a move to the next field.
const CLICKS = ["press", "tick", "choose", "takeSuggestion", "send"];

/** Makes a hand count its clicks, or the keys in their place. */
export function counting(hand) {
  hand.clicks = 0;
  for (const name of CLICKS) {
    const act = hand[name].bind(hand);
    hand[name] = (...given) => {
      hand.clicks += 1;
      return act(...given);
    };
  }
  return hand;
}

// Looks at a view in light and dark: no finding of axe, nothing wider than the screen, and a screenshot as a file.

import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { closePage } from "./browser.mjs";
import { ROOT } from "./signpost.mjs";

export const SCREENSHOTS = join(ROOT, "target/browser/screenshots");
/** The folder of the README's pictures, which `RENEW=1 make browser` takes again. */
const PICTURES = join(ROOT, ".github/pictures");
const WIDE = 1440;

/** Widths in between; the last ones are also those of a wide screen at 200 and 400 %. Only tables may scroll sideways there. */
const WIDTHS_BETWEEN = [900, 800, 768, 720, 640, 360, 320];

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
// Another scheme has other colours and nothing else.
const COLOURS = ["color-contrast", "link-in-text-block"];

// axe skips disabled controls, but a disabled button shows what is going on.
const LEAST_CONTRAST = 4.5;

let source;

/**
 * Opens a view, brings it into its state, and checks it. `view` has `path`, and may have `cookie`, `refusals`,
 * `prepare` before the page is opened, `act` afterwards, `shows`, which waits for the content that the state must
 * show, and `picture`, its name in the README.
 */
export async function look(shared, name, view, width, schemes = ["light", "dark"]) {
  const page = await shared.open({ width, cookie: view.cookie, refusals: view.refusals });
  await page.emulateMedia({ reducedMotion: "reduce" });
  await view.prepare?.(page);
  await page.goto(view.path);
  await view.act?.(page);
  await view.shows?.(page);
  if (!view.isLoading) await page.waitForFunction(() => !document.querySelector(".skeleton, [aria-busy=true]"));
  for (const [index, scheme] of schemes.entries()) {
    await page.emulateMedia({ colorScheme: scheme });
    await checkView(page, index === 0 ? TAGS : COLOURS);
    await mkdir(SCREENSHOTS, { recursive: true });
    const path = join(SCREENSHOTS, `${name}-${width}-${scheme}.png`);
    await page.screenshot({ path, fullPage: !view.isOverlay, animations: "disabled" });
    if (view.picture && width === WIDE && process.env.RENEW) {
      await page.screenshot({ path: join(PICTURES, `${view.picture}-${scheme}.png`), animations: "disabled" });
    }
  }
  // Once for each view: on a phone they would be the same.
  if (width === WIDE) await checkWidthsBetween(page);
  await view.leave?.(page);
  await closePage(page);
}

async function checkWidthsBetween(page) {
  for (const width of WIDTHS_BETWEEN) {
    await page.setViewportSize({ width, height: 740 });
    assert.deepEqual(await page.evaluate(beside), [], `beside the screen at ${width} px`);
  }
}

/** Runs in the page: the elements that make it scroll sideways. What follows a new width does so within some frames. */
async function beside() {
  const { scrollingElement: root } = document;
  for (let frame = 0; frame < 10; frame += 1) {
    await new Promise(requestAnimationFrame);
    if (frame > 1 && root.scrollWidth <= root.clientWidth) return [];
  }
  const { scrollWidth, clientWidth } = root;
  const isOut = (element) => element.getBoundingClientRect().right > clientWidth;
  const isCut = (element) =>
    element &&
    element !== document.body &&
    (getComputedStyle(element).overflowX !== "visible" || isCut(element.parentElement));
  const out = [...document.body.querySelectorAll("*")].filter(
    (element) => isOut(element) && !isCut(element.parentElement),
  );
  return [
    `${scrollWidth - clientWidth} px`,
    ...out.filter((element) => ![...element.children].some(isOut)).map((element) => element.outerHTML.slice(0, 120)),
  ];
}

/** Fails for a finding of axe, for what is wider than the screen, and for a busy button that cannot be read. */
export async function checkView(page, tags = TAGS) {
  assert.deepEqual(await page.evaluate(beside), [], "beside the screen");
  const faint = await page.evaluate(faintButtons, LEAST_CONTRAST);
  assert.deepEqual(faint, [], "text of buttons that are off");
  source ??= await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  // The page's policy forbids scripts of others; the browser's own protocol may run them.
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Runtime.evaluate", { expression: `globalThis.axe ?? (() => {${source}})()` });
  await cdp.detach();
  const findings = await page.evaluate(async (tags) => {
    const { violations } = await globalThis.axe.run(document, {
      runOnly: tags,
      rules: { "target-size": { enabled: true } },
      resultTypes: ["violations"],
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`),
    );
  }, tags);
  assert.deepEqual(findings, [], "findings of axe");
}

/** Runs in the page: the buttons that are off and have less contrast, by the formula of WCAG. */
function faintButtons(least) {
  const luminance = (colour) => {
    const most = colour.startsWith("rgb") ? 255 : 1;
    const [red, green, blue] = colour.match(/[\d.]+/g).map((part) => {
      const share = Number(part) / most;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  return [...document.querySelectorAll(".button[aria-disabled=true]")].flatMap((button) => {
    const { color, backgroundColor } = getComputedStyle(button);
    const [light, dark] = [luminance(color), luminance(backgroundColor)].sort((one, other) => other - one);
    const contrast = (light + 0.05) / (dark + 0.05);
    return contrast < least ? [`${button.textContent || button.ariaLabel}: ${contrast.toFixed(1)}`] : [];
  });
}

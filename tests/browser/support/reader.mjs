// A reader of a guide: starts a local run, pastes its commands into one shell, and uses the pages as it says.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, ROOT } from "./signpost.mjs";

const GUIDE_BASE = "http://localhost:8787";
/** The ports at which the guides' receivers listen. */
const GUIDE_PORTS = ["8790", "9000"];
const END = "the end of a pasted block";
/** A command may wait until a new app is known everywhere, which takes up to two minutes. */
const PASTE_MILLISECONDS = 150_000;
const MILLISECONDS = 30_000;

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

async function until(isReached, problem, milliseconds = MILLISECONDS) {
  for (const giveUp = Date.now() + milliseconds; !isReached(); ) {
    if (Date.now() > giveUp) assert.fail(problem());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A program that ends with the test. */
function start(context, program, given, options) {
  const started = { child: spawn(program, given, { cwd: ROOT, ...options }), output: "", log: "" };
  started.child.stdout.on("data", (text) => (started.output += text));
  started.child.stderr.on("data", (text) => (started.log += text));
  const ended = new Promise((resolve) => started.child.once("exit", resolve));
  context.after(async () => {
    started.child.kill();
    await ended;
  });
  return started;
}

/** What `make run` does once everything is built. The invites are those that it prints. */
export async function startRun(context) {
  const state = await mkdtemp(join(tmpdir(), "signpost-guide-"));
  context.after(() => rm(state, { recursive: true, force: true }));
  const port = await freePort();
  const run = start(context, "fixtures/local/run.sh", [], { env: { ...process.env, PORT: port, STATE: state } });
  const isOver = () => run.output.includes("\n# the operator's interface") || run.child.exitCode !== null;
  await until(isOver, () => `${run.output}${run.log}`);
  const invite = (site) => new RegExp(`^${site} +(\\S+)$`, "m").exec(run.output)[1];
  return { base: `http://localhost:${port}`, invite };
}

/** The sections of a guide: the title, the text as one line, and the blocks of code. */
async function sectionsOf(guide) {
  const text = await readFile(join(ROOT, `docs/guides/${guide}.md`), "utf8");
  const sections = text.split(/^## /m).slice(1);
  return sections.map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    text: section.replace(/\s+/g, " "),
    blocks: [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({ language, code })),
  }));
}

export class Reader {
  /** Texts of the guide, and their values in this run: addresses, and texts that the reader has copied. */
  values = {};

  constructor(context, run, page) {
    Object.assign(this, { run, page });
    this.shell = start(context, "bash", ["-eo", "pipefail"]);
  }

  /** Follows a guide to its end. `steps` has the actions in pages, by section, done before the section's blocks. */
  async follow(guide, steps) {
    this.values[GUIDE_BASE] = this.run.base;
    for (const port of GUIDE_PORTS) this.values[port] = await freePort();
    const sections = await sectionsOf(guide);
    for (const title of Object.keys(steps))
      assert.ok(
        sections.some((section) => section.title === title),
        title,
      );
    for (this.section of sections) {
      await steps[this.section.title]?.(this);
      await this.followBlocks();
    }
  }

  /** Pastes the section's next commands, and compares their output where the guide shows it. */
  async followBlocks(count = this.section.blocks.length) {
    for (const { language, code } of this.section.blocks.splice(0, count)) {
      await (language === "sh" ? this.#paste(code) : this.#compare(code));
    }
  }

  /** A text of the guide as it is in this run. */
  inRun(text) {
    const pattern = new RegExp(Object.keys(this.values).map(escaped).join("|"), "g");
    return text.replace(pattern, (shown) => this.values[shown]);
  }

  async #paste(code) {
    const { shell } = this;
    shell.output = "";
    shell.child.stdin.write(`${this.inRun(code)}\necho '${END}'\n`);
    const isOver = () => shell.output.includes(END) || shell.child.exitCode !== null;
    await until(isOver, () => `does not end: ${code}`, PASTE_MILLISECONDS);
    assert.ok(shell.output.includes(END), `${this.section.title}: ${code}\n${shell.output}${shell.log}`);
    shell.output = shell.output.replace(`${END}\n`, "");
  }

  /** Waits until the shell has printed what the guide shows; `…` stands for anything. */
  async #compare(shown) {
    const pattern = new RegExp(`^${shown.trim().split("…").map(escaped).join(".*?")}$`, "s");
    const told = () => this.shell.output.replaceAll(this.run.base, GUIDE_BASE).replaceAll("\r", "").trim();
    const problem = () => `${this.section.title}:\n${told()}\nis not as shown:\n${shown}\n${this.shell.log}`;
    await until(() => pattern.test(told()), problem);
    this.printed = this.shell.output.trim();
    this.shell.output = "";
  }

  /** Presses what the guide names in bold. A count or a hint may follow the name. */
  async press(name, place = this.page) {
    assert.ok(this.section.text.includes(`**${name}**`), `${this.section.title} does not name ${name}`);
    const named = { name: new RegExp(`^${escaped(name)}`) };
    const [button, link, radio] = ["button", "link", "radio"].map((role) => place.getByRole(role, named));
    await button.or(link).or(radio).first().click();
  }

  /** Sees what the guide quotes. */
  async see(text, place = this.page) {
    assert.ok(this.section.text.includes(`“${text}”`), `${this.section.title} does not quote ${text}`);
    await place.getByText(text).filter({ visible: true }).first().waitFor();
  }

  /** Spends the invite that the run printed. */
  async signIn(site) {
    await this.page.goto(this.run.invite(site));
    await this.press("Sign in");
  }

  /** Makes a report key in the dashboard, and copies it. */
  async makeKey(label, scope) {
    await this.press("Settings");
    await this.press("Report keys");
    await this.page.getByLabel("Label").fill(label);
    if (scope) await this.page.getByLabel("What it does").selectOption({ label: scope });
    await this.press("Create a key");
    this.values["sk_…"] = await this.page.getByText(/^sk_/).innerText();
    await this.press("Done");
  }

  /** A user's rows in the log of rewards. */
  rewardsOf(user) {
    return this.page.getByRole("table", { name: "Rewards", exact: true }).getByRole("row").filter({ hasText: user });
  }
}

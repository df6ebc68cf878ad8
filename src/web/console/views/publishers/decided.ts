// The operator's decisions for an app, as typed text and as values of the API.

import { unique } from "../../../shared/unique";
import type { App, KeptApp } from "../../../shared/generated/openapi";
import { decisions as text } from "../../messages/apps";

export type Decision = keyof typeof text.names;

export const DECISIONS = Object.keys(text.names) as Decision[];
const MAX_PORT = 65_535;
const MAX_REWARDS = 1000;

/** The decisions as typed text. */
export interface Typed {
  hosts: string;
  ports: string;
  rewards: string;
  blocked: string;
}

type Decided = Required<Pick<App, Decision>>;

/** The values, which are separated by line breaks, spaces or commas, without repetitions. */
const partsOf = (typed: string) => unique(typed.split(/[\s,]+/));

export const typedOf = (app: KeptApp): Typed => ({
  hosts: (app.fallback_hosts ?? []).join("\n"),
  ports: (app.callback_ports ?? []).join(", "),
  rewards: app.max_rewards_per_user_day == null ? "" : String(app.max_rewards_per_user_day),
  blocked: (app.blocked_offers ?? []).join("\n"),
});

export const decidedOf = (typed: Typed): Decided => ({
  fallback_hosts: partsOf(typed.hosts.toLowerCase()),
  callback_ports: partsOf(typed.ports).map(Number),
  max_rewards_per_user_day: typed.rewards.trim() === "" ? null : Number(typed.rewards),
  blocked_offers: partsOf(typed.blocked),
});

const isInteger = (text: string, least: number, most: number) =>
  /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most;

export const problemsOf = ({ ports, rewards }: Typed) => ({
  ports: partsOf(ports).every((port) => isInteger(port, 0, MAX_PORT)) ? null : text.badPort,
  rewards: rewards.trim() === "" || isInteger(rewards.trim(), 1, MAX_REWARDS) ? null : text.badRewards,
});

/** The typed fields that differ from the app's. */
export function changeOf(app: KeptApp, typed: Typed): Partial<App> {
  const [before, after] = [decidedOf(typedOf(app)), decidedOf(typed)];
  const isChanged = (field: Decision) => JSON.stringify(before[field]) !== JSON.stringify(after[field]);
  return Object.fromEntries(DECISIONS.filter(isChanged).map((field) => [field, after[field]]));
}

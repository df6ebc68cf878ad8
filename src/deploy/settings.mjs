// Checks the production settings of both `wrangler.toml` before a deployment. It needs no network.

import { join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { Failure, WORKERS } from "./wrangler.mjs";

/** The Worker that serves each host. */
export const HOSTS = {
  TRACKING_HOST: "edge",
  OFFERS_HOST: "edge",
  REPORTING_HOST: "edge",
  OPERATOR_HOST: "origin",
  DASHBOARD_HOST: "origin",
};
/** URLs on one of these hosts, and the Workers that have them. */
const URLS = {
  TRACKING_URL: { host: "TRACKING_HOST", workers: ["edge", "origin"] },
  DASHBOARD_URL: { host: "DASHBOARD_HOST", workers: ["origin"] },
  CONSOLE_URL: { host: "OPERATOR_HOST", workers: ["origin"] },
};
/** A deployment may leave out the dashboard and the console. */
const OPTIONAL = ["DASHBOARD_HOST", "DASHBOARD_URL", "CONSOLE_URL"];
/** Only local runs and plain workerd may set these to anything else. Two may be missing, which means "false". */
const OFF = {
  LOCAL_SIGN_IN: "origin",
  ALLOW_PRIVATE_CALLBACKS: "origin",
  FAIR_QUEUE: "edge",
  TRUST_COUNTRY_HEADER: "edge",
};
const MAY_BE_MISSING = ["FAIR_QUEUE", "TRUST_COUNTRY_HEADER"];
const KV = "SNAPSHOTS";

const PLACEHOLDER_HOST = /(^|[/:.@])example\.(com|net|org)(?=[/:?#]|$)/;
const PLACEHOLDER_ID = /^0*$/;
const HOST_NAME = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])$/;

/** Reads the production environment of both Workers, as wrangler understands it. */
export function readSettings(folder = ".") {
  const read = ([worker, path]) => {
    try {
      return [worker, unstable_readConfig({ config: join(folder, path), env: "production" }, { hideWarnings: true })];
    } catch (error) {
      throw new Failure(`${path} cannot be read: ${error.message}`);
    }
  };
  return Object.fromEntries(Object.entries(WORKERS).map(read));
}

/** Returns a line for each problem: the file, the field, and what to do. */
export function problemsOf(settings) {
  const problems = [];
  const report = (worker, field, text) => problems.push(`${WORKERS[worker]}: env.production.${field}: ${text}`);
  for (const worker of Object.keys(settings)) {
    placeholders(settings[worker], (...problem) => report(worker, ...problem));
  }
  hosts(settings, report);
  for (const worker of Object.keys(settings)) routes(worker, settings, (...problem) => report(worker, ...problem));
  urls(settings, report);
  for (const [name, worker] of Object.entries(OFF)) {
    const value = settings[worker].vars[name];
    if (value === "false" || (value === undefined && MAY_BE_MISSING.includes(name))) continue;
    report(worker, `vars.${name}`, `must be "false" in production, but is ${quoted(value)}`);
  }
  namespaces(settings, report);
  return problems;
}

const quoted = (value) => (value === undefined ? "not set" : JSON.stringify(value));

const patterns = ({ routes: list = [] }) => list.map((route) => route.pattern ?? route);

function placeholders({ routes: list, vars }, report) {
  for (const pattern of patterns({ routes: list })) {
    if (PLACEHOLDER_HOST.test(pattern)) report("routes", `${quoted(pattern)} is a placeholder; put your own host`);
  }
  for (const [name, value] of Object.entries(vars)) {
    if (!PLACEHOLDER_HOST.test(value)) continue;
    report(
      `vars.${name}`,
      `${quoted(value)} is a placeholder; put your own ${name.endsWith("_HOST") ? "host" : "value"}`,
    );
  }
}

function hosts({ edge, origin }, report) {
  const seen = new Map();
  for (const name of Object.keys(HOSTS)) {
    const [atEdge, host] = [edge.vars[name], origin.vars[name]];
    if (atEdge !== host) {
      report("edge", `vars.${name}`, `is ${quoted(atEdge)}, but ${quoted(host)} in ${WORKERS.origin}; make both equal`);
    }
    for (const [worker, value] of Object.entries({ edge: atEdge, origin: host })) {
      if (value === undefined && OPTIONAL.includes(name)) continue;
      if (HOST_NAME.test(value ?? "")) continue;
      report(worker, `vars.${name}`, `is ${quoted(value)}; put a host name in lower case, without https:// and path`);
    }
    if (host !== undefined && seen.has(host)) {
      report("origin", `vars.${name}`, `is the same as ${seen.get(host)}; each host serves one interface`);
    }
    seen.set(host, name);
  }
}

function routes(worker, settings, report) {
  const { vars } = settings[worker];
  const routed = patterns(settings[worker]).map((pattern) => pattern.replace(/\/\*$/, ""));
  for (const [name, server] of Object.entries(HOSTS)) {
    const host = vars[name];
    if (server === worker && host !== undefined && !routed.includes(host)) {
      report("routes", `${quoted(host)} (${name}) is missing; add { pattern = ${quoted(host)}, custom_domain = true }`);
    }
  }
  for (const pattern of routed) {
    const name = Object.keys(HOSTS).find((key) => vars[key] === pattern);
    if (name && HOSTS[name] === worker) continue;
    const why = name ? `is ${name}, which ${WORKERS[HOSTS[name]]} routes` : "is none of the hosts in vars";
    report("routes", `${quoted(pattern)} ${why}; remove it here`);
  }
}

function urls(settings, report) {
  for (const [name, { host, workers }] of Object.entries(URLS)) {
    for (const worker of workers) {
      const { [name]: value, [host]: expected } = settings[worker].vars;
      const isLeftOut = value === undefined && OPTIONAL.includes(name);
      // A dashboard needs its host, and its host needs a dashboard. The operator's host also serves the operator's API.
      if (isLeftOut && (expected === undefined || !OPTIONAL.includes(host))) continue;
      if (String(value).replace(/\/$/, "") === `https://${expected}`) continue;
      report(worker, `vars.${name}`, `is ${quoted(value)}; put "https://${expected}", which is ${host}`);
    }
  }
}

function namespaces({ edge, origin }, report) {
  const id = ({ kv_namespaces: list }) => list.find(({ binding }) => binding === KV)?.id;
  const field = `kv_namespaces.${KV}.id`;
  for (const [worker, value] of Object.entries({ edge: id(edge), origin: id(origin) })) {
    if (!PLACEHOLDER_ID.test(value ?? "")) continue;
    report(worker, field, `is a placeholder; put the id of npx wrangler kv namespace create signpost-snapshots`);
  }
  if (id(edge) === id(origin)) return;
  report("edge", field, `is ${quoted(id(edge))}, but ${quoted(id(origin))} in ${WORKERS.origin}; make both equal`);
}

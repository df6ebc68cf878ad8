// `make preflight`: asks each host of a deployment whether it is healthy, and sends it a request that must be refused.
// A refusal with the right code shows that the interface runs, and changes nothing.

import { request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { HOSTS, readSettings } from "./settings.mjs";
import { Failure } from "./wrangler.mjs";

/** How long a new host may take: Cloudflare has to issue its certificate. A new version arrives within seconds. */
const DEFAULT_SECONDS = 180;
/** How long a host may have no snapshot. An isolate loads it within seconds, unless none was ever published. */
const UNPUBLISHED_SECONDS = 10;
const UNPUBLISHED = /no_snapshot|no_listing/;
const RETRY_MS = 1_000;
const TIMEOUT_MS = 10_000;

/** The interfaces that `/healthz` names at each host. */
const INTERFACES = {
  TRACKING_HOST: ["clicks", "conversions"],
  OFFERS_HOST: ["offers"],
  REPORTING_HOST: ["reports"],
  OPERATOR_HOST: ["operator"],
  DASHBOARD_HOST: ["operator"],
};
const PUBLISHERS = "/v1/operator/publishers?limit=1";
/** An id that no app and no goal has. */
const NONE = "0";
const click = (app) => `/v2/tracking/click?rid=${NONE}&app=${app}&user_id=preflight`;

/** Requests that change nothing: what they show, and the answer. */
const REFUSALS = [
  { shows: "a click of an unknown app", host: "TRACKING_HOST", path: click(NONE), status: 404, code: "unknown_app" },
  {
    shows: "offers with a wrong Pub-Key",
    host: "OFFERS_HOST",
    path: "/v1/offer/api?page=1&size=1",
    headers: { "App-Id": NONE, "Pub-Key": "preflight" },
    status: 401,
    code: "invalid_credentials",
  },
  {
    shows: "a report with a wrong key",
    host: "REPORTING_HOST",
    method: "POST",
    path: "/v1/core/reporting/public/signal/report/generate",
    headers: { "X-Api-Key": "preflight", "Content-Type": "application/json" },
    body: "{}",
    status: 401,
    code: "invalid_api_key",
  },
  {
    shows: "the operator's API without a token",
    host: "OPERATOR_HOST",
    path: PUBLISHERS,
    status: 401,
    code: "invalid_operator_token",
  },
];

/** Checks all hosts, and waits until they are right or the time is over. */
export async function preflight(variables) {
  const settings = readSettings();
  const seconds = Number(variables.PREFLIGHT_SECONDS || DEFAULT_SECONDS);
  const retried = async (check) => {
    const startedAt = Date.now();
    for (;;) {
      const problem = await check().catch((error) => error.message || error.code);
      const patience = UNPUBLISHED.test(problem) ? Math.min(UNPUBLISHED_SECONDS, seconds) : seconds;
      if (!problem || Date.now() - startedAt > patience * 1_000) return problem;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };
  const send = sender(settings, variables);
  const checks = checksOf(settings, variables, send);
  const results = await Promise.all(checks.map(async ({ name, check }) => ({ name, problem: await retried(check) })));
  for (const { name, problem } of results) console.log(problem ? `not ok  ${name}: ${problem}` : `ok      ${name}`);
  for (const name of ["OPERATOR_TOKEN", "METRICS_TOKEN"]) {
    if (!variables[name]) console.log(`not tried  ${name}, because it is not in the environment`);
  }
  if (results.some(({ problem }) => UNPUBLISHED.test(problem))) {
    console.log(
      "After a first deployment, run make preflight again with OPERATOR_TOKEN: its first call publishes the catalog.",
    );
  }
  const failed = results.filter(({ problem }) => problem).length;
  if (failed > 0) throw new Failure(`Checks that failed: ${failed}. See docs/OPERATING.md ("An interface is down").`);
}

/** Returns a function that sends a request to the host of this setting, at the address that a test may replace. */
function sender(settings, variables) {
  return (name, request) => {
    const host = settings[HOSTS[name]].vars[name];
    const base = variables[`PREFLIGHT_${HOSTS[name].toUpperCase()}`] || `https://${host}`;
    return answerOf(new URL(request.path, base), host, request);
  };
}

function checksOf({ origin }, variables, send) {
  // A dashboard may be left out.
  const names = Object.keys(HOSTS).filter((name) => origin.vars[name] !== undefined);
  const check = (name, host, request, problemOf) => ({
    name: `${host} ${origin.vars[host]}: ${name}`,
    check: async () => problemOf(await send(host, request)),
  });
  const statusIs = (expected, code) => (answer) =>
    answer.status === expected && (!code || parsed(answer).code === code)
      ? undefined
      : `expected ${[expected, code].filter(Boolean).join(" ")}, ${shown(answer)}`;
  const withToken = (path, token) => ({ path, headers: { Authorization: `Bearer ${variables[token]}` } });
  const allowed = (host, path, token) =>
    variables[token] ? [check(`${token} at ${path}`, host, withToken(path, token), statusIs(200))] : [];
  /** A click of an app that the operator's API lists: the edge's snapshot has to know the app. */
  const knownApp = async () => {
    const listed = await send("OPERATOR_HOST", withToken("/v1/operator/apps?limit=1", "OPERATOR_TOKEN"));
    const [app] = parsed(listed).apps ?? [];
    if (!app) return statusIs(200)(listed);
    return statusIs(404, "unknown_goal")(await send("TRACKING_HOST", { path: click(app.app_id) }));
  };
  /** Both Workers need the same keys: one seals what the other opens. */
  const sameKeys = async () => {
    const answers = await Promise.all([
      send("TRACKING_HOST", withToken("/metrics", "METRICS_TOKEN")),
      send("OPERATOR_HOST", withToken("/v1/operator/metrics", "METRICS_TOKEN")),
    ]);
    const [edge, atOrigin] = answers.map(({ text }) => text.match(/^signpost_isolate_keys\{.*\}/gm) ?? []);
    if (edge.length === 0 || atOrigin.length === 0) return "a Worker shows no keys";
    const different = [...edge, ...atOrigin].filter((key) => !(edge.includes(key) && atOrigin.includes(key)));
    const names = [...new Set(different.map((key) => key.match(/setting="(\w+)"/)[1]))].join(", ");
    return names && `they differ in ${names}; set the same value at both`;
  };
  return [
    ...names.map((name) => check("/healthz", name, { path: "/healthz" }, (answer) => healthProblem(name, answer))),
    ...REFUSALS.map(({ shows, host, status, code, ...request }) => check(shows, host, request, statusIs(status, code))),
    ...allowed("OPERATOR_HOST", PUBLISHERS, "OPERATOR_TOKEN"),
    ...(variables.OPERATOR_TOKEN ? [{ name: "a click of an unknown goal of the first app", check: knownApp }] : []),
    // The edge's metrics and the origin's have the same token.
    ...allowed("TRACKING_HOST", "/metrics", "METRICS_TOKEN"),
    ...allowed("OPERATOR_HOST", "/v1/operator/metrics", "METRICS_TOKEN"),
    ...(variables.METRICS_TOKEN ? [{ name: "the keys of both Workers", check: sameKeys }] : []),
  ];
}

const shown = ({ status, text }) => `got ${status} ${text.slice(0, 200)}`;

/** Returns what is wrong according to an answer of `/healthz`. */
function healthProblem(name, answer) {
  const { interfaces, unreadable = [] } = parsed(answer);
  if (!interfaces) return shown(answer);
  const down = Object.entries(interfaces).filter(([, { served }]) => !served);
  if (down.length > 0) return down.map(([key, { why }]) => `${key} is not served: ${why}`).join(", ");
  if (answer.status !== 200) return shown(answer);
  if (unreadable.length > 0) return `stored data cannot be read: ${unreadable.join(", ")}; deploy the newer code again`;
  const found = Object.keys(interfaces).join(", ");
  if (found !== INTERFACES[name].join(", ")) return `it serves ${found}; check the routes and ${name} at both Workers`;
  // A snapshot at an origin's host means that the edge answered.
  if (HOSTS[name] === "origin" && parsed(answer).snapshot_version !== undefined)
    return "the edge answers; check the routes";
  return undefined;
}

function parsed({ text }) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Sends a request with this `Host`, which fetch cannot do, and returns the status and the body. */
export function answerOf(url, host, { method = "GET", headers = {}, body = "" }) {
  const start = url.protocol === "https:" ? tlsRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const options = { method, headers: { Host: host, ...headers }, timeout: TIMEOUT_MS };
    const sent = start(url, options, async (response) => {
      const parts = [];
      for await (const part of response) parts.push(part);
      resolve({ status: response.statusCode, text: Buffer.concat(parts).toString() });
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS / 1_000} s`)));
    sent.on("error", reject);
    sent.end(body);
  });
}

// Checks at Cloudflare what a deployment builds on: the secrets, the deployed classes of objects, and the plan. It
// changes nothing.

import { problemsOf as problemsOfSecrets, secretsSet } from "./secrets.mjs";
import { query, WORKERS } from "./wrangler.mjs";

/** The version that serves a Worker's requests, or undefined before its first deployment. */
export async function deployedVersion(worker) {
  const status = await query(worker, ["deployments", "status", "--json"], /code: 10007|no deployments/);
  return status && (await query(worker, ["versions", "view", status.versions[0].version_id, "--json"]));
}

/** The tag of the last class migration that a version has; none before the first. */
export const migrationTag = (version) => version?.resources.script_runtime.migration_tag || undefined;

/** Returns a line for each problem: the file, the field, and what to do. */
export async function problemsOf(settings, { PLAN: plan }) {
  const [set, origin] = await Promise.all([secretsSet(), deployedVersion("origin")]);
  const problems = problemsOfSecrets(set);
  const tag = migrationTag(origin);
  if (tag && !settings.origin.migrations.some((migration) => migration.tag === tag)) {
    problems.push(`${WORKERS.origin}: migrations: the deployed Worker is at tag ${tag}, which is missing here; \
this code is older than the deployed code, so deploy a newer commit`);
  }
  // A login of wrangler may not read the account's plan. Only a paid plan accepts `limits.cpu_ms`, so a deployed
  // version that has it proves the plan.
  if (origin?.resources.script_runtime.limits?.cpu_ms === undefined && plan !== "paid") {
    problems.push(`${WORKERS.origin}: env.production.limits.cpu_ms: Cloudflare accepts it only on Workers Paid. \
wrangler cannot read an account's plan before the first deployment; look it up in the dashboard (Workers & Pages, \
Plans), then run make deploy PLAN=paid`);
  }
  return problems;
}

// `make rollback TO=<commit or version>`: deploys an earlier version of both Workers again, the edge first, because a
// newer origin knows all operations of an older edge. `make deploy` tags each version with its commit. Cloudflare still
// has the uploaded code, so a rollback takes seconds and builds nothing.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { deployedVersion, migrationTag } from "./account.mjs";
import { Failure, query, WORKERS, wrangler } from "./wrangler.mjs";

const git = async (...args) => (await promisify(execFile)("git", args)).stdout.trim();
const tagOf = (version) => version?.annotations?.["workers/tag"];
/** A tag is a commit, and `-dirty` if the tree had changes. A version without one was not deployed by `make deploy`. */
const commitOf = (version) => tagOf(version)?.replace("-dirty", "") ?? "HEAD";

export async function rollBack({ TO: to }) {
  if (!to)
    throw new Failure(
      "Nothing was changed: give the commit or the version to return to, as in make rollback TO=4f2a91c",
    );
  const [edge, origin] = await Promise.all(["edge", "origin"].map(withVersions));
  const tag = await findTag(to, [edge, origin]);
  for (const one of [edge, origin]) one.target = one.versions.findLast((version) => tagOf(version) === tag);
  const refusals = [...[edge, origin].flatMap(refusalsOf), ...(await refusalsOfMigration(origin))];
  if (refusals.length === 0) refusals.push(...(await refusalsOfReleases(origin)));
  if (refusals.length > 0) throw new Failure(`${refusals.join("\n")}\nNothing was changed.`);
  for (const { worker, target } of [edge, origin]) {
    console.error(`Deploying ${tag} (${target.id}) at the ${worker}`);
    const message = `Roll back to ${tag}`;
    const { code } = await wrangler(worker, ["versions", "deploy", `${target.id}@100`, "--yes", "--message", message], {
      show: true,
    });
    if (code === 0) continue;
    throw new Failure(`wrangler failed at the ${worker}. The edge may be older than the origin, but not newer. Repair \
the cause and run make rollback again, or run make deploy.`);
  }
}

/** A Worker with the versions of it that may be deployed, oldest first. */
async function withVersions(worker) {
  const versions = await query(worker, ["versions", "list", "--json"], /code: 10007/);
  if (!versions) throw new Failure(`Nothing was changed: ${WORKERS[worker]} was never deployed.`);
  return { worker, versions };
}

/** The tag of a version, by the id of one Worker's version or by a commit. */
async function findTag(to, workers) {
  const versions = workers.flatMap((one) => one.versions);
  const byId = versions.find(({ id }) => id === to);
  const commit = await git("rev-parse", "--short=12", `${to}^{commit}`).catch(() => to);
  const found = byId ?? versions.findLast((version) => tagOf(version)?.startsWith(commit));
  if (tagOf(found)) return tagOf(found);
  const tags = [...new Set(versions.map(tagOf).filter(Boolean))].join(", ") || "none";
  throw new Failure(`Nothing was changed: none of the last 10 versions is ${to}. They have these commits: ${tags}. \
For an older commit, check it out and run make deploy, if docs/OPERATING.md ("Upgrading") allows it.`);
}

function refusalsOf({ worker, versions, target }) {
  if (!target) return [`${WORKERS[worker]}: the ${worker} has no such version; run make deploy at that commit instead`];
  const since = versions.slice(versions.indexOf(target) + 1);
  if (!since.some((version) => version.annotations?.["workers/triggered_by"] === "secret")) return [];
  return [
    `${WORKERS[worker]}: a secret was changed after this version, and the version has the old value; check the commit \
out and run make deploy, which keeps the secrets`,
  ];
}

/** Cloudflare refuses to roll back across a migration of classes: the older code lacks a class that has objects. */
async function refusalsOfMigration({ worker, target }) {
  if (!target) return [];
  const viewed = query(worker, ["versions", "view", target.id, "--json"]);
  const [earlier, now] = (await Promise.all([viewed, deployedVersion(worker)])).map(migrationTag);
  if (earlier === now) return [];
  return [
    `${WORKERS.origin}: migrations: the version is at tag ${earlier ?? "none"} and the deployed one at ${now}; \
Cloudflare refuses to remove classes of objects. Revert the change in a new commit that keeps the class and its tag, \
and run make deploy`,
  ];
}

/** Only the next release's data is sure to be readable (docs/OPERATING.md, "Upgrading"). */
async function refusalsOfReleases({ versions, target: chosen }) {
  const target = commitOf(chosen);
  // Not the deployed version: after a rollback, the data of the newer one is still there.
  const newest = commitOf(versions.findLast(tagOf));
  const releases = async (commit) => {
    const changelog = await git("show", `${commit}:./CHANGELOG.md`).catch(() => {
      throw new Failure(`Nothing was changed: commit ${commit} is not in this clone; run git fetch first`);
    });
    return [...changelog.matchAll(/^## \[?(\d+\.\d+\.\d+)/gm)].map(([, release]) => release);
  };
  const [older, newer] = await Promise.all([releases(target), releases(newest)]);
  const between = newer.filter((release) => !older.includes(release));
  if (between.length <= 1) return [];
  return [
    `CHANGELOG.md: ${between.join(" and ")} came after ${target}; that code may be unable to \
read what is stored now. Choose a commit that is at most one release older than the newest deployed one`,
  ];
}

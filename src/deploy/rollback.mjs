// `make rollback TO=<commit or versions>`: deploys an earlier version of both Workers again, the edge first, because a
// newer origin knows all operations of an older edge. `make deploy` tags each version with its commit. Cloudflare still
// has the uploaded code, so a rollback takes seconds and builds nothing.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { deployedVersion, migrationTag } from "./account.mjs";
import { Failure, query, WORKERS, wrangler } from "./wrangler.mjs";

const git = async (...args) => (await promisify(execFile)("git", args)).stdout.trim();
const tagOf = (version) => version?.annotations?.["workers/tag"];
/** A tag is a commit, and `-dirty` if the tree had changes. A version without one was not made by `make deploy`. */
const commitOf = (version) => tagOf(version).replace("-dirty", "");
/** Fewer characters of a commit may be a mistake. */
const SHORTEST_COMMIT = 7;

export async function rollBack({ TO: to }) {
  if (!to)
    throw new Failure(
      "Nothing was changed: give the commit or the version to return to, as in make rollback TO=4f2a91c",
    );
  const [edge, origin] = await Promise.all(["edge", "origin"].map(withVersions));
  const tag = await choose(to, [edge, origin]);
  const deployed = await deployedVersion("origin");
  const refusals = [...[edge, origin].flatMap(refusalsOf), ...(await refusalsOfMigration(origin, deployed))];
  if (refusals.length === 0) refusals.push(...(await refusalsOfReleases(origin)));
  if (refusals.length > 0) throw new Failure(`${refusals.join("\n")}\nNothing was changed.`);
  // After a rollback, the newer version is deployed again in the order of `make deploy`.
  const isNewer = origin.versions.indexOf(origin.target) > origin.versions.findIndex(({ id }) => id === deployed?.id);
  for (const { worker, target } of isNewer ? [origin, edge] : [edge, origin]) {
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

/** All versions of a clean commit have the same code. Those of one that ends in `-dirty` may differ. */
const isClean = (tag) => /^[0-9a-f]+$/.test(tag);

/** Chooses a version of each Worker, by ids or by a commit, and returns their tag. */
async function choose(to, workers) {
  const ids = to.split(",");
  for (const one of workers) one.candidates = one.versions.filter(({ id }) => ids.includes(id));
  const chosen = workers.flatMap(({ candidates }) => candidates);
  const found = chosen.length === ids.length ? chosen.map(tagOf) : await tagsOf(to, workers);
  const [tag, ...others] = new Set(found);
  if (others.length > 0)
    throw new Failure(`Nothing was changed: ${to} has several tags: ${[tag, ...others].join(", ")}`);
  if (!tag) throw new Failure(`Nothing was changed: the version ${to} has no commit, as make deploy did not make it`);
  for (const one of workers) {
    const tagged = one.versions.filter((version) => tagOf(version) === tag);
    if (one.candidates.length === 0) one.candidates = isClean(tag) ? tagged.slice(-1) : tagged;
    if (one.candidates.length === 1) [one.target] = one.candidates;
  }
  return tag;
}

/** The tags that a commit may mean. */
async function tagsOf(to, workers) {
  const known = await git("rev-parse", "--verify", "--short=12", `${to}^{commit}`).catch(() => undefined);
  if (!known && to.length < SHORTEST_COMMIT) {
    throw new Failure(`Nothing was changed: give at least ${SHORTEST_COMMIT} characters of the commit, not ${to}`);
  }
  const commit = known ?? to;
  const tags = [...new Set(workers.flatMap(({ versions }) => versions.map(tagOf)).filter(Boolean))];
  const found = tags.includes(commit) ? [commit] : tags.filter((tag) => tag.startsWith(commit));
  if (found.length > 0) return found;
  throw new Failure(`Nothing was changed: none of the last 10 versions is ${to}. They have these commits: \
${tags.join(", ") || "none"}. For an older commit, check it out and run make deploy, if docs/OPERATING.md \
("Upgrading") allows it.`);
}

function refusalsOf({ worker, versions, candidates, target }) {
  if (candidates.length === 0) {
    return [`${WORKERS[worker]}: the ${worker} has no such version; run make deploy at that commit instead`];
  }
  if (!target) {
    const list = candidates.map(({ id, metadata }) => `${id} of ${metadata.created_on}`).join(", ");
    return [
      `${WORKERS[worker]}: the ${worker} has several versions with the tag ${tagOf(candidates[0])}: ${list}; name one \
of each Worker, as in make rollback TO=id,id`,
    ];
  }
  const since = versions.slice(versions.indexOf(target) + 1);
  // A change of a secret makes a version without a tag.
  if (since.every(tagOf)) return [];
  return [
    `${WORKERS[worker]}: after this version another was made without make deploy, as by a change of a secret, so this \
one may have old secrets; check the commit out and run make deploy, which keeps the secrets`,
  ];
}

/** Cloudflare refuses to roll back across a migration of classes: the older code lacks a class that has objects. */
async function refusalsOfMigration({ worker, target }, deployed) {
  if (!target) return [];
  const viewed = await query(worker, ["versions", "view", target.id, "--json"]);
  const [earlier, now] = [viewed, deployed].map(migrationTag);
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

// The commands of `make deploy`, `make secrets`, `make preflight` and `make rollback`. Variables of `make` arrive in
// the environment.

import { problemsOf as problemsOfAccount } from "./account.mjs";
import { preflight } from "./preflight.mjs";
import { rollBack } from "./rollback.mjs";
import { setSecrets } from "./secrets.mjs";
import { problemsOf as problemsOfSettings, readSettings } from "./settings.mjs";
import { Failure } from "./wrangler.mjs";

/** Everything that a deployment needs. The settings come first, because they need no network. */
async function check(variables) {
  const settings = readSettings();
  const problems = problemsOfSettings(settings);
  if (problems.length === 0) problems.push(...(await problemsOfAccount(settings, variables)));
  if (problems.length === 0) return;
  throw new Failure(`${problems.join("\n")}\nProblems: ${problems.length}. Nothing was built or changed.`);
}

const COMMANDS = { check, secrets: setSecrets, preflight, rollback: rollBack };

try {
  await COMMANDS[process.argv[2]](process.env);
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

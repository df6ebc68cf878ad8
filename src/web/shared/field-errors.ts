// The API's errors about fields. Their text begins with the field's path: "callback.url: must be on port 443".

import { ApiError } from "./client";
import { sentence } from "./error-text";
import { errors } from "./messages";

export interface FieldErrors {
  /** The sentence for a field, or for one below it such as an entry of a list. */
  of: (path: string) => string | null;
  /** The error, if it names no field that the form shows. */
  rest: unknown;
}

const WITH_PATH = /^([a-z_]+[.[\]\w]*): (.+)$/s;

export function fieldErrors(error: unknown, shown: string[]): FieldErrors {
  const match = error instanceof ApiError && error.status === 400 ? WITH_PATH.exec(error.message) : null;
  const isBelow = (path: string) =>
    match !== null && (match[1] === path || match[1]!.startsWith(`${path}.`) || match[1]!.startsWith(`${path}[`));
  const isShown = shown.some(isBelow);
  return {
    of: (path) => {
      if (!isBelow(path)) return null;
      const problem = problemText(match![2]!);
      const entry = /^\[(\d+)\]/.exec(match![1]!.slice(path.length));
      return entry ? errors.entry(Number(entry[1]) + 1, problem) : problem;
    },
    rest: isShown ? null : error,
  };
}

/** A sentence, unless it begins with a value such as a host, whose letters stay as they are. */
const problemText = (problem: string) =>
  /^[a-z]+ /.test(problem) ? sentence(problem) : `${problem.replace(/\.$/, "")}.`;

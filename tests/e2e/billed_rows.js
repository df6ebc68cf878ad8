// The origin Worker, which also counts the rows written that Cloudflare bills: those that the runtime's cursors report,
// including index entries, and one for each alarm that is set. GET of the control socket answers {class: {statement:
// rows}} and resets the counts to 0.
import { WorkerEntrypoint } from "cloudflare:workers";
import * as origin from "./entry.js";

export default origin.default;

let counts = {};
const classes = new WeakMap();

function count(storage, statement, rows) {
  const name = classes.get(storage);
  if (!name || rows === 0) return;
  counts[name] ??= {};
  counts[name][statement] = (counts[name][statement] ?? 0) + rows;
}

function patch({ storage }, name) {
  classes.set(storage, name).set(storage.sql, name);
  const ofSql = Object.getPrototypeOf(storage.sql);
  if (ofSql.isCounted) return;
  ofSql.isCounted = true;
  const { exec } = ofSql;
  ofSql.exec = function (statement, ...values) {
    const cursor = exec.call(this, statement, ...values);
    count(this, statement, cursor.rowsWritten);
    return cursor;
  };
  const ofStorage = Object.getPrototypeOf(storage);
  const { setAlarm } = ofStorage;
  ofStorage.setAlarm = function (...values) {
    count(this, "setAlarm", 1);
    return setAlarm.apply(this, values);
  };
}

const counted = (Uncounted, name) =>
  class extends Uncounted {
    constructor(state, env) {
      patch(state, name);
      super(state, env);
    }
  };

export const Accounts = counted(origin.Accounts, "Accounts");
export const Activity = counted(origin.Activity, "Activity");
export const Catalog = counted(origin.Catalog, "Catalog");
export const Clicks = counted(origin.Clicks, "Clicks");
export const Counters = counted(origin.Counters, "Counters");
export const Ledger = counted(origin.Ledger, "Ledger");
export const Outbox = counted(origin.Outbox, "Outbox");
export const Postbacks = counted(origin.Postbacks, "Postbacks");

export class Rows extends WorkerEntrypoint {
  fetch() {
    const answer = Response.json(counts);
    counts = {};
    return answer;
  }
}

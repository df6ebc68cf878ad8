// Forwards all requests to KV and to the objects, except for the faults set at the control socket: GET /kv,catalog
// breaks these two and ends all other faults; GET / ends all. Broken KV answers 500. A broken object throws, like one
// that was reset or is overloaded. After an object's name, `-answers` throws only after the request was carried out,
// `-hangs` waits until the fault ends, and `-reads-hang` does so for GET requests. GET /reads lists the keys of KV that
// were read since it was asked last.
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";

let broken = new Set();
const written = new Map();
let reads = [];

export default {
  fetch(request) {
    if (request.url.endsWith("/reads")) {
      const keys = reads;
      reads = [];
      return Response.json(keys);
    }
    broken = new Set(new URL(request.url).pathname.slice(1).split(",").filter(Boolean));
    return new Response(`broken: ${[...broken].join(" ")}\n`);
  },
};

export class UnreliableKv extends WorkerEntrypoint {
  async fetch(request) {
    if (request.method === "GET") reads.push(decodeURIComponent(new URL(request.url).pathname.slice(1)));
    if (broken.has("kv")) {
      await request.arrayBuffer();
      return new Response("KV is out of order", { status: 500 });
    }
    if (broken.has("kv-writes-hang") && request.method === "PUT")
      return new Promise(() => setTimeout(() => {}, 60_000));
    if (broken.has("kv-reads") && request.method === "GET") return new Response("not found", { status: 404 });
    if (broken.has("kv-hangs") && request.method === "GET") return new Promise(() => setTimeout(() => {}, 60_000));
    if (request.method === "PUT") {
      // KV accepts one write of a key a second.
      const { pathname } = new URL(request.url);
      if (Date.now() - (written.get(pathname) ?? 0) < 1_000) return new Response("too many", { status: 429 });
      written.set(pathname, Date.now());
    }
    const answer = await this.env.DISK.fetch(request);
    // Delays an answer that was already read.
    if (broken.has("kv-slow") && request.method === "GET") await new Promise((done) => setTimeout(done, 1_500));
    return answer;
  }
}

const unreliable = (name, binding) =>
  class extends DurableObject {
    async fetch(request) {
      if (broken.has(name)) throw new Error(`${name} is out of order`);
      const hangs = () => broken.has(`${name}-hangs`) || (request.method === "GET" && broken.has(`${name}-reads-hang`));
      while (hangs()) await new Promise((done) => setTimeout(done, 20));
      const answer = await this.env[binding].getByName(this.ctx.id.name).fetch(request);
      // The request was carried out, and its answer is lost.
      if (broken.has(`${name}-answers`)) throw new Error(`${name} lost its answer`);
      return answer;
    }
  };

export const UnreliableCatalog = unreliable("catalog", "CATALOG");
export const UnreliableLedger = unreliable("ledger", "LEDGERS");
export const UnreliableCounters = unreliable("counters", "COUNTERS");
export const UnreliableOutbox = unreliable("outboxes", "OUTBOXES");
export const UnreliableAccounts = unreliable("accounts", "ACCOUNTS");
export const UnreliableActivity = unreliable("activity", "ACTIVITY");
export const UnreliablePostbacks = unreliable("postbacks", "POSTBACKS");

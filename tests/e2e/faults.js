// Passes everything on to what is behind it, but for what the control socket has broken: GET /kv,catalog breaks these
// two, GET / mends all. KV answers 500; an object throws, as one does that was reset or is overloaded, and with `-answers`
// behind its name only once it has done what it was asked; with `-hangs` it waits until that is mended, and with `-reads-hang`
// where it is asked with GET.
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";

let broken = new Set();
const written = new Map();

export default {
  fetch(request) {
    broken = new Set(new URL(request.url).pathname.slice(1).split(",").filter(Boolean));
    return new Response(`broken: ${[...broken].join(" ")}\n`);
  },
};

export class UnreliableKv extends WorkerEntrypoint {
  async fetch(request) {
    if (broken.has("kv")) return new Response("KV is out of order", { status: 500 });
    if (broken.has("kv-reads") && request.method === "GET") return new Response("not found", { status: 404 });
    if (broken.has("kv-hangs") && request.method === "GET") return new Promise(() => setTimeout(() => {}, 60_000));
    if (request.method === "PUT") {
      // KV takes one write of a key a second.
      const { pathname } = new URL(request.url);
      if (Date.now() - (written.get(pathname) ?? 0) < 1_000) return new Response("too many", { status: 429 });
      written.set(pathname, Date.now());
    }
    const answer = await this.env.DISK.fetch(request);
    // The answer was on its way while the world went on.
    if (broken.has("kv-slow") && request.method === "GET") await new Promise((done) => setTimeout(done, 1_500));
    return answer;
  }
}

const unreliable = (what, binding) =>
  class extends DurableObject {
    async fetch(request) {
      if (broken.has(what)) throw new Error(`${what} is out of order`);
      const hangs = () =>
        broken.has(`${what}-hangs`) || (request.method === "GET" && broken.has(`${what}-reads-hang`));
      while (hangs()) await new Promise((done) => setTimeout(done, 20));
      const answer = await this.env[binding].getByName(this.ctx.id.name).fetch(request);
      // It was carried out, and nobody hears of it.
      if (broken.has(`${what}-answers`)) throw new Error(`${what} lost its answer`);
      return answer;
    }
  };

export const UnreliableCatalog = unreliable("catalog", "CATALOG");
export const UnreliableLedger = unreliable("ledger", "LEDGERS");
export const UnreliableCounters = unreliable("counters", "COUNTERS");
export const UnreliableOutbox = unreliable("outboxes", "OUTBOXES");

# The parts of a Signpost during a deployment and after a rollback. Each Worker has this release or the made-up next one
# of releases/next.patch. Each file in releases/ is a pair of Workers.

using Workerd = import "/workerd/workerd.capnp";
using Local = import "../../fixtures/local/workerd.capnp";

const thisEdge :Workerd.Service = (name = "edge", worker = Local.edge);
const thisOrigin :Workerd.Service = (name = "origin", worker = Local.origin);
const nextEdge :Workerd.Service = (name = "edge", worker = .nextEdgeWorker);
const nextOrigin :Workerd.Service = (name = "origin", worker = .nextOriginWorker);

const kv :Workerd.Service = (name = "kv", disk = (path = "kv", writable = true));
const objects :Workerd.Service = (name = "objects", disk = (path = "objects", writable = true));
const internet :Workerd.Service = (
  name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true)));
const socket :Workerd.Socket = (name = "http", address = "127.0.0.1:0", http = (), service = "edge");

const nextEdgeWorker :Workerd.Worker = (
  modules = [
    (name = "entry.js", esModule = embed "../../target/next/edge/entry.js"),
    (name = "fair_queue.js", esModule = embed "../../target/next/edge/fair_queue.js"),
    (name = "index.js", esModule = embed "../../target/next/edge/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../target/next/edge/index_bg.wasm"),
  ],
  compatibilityDate = "2026-04-01",
  compatibilityFlags = ["global_fetch_strictly_public"],
  bindings = Local.edgeBindings,
);

const nextOriginWorker :Workerd.Worker = (
  modules = [
    (name = "entry.js", esModule = embed "../../target/next/origin/entry.js"),
    (name = "pages.js", esModule = embed "../../target/next/origin/pages.js"),
    (name = "pages.gz.bin", data = embed "../../target/next/origin/pages.gz.bin"),
    (name = "index.js", esModule = embed "../../target/next/origin/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../target/next/origin/index_bg.wasm"),
  ],
  compatibilityDate = "2026-04-01",
  compatibilityFlags = ["global_fetch_strictly_public"],
  durableObjectNamespaces = Local.namespaces,
  durableObjectStorage = (localDisk = "objects"),
  bindings = Local.originBindings,
);

# Signpost built with fault injection (`--features faults`, for tests only): places panic on request.

using Workerd = import "/workerd/workerd.capnp";
using Local = import "../../../fixtures/local/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = .edge),
    (name = "origin", worker = .origin),
    (name = "kv", disk = (path = "kv", writable = true)),
    (name = "objects", disk = (path = "objects", writable = true)),
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "edge")],
);

const edge :Workerd.Worker = (
  modules = [
    (name = "entry.js", esModule = embed "../../../target/faults/edge/entry.js"),
    (name = "fair_queue.js", esModule = embed "../../../target/faults/edge/fair_queue.js"),
    (name = "index.js", esModule = embed "../../../target/faults/edge/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../../target/faults/edge/index_bg.wasm"),
  ],
  compatibilityDate = "2026-04-01",
  compatibilityFlags = ["global_fetch_strictly_public"],
  bindings = Local.edgeBindings,
);

const origin :Workerd.Worker = (
  modules = [
    (name = "entry.js", esModule = embed "../../../target/faults/origin/entry.js"),
    (name = "pages.js", esModule = embed "../../../target/faults/origin/pages.js"),
    (name = "pages.gz.bin", data = embed "../../../target/faults/origin/pages.gz.bin"),
    (name = "index.js", esModule = embed "../../../target/faults/origin/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../../target/faults/origin/index_bg.wasm"),
  ],
  compatibilityDate = "2026-04-01",
  compatibilityFlags = ["global_fetch_strictly_public"],
  durableObjectNamespaces = Local.namespaces,
  durableObjectStorage = (localDisk = "objects"),
  bindings = Local.originBindings,
);

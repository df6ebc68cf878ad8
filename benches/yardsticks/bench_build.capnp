# Signpost's bench build, with the routes of src/edge/bench.rs.

using Workerd = import "/workerd/workerd.capnp";
using Common = import "common.capnp";
using Local = import "../../fixtures/local/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = .edge),
    (name = "origin", worker = .origin),
    Common.kv,
    Common.objects,
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (cfBlobHeader = "CF-Blob"), service = "edge")],
);

const edge :Workerd.Worker = (
  modules = [
    (name = "entry.js", esModule = embed "../../target/bench/edge/entry.js"),
    (name = "fair_queue.js", esModule = embed "../../target/bench/edge/fair_queue.js"),
    (name = "index.js", esModule = embed "../../target/bench/edge/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../target/bench/edge/index_bg.wasm"),
  ],
  compatibilityDate = Common.date,
  compatibilityFlags = ["global_fetch_strictly_public"],
  bindings = Local.edgeBindings,
);

const origin :Workerd.Worker = (
  modules = [
    (name = "entry.js", esModule = embed "../../target/bench/origin/entry.js"),
    (name = "pages.js", esModule = embed "../../target/bench/origin/pages.js"),
    (name = "pages.gz.bin", data = embed "../../target/bench/origin/pages.gz.bin"),
    (name = "index.js", esModule = embed "../../target/bench/origin/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../target/bench/origin/index_bg.wasm"),
  ],
  compatibilityDate = Common.date,
  compatibilityFlags = ["global_fetch_strictly_public"],
  durableObjectNamespaces = Local.namespaces,
  durableObjectStorage = (localDisk = "objects"),
  bindings = Local.originBindings,
);

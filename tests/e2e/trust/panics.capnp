# Signpost as it is built for tests alone (`--features faults`), with places that panic when they are asked to.

using Workerd = import "/workerd/workerd.capnp";
using Local = import "../../../fixtures/local/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "signpost", worker = .signpost),
    (name = "kv", disk = (path = "kv", writable = true)),
    (name = "objects", disk = (path = "objects", writable = true)),
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "signpost")],
);

const signpost :Workerd.Worker = (
  modules = [
    (name = "entry.js", esModule = embed "../../../target/faults/build/entry.js"),
    (name = "index.js", esModule = embed "../../../target/faults/build/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../../target/faults/build/index_bg.wasm"),
  ],
  compatibilityDate = "2026-04-01",
  compatibilityFlags = ["global_fetch_strictly_public"],
  durableObjectNamespaces = Local.namespaces,
  durableObjectStorage = (localDisk = "objects"),
  bindings = Local.bindings,
);

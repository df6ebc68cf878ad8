# Signpost, and at the control socket the rows that its objects have written: `billed_rows.js` counts them.

using Workerd = import "/workerd/workerd.capnp";
using Local = import "../../fixtures/local/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = Local.edge),
    (name = "origin", worker = .origin),
    (name = "kv", disk = (path = "kv", writable = true)),
    (name = "objects", disk = (path = "objects", writable = true)),
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [
    (name = "http", address = "127.0.0.1:0", http = (), service = "edge"),
    (name = "control", address = "127.0.0.1:0", http = (), service = (name = "origin", entrypoint = "Rows")),
  ],
);

const origin :Workerd.Worker = (
  modules = [
    (name = "billed_rows.js", esModule = embed "billed_rows.js"),
    (name = "entry.js", esModule = embed "../../build/origin/entry.js"),
    (name = "pages.js", esModule = embed "../../build/origin/pages.js"),
    (name = "pages.gz.bin", data = embed "../../build/origin/pages.gz.bin"),
    (name = "index.js", esModule = embed "../../build/origin/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../build/origin/index_bg.wasm"),
  ],
  compatibilityDate = "2026-04-01",
  compatibilityFlags = ["global_fetch_strictly_public"],
  durableObjectNamespaces = Local.namespaces,
  durableObjectStorage = (localDisk = "objects"),
  bindings = Local.originBindings,
);

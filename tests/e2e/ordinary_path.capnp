# One Signpost with two sockets: the edge's entry, and at the control socket the edge module's own handler, which
# answers everything on the ordinary path. Both share the objects and KV.

using Workerd = import "/workerd/workerd.capnp";
using Local = import "../../fixtures/local/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = Local.edge),
    (name = "origin", worker = Local.origin),
    (name = "ordinary", worker = .ordinary),
    (name = "kv", disk = (path = "kv", writable = true)),
    (name = "objects", disk = (path = "objects", writable = true)),
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [
    (name = "http", address = "127.0.0.1:0", http = (), service = "edge"),
    (name = "control", address = "127.0.0.1:0", http = (), service = "ordinary"),
  ],
);

const ordinary :Workerd.Worker = (
  modules = [
    (name = "ordinary_path.js", esModule = embed "ordinary_path.js"),
    (name = "index.js", esModule = embed "../../build/edge/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../build/edge/index_bg.wasm"),
  ],
  compatibilityDate = "2026-04-01",
  compatibilityFlags = ["global_fetch_strictly_public"],
  bindings = Local.edgeBindings,
);

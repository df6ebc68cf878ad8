# Signpost without its entry: every click goes the ordinary way.

using Workerd = import "/workerd/workerd.capnp";
using Local = import "../../fixtures/local/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "signpost", worker = .signpost),
    (name = "kv", disk = (path = "kv", writable = true)),
    (name = "objects", disk = (path = "objects", writable = true)),
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8787", http = (), service = "signpost")],
);

const signpost :Workerd.Worker = (
  modules = [
    (name = "index.js", esModule = embed "../../build/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../build/index_bg.wasm"),
  ],
  compatibilityDate = "2026-04-01",
  compatibilityFlags = ["global_fetch_strictly_public"],
  durableObjectNamespaces = Local.namespaces,
  durableObjectStorage = (localDisk = "objects"),
  bindings = Local.bindings,
);

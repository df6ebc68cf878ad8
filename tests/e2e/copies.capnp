# Runs copies.js, which copies a database of its own with Signpost's code.

using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "kv", disk = (path = "kv", writable = true)),
    (name = "objects", disk = (path = "objects", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const main :Workerd.Worker = (
  modules = [
    (name = "copies.js", esModule = embed "copies.js"),
    (name = "copy.js", esModule = embed "../../src/origin/copy.js"),
    (name = "load.js", esModule = embed "../../src/origin/load.js"),
  ],
  compatibilityDate = "2026-04-01",
  durableObjectNamespaces = [(className = "Copied", uniqueKey = "copied", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [(name = "COPIED", durableObjectNamespace = "Copied")],
);

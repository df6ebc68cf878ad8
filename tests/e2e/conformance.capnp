# Runs conformance.js, which compiles Signpost's SQL in workerd.

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
  modules = [(name = "conformance.js", esModule = embed "conformance.js")],
  compatibilityDate = "2026-04-01",
  durableObjectNamespaces = [(className = "Database", uniqueKey = "database", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [(name = "DATABASE", durableObjectNamespace = "Database")],
);

# Signpost without internet access: `no_internet.js` answers every outgoing call, so that a test may use any URL.

using Workerd = import "/workerd/workerd.capnp";
using Local = import "../../fixtures/local/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = Local.edge),
    (name = "origin", worker = Local.origin),
    (name = "kv", disk = (path = "kv", writable = true)),
    (name = "objects", disk = (path = "objects", writable = true)),
    (name = "internet", worker = .internet),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "edge")],
);

const internet :Workerd.Worker = (
  modules = [(name = "no_internet.js", esModule = embed "no_internet.js")],
  compatibilityDate = "2026-04-01",
);

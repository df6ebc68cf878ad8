# Signpost as on a single machine: callbacks reach only public addresses, whatever a name resolves to.

using Workerd = import "/workerd/workerd.capnp";
using Local = import "../../../fixtures/local/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = Local.edge),
    (name = "origin", worker = Local.origin),
    (name = "kv", disk = (path = "kv", writable = true)),
    (name = "objects", disk = (path = "objects", writable = true)),
    (name = "internet", network = (allow = ["public"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "edge")],
);

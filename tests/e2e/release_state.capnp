# This release as in fixtures/local/workerd.capnp, but without the internet: the harness's receiver answers what the
# Workers fetch, so that the URLs of a stored state reach nobody.

using Workerd = import "/workerd/workerd.capnp";
using Local = import "../../fixtures/local/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = Local.edge),
    (name = "origin", worker = Local.origin),
    (name = "kv", disk = (path = "kv", writable = true)),
    (name = "objects", disk = (path = "objects", writable = true)),
    .internet,
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "edge")],
);

# Its address is on the command line.
const internet :Workerd.Service = (name = "internet", external = (http = ()));

using Workerd = import "/workerd/workerd.capnp";
using Parts = import "../releases.capnp";

const config :Workerd.Config = (
  services = [Parts.thisEdge, Parts.thisOrigin, Parts.kv, Parts.objects, Parts.internet],
  sockets = [Parts.socket],
);

using Workerd = import "/workerd/workerd.capnp";
using Parts = import "../releases.capnp";

const config :Workerd.Config = (
  services = [Parts.thisEdge, Parts.nextOrigin, Parts.kv, Parts.objects, Parts.internet],
  sockets = [Parts.socket],
);

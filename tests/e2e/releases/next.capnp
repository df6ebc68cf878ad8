using Workerd = import "/workerd/workerd.capnp";
using Parts = import "../releases.capnp";

const config :Workerd.Config = (
  services = [Parts.nextEdge, Parts.nextOrigin, Parts.kv, Parts.objects, Parts.internet],
  sockets = [Parts.socket],
);

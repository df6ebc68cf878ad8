using Workerd = import "/workerd/workerd.capnp";
using Parts = import "../releases.capnp";

const config :Workerd.Config = (
  services = [Parts.nextEdge, Parts.thisOrigin, Parts.kv, Parts.objects, Parts.internet],
  sockets = [Parts.socket],
);

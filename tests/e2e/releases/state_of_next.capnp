using Workerd = import "/workerd/workerd.capnp";
using Parts = import "../releases.capnp";
using State = import "../release_state.capnp";

const config :Workerd.Config = (
  services = [Parts.nextEdge, Parts.nextOrigin, Parts.kv, Parts.objects, State.internet],
  sockets = [Parts.socket],
);

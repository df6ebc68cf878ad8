using Workerd = import "/workerd/workerd.capnp";
using Common = import "common.capnp";

const config :Workerd.Config = (
  services = [(name = "worker", worker = .worker), Common.kv, Common.objects],
  sockets = [Common.http],
);

const worker :Workerd.Worker = (
  modules = [(name = "receiver.js", esModule = embed "receiver.js")],
  compatibilityDate = Common.date,
);

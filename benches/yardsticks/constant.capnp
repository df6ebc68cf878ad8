using Workerd = import "/workerd/workerd.capnp";
using Common = import "common.capnp";

const config :Workerd.Config = (
  services = [(name = "worker", worker = .worker), Common.kv, Common.objects],
  sockets = [Common.http],
);

const worker :Workerd.Worker = (
  modules = [(name = "constant.js", esModule = embed "constant.js")],
  compatibilityDate = Common.date,
  bindings = [(name = "ANSWER", fromEnvironment = "ANSWER")],
);

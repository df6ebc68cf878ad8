using Workerd = import "/workerd/workerd.capnp";
using Common = import "common.capnp";

const config :Workerd.Config = (
  services = [(name = "worker", worker = .worker), Common.kv, Common.objects],
  sockets = [Common.http],
);

const worker :Workerd.Worker = (
  modules = [(name = "hono.js", esModule = embed "../../target/bench/hono.js")],
  compatibilityDate = Common.date,
  bindings = [(name = "LINKS", kvNamespace = "kv")],
);

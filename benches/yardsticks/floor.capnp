using Workerd = import "/workerd/workerd.capnp";
using Common = import "common.capnp";

const config :Workerd.Config = (
  services = [(name = "worker", worker = .worker), Common.kv, Common.objects],
  sockets = [Common.http],
);

const worker :Workerd.Worker = (
  modules = [(name = "floor.js", esModule = embed "floor.js")],
  compatibilityDate = Common.date,
  bindings = [
    (name = "LOCATION", fromEnvironment = "LOCATION"),
    (name = "TRUST_COUNTRY_HEADER", fromEnvironment = "TRUST_COUNTRY_HEADER"),
  ],
);

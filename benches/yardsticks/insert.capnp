using Workerd = import "/workerd/workerd.capnp";
using Common = import "common.capnp";

const config :Workerd.Config = (
  services = [(name = "worker", worker = .worker), Common.kv, Common.objects],
  sockets = [Common.http],
);

const worker :Workerd.Worker = (
  modules = [(name = "insert.js", esModule = embed "insert.js")],
  compatibilityDate = Common.date,
  durableObjectNamespaces = [(className = "Bare", uniqueKey = "bare", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [(name = "BARE", durableObjectNamespace = "Bare")],
);

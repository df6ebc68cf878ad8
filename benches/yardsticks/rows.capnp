using Workerd = import "/workerd/workerd.capnp";
using Common = import "common.capnp";

const config :Workerd.Config = (
  services = [(name = "worker", worker = .worker), Common.kv, Common.objects],
  sockets = [Common.http],
);

const worker :Workerd.Worker = (
  modules = [(name = "rows.js", esModule = embed "rows.js")],
  compatibilityDate = Common.date,
  durableObjectNamespaces = [(className = "Rows", uniqueKey = "rows", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [(name = "ROWS", durableObjectNamespace = "Rows")],
);

# One Signpost, reached in two ways: through its entry, and at the control socket through the module's own handler alone,
# which answers everything the ordinary way. Both serve from the same objects and the same KV.

using Workerd = import "/workerd/workerd.capnp";
using Local = import "../../fixtures/local/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "signpost", worker = Local.signpost),
    (name = "ordinary", worker = .ordinary),
    (name = "kv", disk = (path = "kv", writable = true)),
    (name = "objects", disk = (path = "objects", writable = true)),
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [
    (name = "http", address = "127.0.0.1:0", http = (), service = "signpost"),
    (name = "control", address = "127.0.0.1:0", http = (), service = "ordinary"),
  ],
);

const ordinary :Workerd.Worker = (
  modules = [
    (name = "index.js", esModule = embed "../../build/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../build/index_bg.wasm"),
  ],
  compatibilityDate = "2026-04-01",
  compatibilityFlags = ["global_fetch_strictly_public"],
  bindings = [
    (name = "CATALOG", durableObjectNamespace = (className = "Catalog", serviceName = "signpost")),
    (name = "COUNTERS", durableObjectNamespace = (className = "Counters", serviceName = "signpost")),
    (name = "CLICKS", durableObjectNamespace = (className = "Clicks", serviceName = "signpost")),
    (name = "LEDGERS", durableObjectNamespace = (className = "Ledger", serviceName = "signpost")),
    (name = "OUTBOXES", durableObjectNamespace = (className = "Outbox", serviceName = "signpost")),
    (name = "SNAPSHOTS", kvNamespace = "kv"),
    (name = "TRACKING_URL", fromEnvironment = "TRACKING_URL"),
    (name = "OFFERS_RATE", fromEnvironment = "OFFERS_RATE"),
    (name = "TRUST_COUNTRY_HEADER", fromEnvironment = "TRUST_COUNTRY_HEADER"),
    (name = "OPERATOR_TOKEN", fromEnvironment = "OPERATOR_TOKEN"),
    (name = "CLICK_KEYS", fromEnvironment = "CLICK_KEYS"),
    (name = "STORE_KEYS", fromEnvironment = "STORE_KEYS"),
    (name = "REPORT_KEY_MAC", fromEnvironment = "REPORT_KEY_MAC"),
  ],
);

# Signpost with fault injection: both Workers reach KV and the objects through `faults.js`, which breaks those named at
# its control socket.

using Workerd = import "/workerd/workerd.capnp";
using Local = import "../../fixtures/local/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = .edge),
    (name = "origin", worker = .origin),
    (name = "faults", worker = .faults),
    (name = "kv", disk = (path = "kv", writable = true)),
    (name = "objects", disk = (path = "objects", writable = true)),
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [
    (name = "http", address = "127.0.0.1:0", http = (), service = "edge"),
    (name = "control", address = "127.0.0.1:0", http = (), service = "faults"),
  ],
);

const edge :Workerd.Worker = (
  modules = [
    (name = "entry.js", esModule = embed "../../build/edge/entry.js"),
    (name = "fair_queue.js", esModule = embed "../../build/edge/fair_queue.js"),
    (name = "index.js", esModule = embed "../../build/edge/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../build/edge/index_bg.wasm"),
  ],
  compatibilityDate = "2026-04-01",
  bindings = [
    (name = "ORIGIN", service = "origin"),
    (name = "CATALOG", durableObjectNamespace = (className = "UnreliableCatalog", serviceName = "faults")),
    (name = "COUNTERS", durableObjectNamespace = (className = "UnreliableCounters", serviceName = "faults")),
    (name = "CLICKS", durableObjectNamespace = (className = "Clicks", serviceName = "origin")),
    (name = "LEDGERS", durableObjectNamespace = (className = "UnreliableLedger", serviceName = "faults")),
    (name = "OUTBOXES", durableObjectNamespace = (className = "UnreliableOutbox", serviceName = "faults")),
    (name = "ACTIVITY", durableObjectNamespace = (className = "UnreliableActivity", serviceName = "faults")),
    (name = "POSTBACKS", durableObjectNamespace = (className = "UnreliablePostbacks", serviceName = "faults")),
    (name = "SNAPSHOTS", kvNamespace = (name = "faults", entrypoint = "UnreliableKv")),
    (name = "TRACKING_URL", fromEnvironment = "TRACKING_URL"),
    (name = "REPORTING_HOST", fromEnvironment = "REPORTING_HOST"),
    (name = "OFFERS_HOST", fromEnvironment = "OFFERS_HOST"),
    (name = "TRACKING_HOST", fromEnvironment = "TRACKING_HOST"),
    (name = "OPERATOR_HOST", fromEnvironment = "OPERATOR_HOST"),
    (name = "TRUST_COUNTRY_HEADER", fromEnvironment = "TRUST_COUNTRY_HEADER"),
    (name = "REVALIDATE_SECONDS", fromEnvironment = "REVALIDATE_SECONDS"),
    (name = "METRICS_TOKEN", fromEnvironment = "METRICS_TOKEN"),
    (name = "CLICK_KEYS", fromEnvironment = "CLICK_KEYS"),
    (name = "EDGE_KEYS", fromEnvironment = "EDGE_KEYS"),
    (name = "REPORT_KEY_MAC", fromEnvironment = "REPORT_KEY_MAC"),
    (name = "TOKEN_MAC", fromEnvironment = "TOKEN_MAC"),
  ],
);

const origin :Workerd.Worker = (
  modules = [
    (name = "entry.js", esModule = embed "../../build/origin/entry.js"),
    (name = "pages.js", esModule = embed "../../build/origin/pages.js"),
    (name = "pages.gz.bin", data = embed "../../build/origin/pages.gz.bin"),
    (name = "index.js", esModule = embed "../../build/origin/index.js"),
    (name = "./index_bg.wasm", wasm = embed "../../build/origin/index_bg.wasm"),
  ],
  compatibilityDate = "2026-04-01",
  durableObjectNamespaces = Local.namespaces,
  durableObjectStorage = (localDisk = "objects"),
  bindings = [
    (name = "CATALOG", durableObjectNamespace = (className = "UnreliableCatalog", serviceName = "faults")),
    (name = "COUNTERS", durableObjectNamespace = (className = "UnreliableCounters", serviceName = "faults")),
    (name = "CLICKS", durableObjectNamespace = "Clicks"),
    (name = "ACCOUNTS", durableObjectNamespace = (className = "UnreliableAccounts", serviceName = "faults")),
    (name = "ACTIVITY", durableObjectNamespace = (className = "UnreliableActivity", serviceName = "faults")),
    (name = "LEDGERS", durableObjectNamespace = (className = "UnreliableLedger", serviceName = "faults")),
    (name = "OUTBOXES", durableObjectNamespace = (className = "UnreliableOutbox", serviceName = "faults")),
    (name = "POSTBACKS", durableObjectNamespace = (className = "UnreliablePostbacks", serviceName = "faults")),
    (name = "SNAPSHOTS", kvNamespace = (name = "faults", entrypoint = "UnreliableKv")),
    (name = "TRACKING_URL", fromEnvironment = "TRACKING_URL"),
    (name = "REPORTING_HOST", fromEnvironment = "REPORTING_HOST"),
    (name = "OFFERS_HOST", fromEnvironment = "OFFERS_HOST"),
    (name = "TRACKING_HOST", fromEnvironment = "TRACKING_HOST"),
    (name = "OPERATOR_HOST", fromEnvironment = "OPERATOR_HOST"),
    (name = "ALLOW_PRIVATE_CALLBACKS", fromEnvironment = "ALLOW_PRIVATE_CALLBACKS"),
    (name = "CALLBACK_SCHEDULE", fromEnvironment = "CALLBACK_SCHEDULE"),
    (name = "CALLBACK_TIMEOUT_MS", fromEnvironment = "CALLBACK_TIMEOUT_MS"),
    (name = "OPERATOR_TOKEN", fromEnvironment = "OPERATOR_TOKEN"),
    (name = "METRICS_TOKEN", fromEnvironment = "METRICS_TOKEN"),
    (name = "STORE_KEYS", fromEnvironment = "STORE_KEYS"),
    (name = "EDGE_KEYS", fromEnvironment = "EDGE_KEYS"),
    (name = "REPORT_KEY_MAC", fromEnvironment = "REPORT_KEY_MAC"),
    (name = "TOKEN_MAC", fromEnvironment = "TOKEN_MAC"),
    (name = "CLICK_KEYS", fromEnvironment = "CLICK_KEYS"),
    (name = "ACCOUNT_MAC", fromEnvironment = "ACCOUNT_MAC"),
    (name = "DASHBOARD_URL", fromEnvironment = "DASHBOARD_URL"),
  (name = "CONSOLE_URL", fromEnvironment = "CONSOLE_URL"),
    (name = "LOCAL_SIGN_IN", fromEnvironment = "LOCAL_SIGN_IN"),
  ],
);

const faults :Workerd.Worker = (
  modules = [(name = "faults.js", esModule = embed "faults.js")],
  compatibilityDate = "2026-04-01",
  durableObjectNamespaces = [
    (className = "UnreliableCatalog", uniqueKey = "unreliable-catalog", enableSql = true),
    (className = "UnreliableCounters", uniqueKey = "unreliable-counters", enableSql = true),
    (className = "UnreliableLedger", uniqueKey = "unreliable-ledger", enableSql = true),
    (className = "UnreliableOutbox", uniqueKey = "unreliable-outbox", enableSql = true),
    (className = "UnreliableAccounts", uniqueKey = "unreliable-accounts", enableSql = true),
    (className = "UnreliableActivity", uniqueKey = "unreliable-activity", enableSql = true),
    (className = "UnreliablePostbacks", uniqueKey = "unreliable-postbacks", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [
    (name = "DISK", service = "kv"),
    (name = "CATALOG", durableObjectNamespace = (className = "Catalog", serviceName = "origin")),
    (name = "COUNTERS", durableObjectNamespace = (className = "Counters", serviceName = "origin")),
    (name = "LEDGERS", durableObjectNamespace = (className = "Ledger", serviceName = "origin")),
    (name = "OUTBOXES", durableObjectNamespace = (className = "Outbox", serviceName = "origin")),
    (name = "ACCOUNTS", durableObjectNamespace = (className = "Accounts", serviceName = "origin")),
    (name = "ACTIVITY", durableObjectNamespace = (className = "Activity", serviceName = "origin")),
    (name = "POSTBACKS", durableObjectNamespace = (className = "Postbacks", serviceName = "origin")),
  ],
);

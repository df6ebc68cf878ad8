# Signpost like a local run, except that a header may carry Cloudflare's `request.cf`.

using Workerd = import "/workerd/workerd.capnp";
using Common = import "common.capnp";
using Local = import "../../fixtures/local/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = Local.edge),
    (name = "origin", worker = Local.origin),
    Common.kv,
    Common.objects,
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (cfBlobHeader = "CF-Blob"), service = "edge")],
);

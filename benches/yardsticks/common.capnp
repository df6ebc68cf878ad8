# What the yardsticks have in common, and with a Signpost: where they listen, the folders that every state has, also where
# nothing is kept in them, and the date of the runtime's behaviour.

using Workerd = import "/workerd/workerd.capnp";

const kv :Workerd.Service = (name = "kv", disk = (path = "kv", writable = true));
const objects :Workerd.Service = (name = "objects", disk = (path = "objects", writable = true));
# The header may bring what Cloudflare's network says of a request, `request.cf`.
const http :Workerd.Socket = (name = "http", address = "127.0.0.1:0", http = (cfBlobHeader = "CF-Blob"), service = "worker");
const date :Text = "2026-04-01";

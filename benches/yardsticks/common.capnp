# Shared by the yardsticks and Signpost: the folders of a state (also where nothing is stored in them) and the
# compatibility date; and the yardsticks' socket.

using Workerd = import "/workerd/workerd.capnp";

const kv :Workerd.Service = (name = "kv", disk = (path = "kv", writable = true));
const objects :Workerd.Service = (name = "objects", disk = (path = "objects", writable = true));
# The header may carry Cloudflare's `request.cf`.
const http :Workerd.Socket = (name = "http", address = "127.0.0.1:0", http = (cfBlobHeader = "CF-Blob"), service = "worker");
const date :Text = "2026-04-01";

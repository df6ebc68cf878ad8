//! V8's inspector: the size of an isolate's heap.

use std::net::{Ipv4Addr, TcpStream};

use serde_json::{Value, json};
use tungstenite::{Message, client};

use crate::harness::Signpost;

/// V8's memory for an isolate, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Heap {
    pub used: f64,
    pub reserved: f64,
    /// Buffers outside the heap.
    pub buffers: f64,
}

/// The heap of a Worker's isolate, `edge` or `origin`, without a garbage collection: asked for one first, workerd may
/// not answer for minutes.
pub fn heap(signpost: &Signpost, worker: &str) -> Heap {
    let port = signpost.inspector();
    let targets = signpost.get(&format!("http://127.0.0.1:{port}/json"), &[]).expect(200).json();
    let target = targets.as_array().into_iter().flatten().find(|target| target["id"] == worker);
    let target = target.unwrap_or_else(|| panic!("no isolate of {worker} in {targets}"));
    let url = target["webSocketDebuggerUrl"].as_str().expect("an address");

    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the inspector listens");
    let (mut socket, _) = client(url, stream).expect("a WebSocket");
    let mut call = |id: u64, method: &str| -> Value {
        let request = json!({"id": id, "method": method}).to_string();
        socket.send(Message::text(request)).expect("a call sent");
        loop {
            let Message::Text(text) = socket.read().expect("an answer") else {
                continue;
            };
            let answer: Value = serde_json::from_str(&text).expect("JSON");
            // Other messages are events.
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    };
    call(1, "Runtime.enable");
    let usage = call(2, "Runtime.getHeapUsage");
    let bytes = |name: &str| usage[name].as_f64().unwrap_or_else(|| panic!("no {name} in {usage}"));
    Heap { used: bytes("usedSize"), reserved: bytes("totalSize"), buffers: bytes("backingStorageSize") }
}

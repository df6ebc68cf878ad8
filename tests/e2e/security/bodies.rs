//! Hostile bodies: announced and never sent, longer or shorter than announced, endless, or sent byte by byte. They cost
//! only the sender's connection, and no memory before the sender is authenticated.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::json;

use super::status;
use crate::harness::{ANDROID_APP, CONVERSION, OPERATOR_TOKEN, REPORT, Setup, Signpost, answer_to};

/// Connections of one attacker to each of four endpoints.
const CONNECTIONS: usize = 100;
/// The most memory that an isolate may use for all connections, in bytes: the received forms, and 3 KB for each waiting
/// request. Buffers of the announced sizes would take 34 MB and more.
const MEMORY: u64 = 4 << 20;

fn open(signpost: &Signpost, head: &str, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(signpost.base().trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(format!("{head}\r\n\r\n").as_bytes()).unwrap();
    // The server may close the connection of a refused request meanwhile.
    let _ = stream.write_all(body);
    stream
}

fn head(method_and_target: &str, lines: &str) -> String {
    format!("{method_and_target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{lines}")
}

#[test]
fn bodies_from_unauthenticated_senders_take_no_memory() {
    let signpost = Setup::new().start();
    signpost.refresh();
    let before = signpost.wasm_memory();
    let report = head(&format!("POST {REPORT}"), "X-Api-Key: sk_a_0_0\r\nContent-Length: 262144");
    let offers = head("POST /v1/offer/api", &format!("App-Id: {ANDROID_APP}\r\nPub-Key: 0\r\nContent-Length: 65536"));
    let import = head("POST /v1/operator/import", "Authorization: Bearer x\r\nContent-Length: 67108864");
    let postback = head(&format!("POST {CONVERSION}"), "Content-Length: 16384")
        .replace("application/json", "application/x-www-form-urlencoded");
    let streams: Vec<_> = (0..CONNECTIONS)
        .flat_map(|n| {
            // Half of them announce a body, and half send nearly all of it.
            let sent = |most| vec![b' '; if n % 2 == 0 { 1 } else { most }];
            let json = [&report, &offers, &import].map(|head| open(&signpost, head, &sent(60_000)));
            json.into_iter().chain([open(&signpost, &postback, &sent(16_000))])
        })
        .collect();
    // All of these requests hang while the metrics are read.
    let took = signpost.wasm_memory() - before;
    assert!(took < MEMORY, "{took} bytes of memory for {} connections", streams.len());
    signpost.get("/healthz", &[]).expect(200);
    drop(streams);
    assert!(signpost.wasm_memory() - before < MEMORY);
}

#[test]
fn a_body_with_a_false_length_affects_no_other_request() {
    let signpost = Setup::new().start();
    signpost.refresh();
    let operators = format!("Authorization: Bearer {OPERATOR_TOKEN}");
    let put = |lines: &str| head("PUT /v1/operator/publishers/trust-bodies", &format!("{operators}\r\n{lines}"));
    let document = json!({"name": "B", "approved": true}).to_string();
    let length = document.len();

    // One byte and then none, with the token and without. Started here, checked at the end.
    let slow: Vec<_> = [
        (put("Content-Length: 500"), None),
        (head("POST /v1/operator/import", "Content-Length: 500"), Some(401)),
        (head("POST /v1/operator/import", "Transfer-Encoding: chunked"), Some(401)),
        (head(&format!("POST {REPORT}"), "Content-Length: 500"), None),
    ]
    .into_iter()
    .map(|(head, status)| (open(&signpost, &head, b"1"), head, status))
    .collect();

    let send = |head: &str, body: &str| {
        let request = format!("{head}\r\nConnection: close\r\n\r\n{body}");
        answer_to(&signpost.base(), request.as_bytes())
    };
    let named = || signpost.operator("GET", "publishers/trust-bodies", None).expect(200).json()["name"].clone();
    signpost.put("publishers/trust-bodies", &json!({"name": "A", "approved": true}));
    let chunked = format!("{length:x}\r\n{document}\r\n0\r\n\r\n");
    let smuggled = format!("0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n{document}");
    let is_taken = |lines: String, body: &str| {
        let answer = send(&put(&lines), body);
        let taken = status(&answer) == 200;
        assert!(taken || matches!(status(&answer), 0 | 400 | 500), "{lines}\n{body}\n{answer}");
        assert_eq!(named(), if taken { "B" } else { "A" }, "{lines}\n{body}\n{answer}");
        taken
    };
    for (lines, body) in [
        // A length that is too long, too short, zero, and absent.
        (format!("Content-Length: {}", length + 1), document.as_str()),
        (format!("Content-Length: {}", length - 1), &document),
        ("Content-Length: 0".into(), &document),
        ("X: y".into(), &document),
        // Two lengths, and invalid ones.
        (format!("Content-Length: {length}\r\nContent-Length: 5"), &document),
        (format!("Content-Length: {length}, {length}"), &document),
        ("Content-Length: -1".into(), &document),
        (format!("Content-Length: +{length}"), &document),
        ("Content-Length: 0x20".into(), &document),
        ("Content-Length: 99999999999999999999999".into(), &document),
        // Chunks that are longer or shorter than announced, or not chunks.
        ("Transfer-Encoding: chunked".into(), "ffffffffffffffffff\r\n{"),
        ("Transfer-Encoding: chunked".into(), "-5\r\n{"),
        ("Transfer-Encoding: chunked".into(), "5\r\n{"),
        ("Transfer-Encoding: chunked".into(), &document),
        ("Transfer-Encoding: gzip, chunked".into(), &chunked),
        // Request smuggling: a length that the chunked encoding overrides.
        (format!("Content-Length: {}\r\nTransfer-Encoding: chunked", smuggled.len()), &smuggled),
    ] {
        assert!(!is_taken(lines.clone(), body), "{lines}\n{body}");
    }
    assert!(is_taken("Content-Length: 5\r\nTransfer-Encoding: chunked".into(), &chunked));

    // Endless bodies: with the token read up to the endpoint's limit, without it refused at once.
    for (head, expected) in [
        (put("Transfer-Encoding: chunked"), 413),
        (head("PUT /v1/operator/publishers/trust-bodies", "Transfer-Encoding: chunked"), 401),
        (head("POST /v1/operator/import", "Transfer-Encoding: chunked"), 401),
        (
            // A length beside chunks is ignored.
            head("POST /v1/offer/api", "App-Id: 1\r\nPub-Key: 0\r\nContent-Length: 1\r\nTransfer-Encoding: chunked"),
            401,
        ),
        (head("POST /nowhere", "Transfer-Encoding: chunked"), 404),
        (head("POST /healthz", "Transfer-Encoding: chunked"), 405),
        (head(&format!("POST {REPORT}"), "Transfer-Encoding: chunked"), 413),
        (head("PROPFIND /v2/tracking/click", "Transfer-Encoding: chunked"), 405),
    ] {
        let mut stream = open(&signpost, &head, b"");
        let chunk = [b"10000\r\n", &[b' '; 0x10000][..], b"\r\n"].concat();
        let mut sent = 0;
        while sent < 64 << 20 && stream.write_all(&chunk).is_ok() {
            sent += chunk.len();
        }
        assert!(sent < 32 << 20, "{sent} bytes were taken of {head}");
        let mut answer = [0; 12];
        // The connection may be closed before the sender has read the answer.
        if stream.read_exact(&mut answer).is_ok() {
            assert_eq!(status(&String::from_utf8_lossy(&answer)), expected, "{head}");
        }
    }

    for (mut stream, head, expected) in slow {
        let Some(expected) = expected else {
            // The server is still waiting, on this connection only.
            drop(stream);
            continue;
        };
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap_or_else(|error| panic!("{head}: {error}"));
        assert_eq!(status(&String::from_utf8_lossy(&answer)), expected, "{head}");
    }
    signpost.operator("GET", "publishers/trust-bodies", None).expect(200);
    assert!(signpost.wasm_memory() < 16 << 20, "{}", signpost.wasm_memory());
}

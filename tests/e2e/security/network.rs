//! Addresses that Signpost is to call for an attacker, and receivers that answer to do harm. How an address may be
//! spelled is in `callbacks/guard.rs` and, at length, beside the guard itself.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::{Value, json};

use crate::harness::{
    ANDROID_APP, Behaviour, Receiver, Setup, Signpost, Wall, callback, demo, eventually, gzip, now_ms,
};

/// What a receiver writes to whoever calls.
type Writes = Box<dyn Fn(&mut Wire<'_>) + Send + Sync>;

/// The caller's end of a connection.
struct Wire<'w> {
    stream: &'w TcpStream,
    written: &'w AtomicU64,
}

impl Wire<'_> {
    /// False once the caller is gone.
    fn write(&mut self, bytes: &[u8]) -> bool {
        let written = self.stream.write_all(bytes).is_ok();
        self.written
            .fetch_add(if written { bytes.len() as u64 } else { 0 }, Ordering::Relaxed);
        written
    }

    fn write_slowly(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if !self.write(&[*byte]) {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Writes it again and again, as long as the caller takes it and at most so many bytes.
    fn repeat(&mut self, bytes: &[u8], most: u64) {
        while self.written.load(Ordering::Relaxed) < most && self.write(bytes) {}
    }
}

/// A receiver that answers what no server should: bytes, whatever was asked. It ends with the test.
struct Hostile {
    port: u16,
    written: Arc<AtomicU64>,
    ended: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

impl Hostile {
    fn start(writes: Writes) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (written, ended) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let serving = thread::spawn({
            let (written, ended) = (Arc::clone(&written), Arc::clone(&ended));
            move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    if ended.load(Ordering::Relaxed) {
                        return;
                    }
                    stream.set_write_timeout(Some(Duration::from_secs(3))).unwrap();
                    stream.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
                    let head = BufReader::new(&stream).lines().map_while(Result::ok);
                    head.take_while(|line| !line.is_empty()).for_each(drop);
                    writes(&mut Wire {
                        stream: &stream,
                        written: &written,
                    });
                }
            }
        });
        Self {
            port,
            written,
            ended,
            serving: Some(serving),
        }
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        let _ = self.serving.take().map(JoinHandle::join);
    }
}

/// Points the wall's callback there and calls it once: what the operator is told.
fn told(wall: &Wall<'_>, url: &str) -> Value {
    wall.put_app(&json!({"callback": callback(url, "GET")}));
    wall.operator("POST", "callback_test", None).expect(200).json()
}

fn impatient() -> Signpost {
    Setup::new().var("CALLBACK_TIMEOUT_MS", "1000").start()
}

#[test]
fn an_answer_without_end_is_cut_off_and_1_kib_of_it_is_kept() {
    const ENDLESS: u64 = 256 << 20;
    let signpost = impatient();
    let wall = signpost.wall("tn-hostile", "77000201", None);
    let bomb = gzip(&vec![b'x'; 32 << 20]);
    let packed_length = bomb.len();
    assert!(packed_length < 1 << 20);
    // What it answers; the status that is told, if one is; and the most that it came to write.
    let cases: Vec<(&str, Option<u16>, u64, Writes)> = vec![
        (
            "chunks without end",
            Some(200),
            16 << 20,
            Box::new(|wire| {
                wire.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                wire.repeat(&[b"10000\r\n", &[b'x'; 65_536][..], b"\r\n"].concat(), ENDLESS);
            }),
        ),
        (
            "a body of a terabyte",
            Some(200),
            16 << 20,
            Box::new(|wire| {
                wire.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n");
                wire.repeat(&[b'x'; 65_536], ENDLESS);
            }),
        ),
        (
            "headers without end",
            None,
            16 << 20,
            Box::new(|wire| {
                wire.write(b"HTTP/1.1 200 OK\r\n");
                wire.repeat(
                    &b"X-Header: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(1_000),
                    ENDLESS,
                );
            }),
        ),
        (
            "a status line without end",
            None,
            16 << 20,
            Box::new(|wire| {
                wire.write(b"HTTP/1.1 200 ");
                wire.repeat(&[b'O'; 65_536], ENDLESS);
            }),
        ),
        (
            "a byte now and then of the head",
            None,
            100,
            Box::new(|wire| {
                wire.write_slowly(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
            }),
        ),
        (
            "a byte now and then of the body",
            None,
            200,
            Box::new(|wire| {
                wire.write(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n");
                wire.write_slowly(&[b'x'; 50]);
            }),
        ),
        (
            "a gzip bomb",
            Some(200),
            1 << 20,
            Box::new(move |wire| {
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {packed_length}\r\n\r\n"
                );
                wire.write(&[head.as_bytes(), &bomb].concat());
            }),
        ),
        (
            "early hints without end",
            Some(103),
            16 << 20,
            Box::new(|wire| {
                wire.repeat(
                    &b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(100),
                    ENDLESS,
                );
            }),
        ),
        (
            "five megabytes of what is no text",
            Some(200),
            8 << 20,
            Box::new(|wire| {
                wire.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5242880\r\nSet-Cookie: a=b\r\n\r\n");
                wire.repeat(&[0xff; 65_536], 5 << 20);
            }),
        ),
        (
            "another protocol",
            None,
            100,
            Box::new(|wire| {
                wire.write(b"SSH-2.0-OpenSSH_9.2p1\r\n");
            }),
        ),
        (
            "a protocol to switch to",
            None,
            200,
            Box::new(|wire| {
                wire.write(
                    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
                );
            }),
        ),
        (
            "nothing that is HTTP",
            None,
            100,
            Box::new(|wire| {
                wire.write(b"\0\x01\x02\r\n\r\n");
            }),
        ),
    ];
    for (what, status, most, writes) in cases {
        let hostile = Hostile::start(writes);
        let began_ms = now_ms();
        let told = told(&wall, &format!("http://127.0.0.1:{}/cb", hostile.port));
        let took_ms = now_ms() - began_ms;
        // The limit of the call, and what a busy machine adds.
        assert!(took_ms < 4_000, "{what}: {took_ms} ms");
        let response = &told["response"];
        assert_eq!(
            response["http_status"].as_u64(),
            status.map(u64::from),
            "{what}: {told}"
        );
        let kept = response["body"].as_str().unwrap_or_default().len();
        assert!(kept <= 1_024, "{what}: {kept} bytes are kept");
        let written = hostile.written.load(Ordering::Relaxed);
        assert!(written <= most, "{what}: it came to write {written} bytes");
        // Nothing else waits for it.
        signpost.get("/healthz", &[]).expect(200);
    }
    let memory = signpost.wasm_memory();
    assert!(memory < 32 << 20, "{memory} bytes");

    // And what is kept of a callback that was paid.
    let hostile = Hostile::start(Box::new(|wire| {
        wire.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        wire.repeat(&[b"10000\r\n", &[b'x'; 65_536][..], b"\r\n"].concat(), ENDLESS);
    }));
    let url = format!("http://127.0.0.1:{}/cb", hostile.port);
    wall.put_app(&json!({"callback": callback(&url, "GET")}));
    let id = wall.pay("u-1");
    eventually(&"delivered".to_owned(), || wall.state(&id));
    let entry = wall.entry(&id);
    assert_eq!(
        entry["attempts"][0]["body"].as_str().map(str::len),
        Some(1_024),
        "{entry}"
    );
}

#[test]
fn no_answer_leads_a_callback_to_another_address() {
    let signpost = demo();
    let (receiver, inside) = (Receiver::start(), Receiver::start());
    let wall = signpost.wall("tn-redirect", "77000202", None);
    let secret = format!("{}/secret", inside.base());
    let refresh = format!("0; url={secret}");
    let link = format!("<{secret}>; rel=preload");
    let service = format!("h2=\":{}\"; ma=99999", inside.port);
    let redirects = [301, 302, 303, 307, 308].map(|status| (status, ("Location", secret.as_str())));
    let others = [
        (200, ("Refresh", refresh.as_str())),
        (200, ("Link", link.as_str())),
        (200, ("Alt-Svc", service.as_str())),
        (201, ("Location", secret.as_str())),
        (401, ("WWW-Authenticate", "Basic realm=\"x\"")),
        (407, ("Proxy-Authenticate", "Basic realm=\"x\"")),
    ];
    let url = format!("{}/cb", receiver.base());
    for (number, (status, header)) in redirects.into_iter().chain(others).enumerate() {
        receiver.set(Behaviour::answer(status, &[header], ""));
        for _ in 0..2 {
            let told = told(&wall, &url);
            assert_eq!(told["response"]["http_status"], status, "{told}");
        }
        assert_eq!(receiver.count(), (number + 1) * 2, "{status} {header:?}");
    }
    assert_eq!(inside.count(), 0, "{:?}", inside.received());
}

#[test]
fn addresses_that_are_only_shown_or_redirected_to_are_never_called() {
    let signpost = demo();
    let inside = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    inside.set_nonblocking(true).unwrap();
    let url = format!("http://{}/inside", inside.local_addr().unwrap());
    let with_click = format!("{url}?c={{click_id}}");
    signpost.put_offer(
        "tn-shown",
        &json!({"lp_url": url, "target_url": with_click, "ic_url": url, "desc": format!("<img src=\"{url}\">{url}")}),
    );
    signpost.put_offer("tn-over", &json!({"ends_at": 1}));
    let app = json!({"publisher_id": "lumen-arcade", "name": "Falls back", "platform": "android", "fallback_url": url,
        "currency": {"name": "Coins", "per_usd": 1, "decimals": 0, "rounding": "down"}});
    signpost.put("apps/77000203", &app);
    signpost.refresh();
    let click = |goal: &str, app: &str| signpost.click(&format!("rid={goal}&app={app}&user_id=u-1"), "DE");
    assert!(click("tn-shown-g", ANDROID_APP).location().starts_with(&url));
    assert_eq!(click("tn-over-g", "77000203").location(), url);
    let filter = json!([{"dim": "offer_id", "match": {"type": "exact", "value": ["tn-shown"]}}]);
    let offers = signpost.list(ANDROID_APP, &signpost.pub_key(), &filter);
    assert_eq!(offers[0]["crtvs"]["ic_url"], url);
    thread::sleep(Duration::from_millis(200));
    let called = inside.accept().map(|(_, from)| from);
    assert!(called.is_err(), "called from {called:?}");
}

/// What a single machine is told to use (`network = (allow = ["public"])`): a name is judged by what it resolves to, as
/// the connection is made, so that no answer of DNS, first or second, leads inside.
#[test]
fn a_name_that_resolves_to_a_private_address_is_not_reached_where_the_network_is_public() {
    let signpost = Setup::new()
        .config("security/public_only.capnp")
        .var("CALLBACK_TIMEOUT_MS", "3000")
        .start();
    let inside = Receiver::start();
    let wall = signpost.wall("tn-public", "77000204", None);
    // The guard lets these pass here, as it would a public name of which DNS says the same.
    for host in ["localhost", "127.0.0.1"] {
        let told = told(&wall, &format!("http://{host}:{}/cb", inside.port));
        assert_eq!(told["response"], Value::Null, "{host}: {told}");
        assert!(told["error"].is_string(), "{host}: {told}");
    }
    assert_eq!(inside.count(), 0, "{:?}", inside.received());
}

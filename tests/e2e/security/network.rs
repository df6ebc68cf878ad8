//! Server-side request forgery by callback URLs, and receivers with hostile responses. Spellings of addresses are
//! tested in `callbacks/guard.rs` and in the unit tests of the guard.

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
    ANDROID_APP, Behaviour, OfferWall, Receiver, Setup, Signpost, callback, demo, eventually, gzip, now_ms,
};

/// Writes a receiver's response.
type Respond = Box<dyn Fn(&mut Connection<'_>) + Send + Sync>;

/// A connection to the caller, and a count of the bytes written.
struct Connection<'w> {
    stream: &'w TcpStream,
    written: &'w AtomicU64,
}

impl Connection<'_> {
    /// Writes bytes. Returns false once the caller is gone.
    fn write(&mut self, bytes: &[u8]) -> bool {
        let written = self.stream.write_all(bytes).is_ok();
        self.written.fetch_add(if written { bytes.len() as u64 } else { 0 }, Ordering::Relaxed);
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

    /// Writes the bytes repeatedly while the caller takes them, up to `most` bytes in total.
    fn repeat(&mut self, bytes: &[u8], most: u64) {
        while self.written.load(Ordering::Relaxed) < most && self.write(bytes) {}
    }
}

/// A receiver that answers any request with arbitrary bytes. Dropping it ends its thread.
struct Hostile {
    port: u16,
    written: Arc<AtomicU64>,
    ended: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

impl Hostile {
    fn start(respond: Respond) -> Self {
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
                    respond(&mut Connection { stream: &stream, written: &written });
                }
            }
        });
        Self { port, written, ended, serving: Some(serving) }
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        let _ = self.serving.take().map(JoinHandle::join);
    }
}

/// Sets the wall's callback URL and tests it once. Returns the result as the operator sees it.
fn test_callback(wall: &OfferWall<'_>, url: &str) -> Value {
    wall.put_app(&json!({"callback": callback(url, "GET")}));
    wall.operator("POST", "callback_test", None).expect(200).json()
}

/// Sets the operator's address for alarms and tests it once.
fn test_alarms(signpost: &Signpost, url: &str) -> Value {
    signpost.operator("PUT", "alarms", Some(&json!({ "url": url }))).expect(200);
    signpost.operator("POST", "alarms/test", Some(&json!({}))).expect(200).json()
}

fn with_short_timeout() -> Signpost {
    Setup::new().var("CALLBACK_TIMEOUT_MS", "1000").start()
}

#[test]
fn an_endless_response_is_cut_off_and_1_kib_of_it_is_stored() {
    const ENDLESS: u64 = 256 << 20;
    let signpost = with_short_timeout();
    let wall = signpost.offer_wall("tn-hostile", "77000201", None);
    let bomb = gzip(&vec![b'x'; 32 << 20]);
    let packed_length = bomb.len();
    assert!(packed_length < 1 << 20);
    // The name of the response; the reported status, if any; the most bytes that the receiver can write; the response.
    let cases: Vec<(&str, Option<u16>, u64, Respond)> = vec![
        (
            "chunks without end",
            Some(200),
            16 << 20,
            Box::new(|connection| {
                connection.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                connection.repeat(&[b"10000\r\n", &[b'x'; 65_536][..], b"\r\n"].concat(), ENDLESS);
            }),
        ),
        (
            "a body of a terabyte",
            Some(200),
            16 << 20,
            Box::new(|connection| {
                connection.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n");
                connection.repeat(&[b'x'; 65_536], ENDLESS);
            }),
        ),
        (
            "headers without end",
            None,
            16 << 20,
            Box::new(|connection| {
                connection.write(b"HTTP/1.1 200 OK\r\n");
                connection.repeat(&b"X-Header: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(1_000), ENDLESS);
            }),
        ),
        (
            "a status line without end",
            None,
            16 << 20,
            Box::new(|connection| {
                connection.write(b"HTTP/1.1 200 ");
                connection.repeat(&[b'O'; 65_536], ENDLESS);
            }),
        ),
        (
            "a byte now and then of the head",
            None,
            100,
            Box::new(|connection| {
                connection.write_slowly(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
            }),
        ),
        (
            "a byte now and then of the body",
            None,
            200,
            Box::new(|connection| {
                connection.write(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n");
                connection.write_slowly(&[b'x'; 50]);
            }),
        ),
        (
            "a gzip bomb",
            Some(200),
            1 << 20,
            Box::new(move |connection| {
                let head =
                    format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {packed_length}\r\n\r\n");
                connection.write(&[head.as_bytes(), &bomb].concat());
            }),
        ),
        (
            "early hints without end",
            Some(103),
            16 << 20,
            Box::new(|connection| {
                connection.repeat(&b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(100), ENDLESS);
            }),
        ),
        (
            "five megabytes of what is no text",
            Some(200),
            8 << 20,
            Box::new(|connection| {
                connection.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5242880\r\nSet-Cookie: a=b\r\n\r\n");
                connection.repeat(&[0xff; 65_536], 5 << 20);
            }),
        ),
        (
            "another protocol",
            None,
            100,
            Box::new(|connection| {
                connection.write(b"SSH-2.0-OpenSSH_9.2p1\r\n");
            }),
        ),
        (
            "a protocol to switch to",
            None,
            200,
            Box::new(|connection| {
                connection
                    .write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
            }),
        ),
        (
            "nothing that is HTTP",
            None,
            100,
            Box::new(|connection| {
                connection.write(b"\0\x01\x02\r\n\r\n");
            }),
        ),
    ];
    for (what, status, most, respond) in cases {
        let hostile = Hostile::start(respond);
        let began_ms = now_ms();
        let result = test_callback(&wall, &format!("http://127.0.0.1:{}/cb", hostile.port));
        let took_ms = now_ms() - began_ms;
        // The call's time limit, with a margin for a busy machine.
        assert!(took_ms < 4_000, "{what}: {took_ms} ms");
        let response = &result["response"];
        assert_eq!(response["http_status"].as_u64(), status.map(u64::from), "{what}: {result}");
        let stored = response["body"].as_str().unwrap_or_default().len();
        assert!(stored <= 1_024, "{what}: {stored} bytes are stored");
        let written = hostile.written.load(Ordering::Relaxed);
        assert!(written <= most, "{what}: {written} bytes were written");
        // Other requests do not wait for it.
        signpost.get("/healthz", &[]).expect(200);
    }
    let memory = signpost.wasm_memory();
    assert!(memory < 32 << 20, "{memory} bytes");

    // The response to the callback of a reward is cut off, too.
    let hostile = Hostile::start(Box::new(|connection| {
        connection.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        connection.repeat(&[b"10000\r\n", &[b'x'; 65_536][..], b"\r\n"].concat(), ENDLESS);
    }));
    let url = format!("http://127.0.0.1:{}/cb", hostile.port);
    wall.put_app(&json!({"callback": callback(&url, "GET")}));
    let id = wall.pay("u-1");
    eventually(&"delivered".to_owned(), || wall.state(&id));
    let entry = wall.entry(&id);
    assert_eq!(entry["attempts"][0]["body"].as_str().map(str::len), Some(1_024), "{entry}");
}

#[test]
fn no_response_leads_a_callback_or_an_alarm_to_another_address() {
    let signpost = demo();
    let (receiver, inside) = (Receiver::start(), Receiver::start());
    let wall = signpost.offer_wall("tn-redirect", "77000202", None);
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
            let result = test_callback(&wall, &url);
            assert_eq!(result["response"]["http_status"], status, "{result}");
        }
        let alarm = test_alarms(&signpost, &url);
        assert_eq!(alarm["http_status"], status, "{alarm}");
        assert_eq!(receiver.count(), (number + 1) * 3, "{status} {header:?}");
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
    signpost.put_offer("tn-over", &json!({"ends_at": now_ms() / 1_000 - 1}));
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

/// Single machines should use `network = (allow = ["public"])`: workerd then checks the resolved address when it
/// connects, so that DNS rebinding cannot reach private addresses.
#[test]
fn a_name_that_resolves_to_a_private_address_is_not_called_on_a_public_only_network() {
    let signpost = Setup::new().config("security/public_only.capnp").var("CALLBACK_TIMEOUT_MS", "3000").start();
    let inside = Receiver::start();
    let wall = signpost.offer_wall("tn-public", "77000204", None);
    // The guard allows these hosts here, as it would allow a public name that resolves to a private address.
    for host in ["localhost", "127.0.0.1"] {
        let url = format!("http://{host}:{}/cb", inside.port);
        let result = test_callback(&wall, &url);
        assert_eq!(result["response"], Value::Null, "{host}: {result}");
        assert!(result["error"].is_string(), "{host}: {result}");
        let alarm = test_alarms(&signpost, &url);
        assert_eq!(alarm["http_status"], Value::Null, "{host}: {alarm}");
        assert!(alarm["error"].is_string(), "{host}: {alarm}");
    }
    assert_eq!(inside.count(), 0, "{:?}", inside.received());
}

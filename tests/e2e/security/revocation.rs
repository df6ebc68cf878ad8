//! Revokes credentials while 32 senders use them: once the revocation of a report key was answered, or an isolate has
//! learned that of another credential, no new request is accepted. Requests that began before are completed.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use serde_json::json;

use crate::{
    faults::inject_faults,
    harness::{CONVERSION, End, REPORT, Setup, Signpost, demo, timed, with},
    reports::{csv, query},
};

const SENDERS: u32 = 32;
/// The shortest and the longest pause of a sender after each answer.
const REST: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(400)];
/// The share of workerd's one thread that all senders may take, as its inverse. The revocation needs the rest.
const SHARE: u32 = 3;
/// How long senders send before the revocation, and after its answer.
const BEFORE: Duration = Duration::from_millis(150);
const AFTER: Duration = Duration::from_millis(300);

/// The most requests of a sender after the revocation.
const MAX_ROUNDS: usize = 100;

/// Counts of statuses, of requests that began before the revocation was answered, and after.
#[derive(Debug, Default)]
struct Counts {
    before: BTreeMap<u16, usize>,
    after: BTreeMap<u16, usize>,
}

impl Counts {
    /// Fails the test unless requests were accepted at first, and none after the answer.
    #[track_caller]
    fn ends_with_401(&self, accepted: &[u16]) {
        assert!(accepted.iter().any(|status| self.before.contains_key(status)), "{self:?}");
        assert!(self.after.get(&401).is_some_and(|refused| *refused >= SENDERS as usize), "{self:?}");
        // 503: there are more senders than a publisher has permits for reports.
        assert!(self.after.keys().all(|status| matches!(status, 401 | 503)), "accepted after the revocation: {self:?}");
    }
}

/// Sends requests from all senders while `revoke` runs, and at least one more from each afterwards.
fn storm(ask: impl Fn(usize) -> u16 + Sync, revoke: impl FnOnce()) -> Counts {
    let (counts, revoked, over) = (Mutex::new(Counts::default()), AtomicBool::new(false), AtomicBool::new(false));
    // On a busy machine a request takes longer, so that the senders have to pause longer.
    let (status, took) = timed(|| ask(0));
    let rest = (took * SENDERS * SHARE).clamp(REST[0], REST[1]);
    counts.lock().expect("no sender").before.insert(status, 1);
    thread::scope(|scope| {
        for sender in 0..SENDERS as usize {
            let (ask, counts, revoked, over) = (&ask, &counts, &revoked, &over);
            scope.spawn(move || {
                let mut rounds_after = 0;
                loop {
                    let began_after = revoked.load(SeqCst);
                    let status = ask(sender);
                    let mut counts = counts.lock().expect("no sender panicked");
                    let kind = if began_after { &mut counts.after } else { &mut counts.before };
                    *kind.entry(status).or_default() += 1;
                    let refused = counts.after.get(&401).copied().unwrap_or_default();
                    drop(counts);
                    rounds_after += usize::from(began_after);
                    // On a busy machine few requests get a permit in a round, so the senders go on until enough did.
                    if over.load(SeqCst)
                        && rounds_after > 0
                        && (refused >= SENDERS as usize || rounds_after > MAX_ROUNDS)
                    {
                        return;
                    }
                    thread::sleep(rest);
                }
            });
        }
        // Dropped also if this thread panics, because the scope waits for the senders.
        let _ends = [End(&revoked), End(&over)];
        thread::sleep(BEFORE);
        revoke();
        revoked.store(true, SeqCst);
        thread::sleep(AFTER);
    });
    counts.into_inner().expect("no sender panicked")
}

#[test]
fn a_report_key_is_refused_once_its_revocation_is_answered() {
    let signpost = demo();
    let publisher = signpost.publisher("trust-revoked");
    publisher.put_facts("2026-01-05", &csv(&["2026-01-05,78060101,,DE,p,t,d,s,1,1,1,1,0.5"])).expect(200);
    let (key, other) = (publisher.create_key("a"), publisher.create_key("b"));
    let body = query(&["date"], &["clicks"]).to_string();
    let ask = |api_key: &str| signpost.report_with(api_key, body.as_bytes()).status;
    let counts = storm(|_| ask(&key.api_key), || publisher.revoke_key(&key));
    // At least one request was within the key's rate.
    counts.ends_with_401(&[200, 429]);
    assert!(counts.before.contains_key(&200), "{counts:?}");
    assert_eq!(ask(&other.api_key), 200, "the other key goes on");
    signpost.operator("GET", "publishers/trust-revoked/report_keys", None).expect(200);
}

#[test]
fn a_token_is_refused_once_the_isolate_knows_its_revocation() {
    let signpost = demo();
    let wall = signpost.unpublished_offer_wall("trust-token", "78060102", None);
    let paid = wall.click_id("u-paid");
    let ask = |token: &str, sender: usize| {
        // Every other sender repeats a paid conversion, which must not be accepted either.
        let click = if sender.is_multiple_of(2) { wall.click_id("u-1") } else { paid.clone() };
        signpost.get(&format!("{CONVERSION}?click_id={click}&token={token}"), &[]).status
    };
    assert_eq!(ask(&wall.token, 1), 200);
    // Revoked by its id.
    let path = format!("advertisers/trust-token/token/{}", wall.token_id);
    let counts = storm(
        |sender| ask(&wall.token, sender),
        || {
            signpost.operator("DELETE", &path, None).expect(204);
            signpost.refresh();
        },
    );
    counts.ends_with_401(&[200]);
    let rewards = wall.entries("limit=1000").len();
    assert!(rewards <= 1 + counts.before[&200], "{rewards} rewards, {counts:?}");

    // Replaced: only the two newest tokens are valid.
    let [first, second] = [(); 2].map(|()| wall.issue_token().1);
    let counts = storm(
        |sender| ask(&first, sender),
        || {
            wall.issue_token();
            signpost.refresh();
        },
    );
    counts.ends_with_401(&[200]);
    assert_eq!(ask(&second, 0), 200, "the newer one goes on");
}

#[test]
fn an_old_pub_key_is_refused_once_the_isolate_has_the_new_one() {
    let signpost = demo();
    let wall = signpost.unpublished_offer_wall("trust-pub-key", "78060103", None);
    let old = signpost.issue_pub_key("trust-pub-key");
    signpost.refresh();
    let body = json!({"page": 1, "size": 1});
    let ask = |key: &str| signpost.offers(&wall.app, key, &body).status;
    let mut new = String::new();
    let counts = storm(
        |_| ask(&old),
        || {
            new = signpost.issue_pub_key("trust-pub-key");
            signpost.refresh();
        },
    );
    counts.ends_with_401(&[200]);
    assert!(matches!(ask(&new), 200 | 429));
}

/// Rows with a long value each. They exceed the socket buffers, so the answer is in flight until it is read.
const ROWS: usize = 50_000;

#[test]
fn a_report_in_flight_when_its_key_is_revoked_is_sent_completely() {
    let signpost: Signpost = Setup::new().start();
    let publisher = signpost.publisher("trust-streaming");
    let rows: Vec<_> = (0..ROWS).map(|n| format!("2026-01-05,78060104,,DE,p{n:0120},t,d,s,1,1,1,1,0.5")).collect();
    let rows: Vec<_> = rows.iter().map(String::as_str).collect();
    publisher.put_facts("2026-01-05", &csv(&rows)).expect(200);
    let key = publisher.create_key("a");
    let body = with(query(&["placement_id"], &["impressions"]), &json!({"pagination": {"count": ROWS}}));
    let (headers, body) =
        ([("X-Api-Key", key.api_key.as_str()), ("Content-Type", "application/json")], body.to_string());
    let mut stream = TcpStream::connect(signpost.base().trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let [key_line, type_line] = headers.map(|(name, value)| format!("{name}: {value}"));
    let lines = [key_line.as_bytes(), type_line.as_bytes(), b"Accept: text/csv"];
    let length = format!("Content-Length: {}", body.len());
    let head = [
        format!("POST {REPORT} HTTP/1.1\r\nHost: r.example\r\nConnection: close\r\n{length}").as_bytes(),
        &lines.map(|line| [b"\r\n", line].concat()).concat(),
        b"\r\n\r\n",
    ]
    .concat();
    stream.write_all(&head).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    assert!(first.starts_with("HTTP/1.1 200"), "{first}");

    publisher.revoke_key(&key);
    signpost.report(&headers, body.as_bytes()).expect_error(401, "invalid_api_key");
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!(rest.matches(",1\r\n").count(), ROWS, "rows that came");
}

/// Longer than an isolate may go without requests before it has to read the pointer again to accept a token, plus the
/// time that the catalog takes to publish.
const IDLE: Duration = Duration::from_secs(62);

#[test]
fn a_revoked_token_or_key_is_not_taken_by_requests_that_wake_an_idle_isolate_together() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let wall = signpost.offer_wall("idle-token", "79000722", None);
    let clicks: Vec<_> = (0..16).map(|user| wall.click_id(&format!("user-{user}"))).collect();
    wall.pay("before");
    let pub_key = signpost.issue_pub_key("idle-token");
    signpost.refresh();
    let list = || signpost.offers(&wall.app, &pub_key, &json!({"page": 1, "size": 1})).status;
    assert_eq!(list(), 200);
    let path = format!("advertisers/{}/token/{}", wall.id, wall.token_id);
    signpost.operator("DELETE", &path, None).expect(204);
    signpost.issue_pub_key("idle-token");
    thread::sleep(IDLE);
    // The pointer and the snapshot that it names arrive after a second and a half each. Requests come all the while.
    inject_faults(&signpost, "kv-slow");
    let answers: Vec<_> = thread::scope(|scope| {
        let send = |nth: u64, click: &str| {
            thread::sleep(Duration::from_millis(nth * 200));
            [wall.convert(click, "").status, list()]
        };
        let sent: Vec<_> = (0..).zip(&clicks).map(|(nth, click)| scope.spawn(move || send(nth, click))).collect();
        sent.into_iter().map(|sent| sent.join().expect("an answer")).collect()
    });
    assert_eq!(answers, vec![[401; 2]; clicks.len()]);
}

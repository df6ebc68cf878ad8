//! A credential that is revoked while it is in use by thirty-two senders at once: once the revocation has been answered, no
//! request that begins is let in, ever; what had begun before is seen through.

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
    harness::{CONVERSION, REPORT, Setup, Signpost, demo, eventually, with},
    reports::{csv, query},
};

const SENDERS: usize = 32;
/// How long each rests after an answer: a machine that does nothing else would take its time over the revocation.
const REST: Duration = Duration::from_millis(20);
/// How long they send before the revocation, and after its answer.
const BEFORE: Duration = Duration::from_millis(150);
const AFTER: Duration = Duration::from_millis(300);

/// How often each status was met, by requests that began before the revocation was answered, and after.
#[derive(Debug, Default)]
struct Met {
    before: BTreeMap<u16, usize>,
    after: BTreeMap<u16, usize>,
}

impl Met {
    /// Fails the test unless requests were let in at first, and none after the answer.
    #[track_caller]
    fn ends_with_401(&self, let_in: &[u16]) {
        assert!(
            let_in.iter().any(|status| self.before.contains_key(status)),
            "{self:?}"
        );
        assert!(
            self.after.get(&401).is_some_and(|refused| *refused >= SENDERS),
            "{self:?}"
        );
        // 503: more senders than a publisher has places for reports.
        assert!(
            self.after.keys().all(|status| matches!(status, 401 | 503)),
            "let in after it was revoked: {self:?}"
        );
    }
}

/// Sets what ends the senders.
struct End<'a>([&'a AtomicBool; 2]);

impl Drop for End<'_> {
    fn drop(&mut self) {
        for flag in self.0 {
            flag.store(true, SeqCst);
        }
    }
}

/// Sends with all senders, one request after the other, while `revoke` is carried out, and then at least one more each.
fn storm(ask: impl Fn(usize) -> u16 + Sync, revoke: impl FnOnce()) -> Met {
    let (met, revoked, over) = (
        Mutex::new(Met::default()),
        AtomicBool::new(false),
        AtomicBool::new(false),
    );
    thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (ask, met, revoked, over) = (&ask, &met, &revoked, &over);
            scope.spawn(move || {
                loop {
                    let began_after = revoked.load(SeqCst);
                    let status = ask(sender);
                    let mut met = met.lock().expect("no sender panicked");
                    let kind = if began_after {
                        &mut met.after
                    } else {
                        &mut met.before
                    };
                    *kind.entry(status).or_default() += 1;
                    drop(met);
                    if began_after && over.load(SeqCst) {
                        return;
                    }
                    thread::sleep(REST);
                }
            });
        }
        // Also where this thread panics: the scope waits for the senders.
        let _end = End([&revoked, &over]);
        eventually(&true, || {
            !met.lock().expect("no sender panicked").before.is_empty()
        });
        thread::sleep(BEFORE);
        revoke();
        revoked.store(true, SeqCst);
        thread::sleep(AFTER);
    });
    met.into_inner().expect("no sender panicked")
}

#[test]
fn a_report_key_is_of_no_use_from_the_answer_to_its_revocation_on() {
    let signpost = demo();
    let publisher = signpost.publisher("trust-revoked");
    publisher
        .put_facts(
            "2026-01-05",
            &csv(&["2026-01-05,78060101,,DE,p,t,d,s,1,1,1,1,0.5"]),
        )
        .expect(200);
    let (key, other) = (publisher.create_key("a"), publisher.create_key("b"));
    let body = query(&["date"], &["clicks"]).to_string();
    let ask = |api_key: &str| signpost.report_with(api_key, body.as_bytes()).status;
    let met = storm(|_| ask(&key.api_key), || publisher.revoke_key(&key));
    // One of them was inside its rate.
    met.ends_with_401(&[200, 429]);
    assert!(met.before.contains_key(&200), "{met:?}");
    assert_eq!(ask(&other.api_key), 200, "the other key goes on");
    signpost
        .operator("GET", "publishers/trust-revoked/report_keys", None)
        .expect(200);
}

#[test]
fn a_token_is_of_no_use_from_the_answer_to_its_revocation_on() {
    let signpost = demo();
    let wall = signpost.unpublished_wall("trust-token", "78060102", None);
    let paid = wall.click_id("u-paid");
    let ask = |token: &str, sender: usize| {
        // Every other sender repeats what was paid before: that a reward is known lets nobody in either.
        let click = if sender.is_multiple_of(2) {
            wall.click_id("u-1")
        } else {
            paid.clone()
        };
        signpost
            .get(&format!("{CONVERSION}?click_id={click}&token={token}"), &[])
            .status
    };
    assert_eq!(ask(&wall.token, 1), 200);
    // Ended by its id.
    let path = format!("advertisers/trust-token/token/{}", wall.token_id);
    let met = storm(
        |sender| ask(&wall.token, sender),
        || {
            signpost.operator("DELETE", &path, None).expect(204);
        },
    );
    met.ends_with_401(&[200]);
    let rewards = wall.entries("limit=1000").len();
    assert!(rewards <= 1 + met.before[&200], "{rewards} rewards, {met:?}");

    // And as the third of two.
    let [first, second] = [(); 2].map(|()| wall.issue_token().1);
    let met = storm(|sender| ask(&first, sender), || drop(wall.issue_token()));
    met.ends_with_401(&[200]);
    assert_eq!(ask(&second, 0), 200, "the newer one goes on");
}

#[test]
fn a_pub_key_is_of_no_use_to_an_isolate_that_knows_of_the_new_one() {
    let signpost = demo();
    let wall = signpost.unpublished_wall("trust-pub-key", "78060103", None);
    let old = signpost.issue_pub_key("trust-pub-key");
    signpost.refresh();
    let body = json!({"page": 1, "size": 1});
    let ask = |key: &str| signpost.offers(&wall.app, key, &body).status;
    let mut new = String::new();
    let met = storm(
        |_| ask(&old),
        || {
            new = signpost.issue_pub_key("trust-pub-key");
            signpost.refresh();
        },
    );
    met.ends_with_401(&[200]);
    assert!(matches!(ask(&new), 200 | 429));
}

/// Rows with a long value each, more than sockets hold: the answer is under way until it is read.
const ROWS: usize = 50_000;

#[test]
fn a_report_that_is_being_sent_as_its_key_is_revoked_is_sent_whole() {
    let signpost: Signpost = Setup::new().start();
    let publisher = signpost.publisher("trust-streaming");
    let rows: Vec<_> = (0..ROWS)
        .map(|n| format!("2026-01-05,78060104,,DE,p{n:0120},t,d,s,1,1,1,1,0.5"))
        .collect();
    let rows: Vec<_> = rows.iter().map(String::as_str).collect();
    publisher.put_facts("2026-01-05", &csv(&rows)).expect(200);
    let key = publisher.create_key("a");
    let body = with(
        query(&["placement_id"], &["impressions"]),
        &json!({"pagination": {"count": ROWS}}),
    );
    let (headers, body) = (
        [
            ("X-Api-Key", key.api_key.as_str()),
            ("Content-Type", "application/json"),
        ],
        body.to_string(),
    );
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
    signpost
        .report(&headers, body.as_bytes())
        .refused(401, "invalid_api_key");
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!(rest.matches(",1\r\n").count(), ROWS, "rows that came");
}

//! Overload: requests beyond a concurrency limit are refused at once, others are served, and all permits are returned,
//! also by clients that disconnect. An app's share of postbacks and bodies is tested here, every limit in `limits`,
//! the dashboard's by publisher in `dashboard`, and busy connections in `fair_queue`.

mod dashboard;
mod fair_queue;
mod limits;

use std::{thread, time::Duration};

use serde_json::json;

use crate::{
    faults::inject_faults,
    harness::{
        ANDROID_APP, Answer, CONVERSION, IOS_APP, OfferWall, Raw, Setup, Signpost, eventually, expect_accepted, timed,
    },
};
use edge::limits::Pool;
use platform::concurrency_limit::Limit;

const BODIES: Limit = Pool::Bodies.limit();
const CONVERSIONS: Limit = Pool::Conversions.limit();

/// An app's share of concurrent postbacks.
const SHARE: usize = CONVERSIONS.per_owner;
/// The longest time of a refusal that waits for nothing, on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(2);
/// The time in which workerd notices a reset connection.
const RESET_NOTICED: Duration = Duration::from_millis(300);

pub fn metric(signpost: &Signpost, name: &str, kind: &str) -> usize {
    let value = signpost.metric(&format!("signpost_isolate_{name}{{kind=\"{kind}\"}}"));
    usize::try_from(value).expect("a count")
}

pub fn permits_taken(signpost: &Signpost, kind: &str) -> usize {
    metric(signpost, "under_way", kind)
}

pub fn postback(wall: &OfferWall<'_>, user: &str) -> String {
    format!(
        "GET {CONVERSION}?click_id={}&token={} HTTP/1.1\r\nHost: t.signpost.example\r\n\r\n",
        wall.click_id(user),
        wall.token
    )
}

/// Sends each request on its own connection after a `/healthz`, and reads neither answer. When the connection is
/// dropped, the kernel resets it because of the unread answer, so workerd notices at once instead of at its next write.
pub fn send_without_reading(signpost: &Signpost, requests: &[String]) -> Vec<Raw> {
    let send = |request: &String| {
        let mut raw = signpost.raw();
        let both = format!("GET /healthz HTTP/1.1\r\nHost: t.signpost.example\r\n\r\n{request}");
        raw.send(both.as_bytes()).expect("a request sent");
        raw
    };
    requests.iter().map(send).collect()
}

#[track_caller]
pub fn expect_immediate_refusal(ask: impl FnOnce() -> Answer) {
    expect_refusal(timed(ask));
}

#[track_caller]
fn expect_refusal((answer, took): (Answer, Duration)) {
    let answer = answer.expect_error(503, "unavailable");
    assert!(took < AT_ONCE, "{took:?}: {answer:?}");
    assert_eq!(answer.header("Retry-After"), Some("2"), "{answer:?}");
}

/// Fills a limit, or a share of it, with requests that hang: none of them is refused, and one more is refused at once.
/// Then ends the fault, returns the statuses of the answers, and checks that all permits are returned.
#[track_caller]
pub fn fill_limit(
    signpost: &Signpost,
    (kind, hangs): (&str, &str),
    requests: &[String],
    one_more: impl FnOnce() -> Answer,
    meanwhile: impl FnOnce(),
) -> Vec<u16> {
    let shed = metric(signpost, "shed_total", kind);
    inject_faults(signpost, hangs);
    let mut waiting = send_without_reading(signpost, requests);
    eventually(&requests.len(), || permits_taken(signpost, kind));
    assert_eq!(metric(signpost, "shed_total", kind), shed, "{kind}");
    expect_immediate_refusal(one_more);
    assert_eq!(metric(signpost, "shed_total", kind), shed + 1, "{kind}");
    meanwhile();
    inject_faults(signpost, "");
    let mut status = |raw: &mut Raw| {
        raw.receive().expect("an answer");
        raw.receive().expect("an answer").status
    };
    let statuses = waiting.iter_mut().map(&mut status).collect();
    eventually(&0, || permits_taken(signpost, kind));
    statuses
}

#[test]
fn an_app_with_a_hanging_outbox_has_its_share_and_departed_clients_return_permits() {
    let (signpost, pub_key) = Setup::new().config("faults.capnp").start_with_fixtures();
    let hanging = signpost.unpublished_offer_wall("busy-1", "79100001", None);
    let other = signpost.unpublished_offer_wall("busy-2", "79100002", None);
    signpost.refresh();

    inject_faults(&signpost, "outboxes-hangs");
    let requests: Vec<_> = (0..SHARE).map(|n| postback(&hanging, &format!("u-{n}"))).collect();
    let waiting = send_without_reading(&signpost, &requests);
    eventually(&SHARE, || permits_taken(&signpost, "conversion"));
    expect_immediate_refusal(|| hanging.convert(&hanging.click_id("one-too-many"), ""));
    assert_eq!(metric(&signpost, "shed_total", "conversion"), 1);

    // Another app's postbacks get permits, and requests that wait for nothing are served.
    let mut others = send_without_reading(&signpost, &[postback(&other, "u-other")]);
    eventually(&(SHARE + 1), || permits_taken(&signpost, "conversion"));
    signpost.click(&format!("rid={}&app={}&user_id=u-1", hanging.goal("1"), hanging.app), "DE").expect(302);
    signpost.offers(ANDROID_APP, &pub_key, &json!({"page": 1, "size": 5})).expect(200);
    signpost.put("advertisers/busy-3", &json!({"name": "Busy"}));

    // The clients of these requests disconnect. The requests are still carried out, and their permits are returned.
    let mut left = waiting.len();
    drop(waiting);
    thread::sleep(RESET_NOTICED);
    inject_faults(&signpost, "");
    eventually(&0, || permits_taken(&signpost, "conversion"));
    others[0].receive().expect("an answer").expect(200);
    expect_accepted(others[0].receive().expect("an answer"), "approved", false);
    for request in &requests {
        let answer = signpost.raw().exchange(request.as_bytes()).expect("an answer");
        expect_accepted(answer, "approved", true);
    }

    // Hundreds of clients disconnect at any moment.
    for round in 0..5 {
        let requests: Vec<_> = (0..SHARE).map(|n| postback(&hanging, &format!("u-{round}-{n}"))).collect();
        let leaving = send_without_reading(&signpost, &requests);
        left += leaving.len();
        drop(leaving);
    }
    thread::sleep(RESET_NOTICED);
    eventually(&0, || permits_taken(&signpost, "conversion"));
    hanging.pay("u-last");

    // A permit that was not returned would be missing here.
    let requests: Vec<_> = (0..SHARE).map(|n| postback(&hanging, &format!("u-again-{n}"))).collect();
    let one_more = || hanging.convert(&hanging.click_id("again-too-many"), "");
    let statuses = fill_limit(&signpost, ("conversion", "outboxes-hangs"), &requests, one_more, || {});
    assert_eq!(statuses, [200; SHARE]);
    println!("{left} clients left while their conversions waited, and all permits were returned");
    assert!(left >= 700, "{left}");
}

#[test]
fn unfinished_bodies_block_only_their_own_app() {
    let (signpost, pub_key) = Setup::new().start_with_fixtures();
    let wall = signpost.offer_wall("slow-bodies", "79100003", None);
    // Too long for the fast path.
    let long = format!("{{\"page\": 1, \"size\": 1{}}}", " ".repeat(9_000));
    let half = format!(
        "POST /v1/offer/api HTTP/1.1\r\nHost: o.signpost.example\r\nApp-Id: {ANDROID_APP}\r\nPub-Key: {pub_key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{{",
        long.len()
    );
    let offers = |app: &str| {
        let headers = [("App-Id", app), ("Pub-Key", &pub_key), ("Content-Type", "application/json")];
        signpost.send("POST", "/v1/offer/api", &headers, long.as_bytes())
    };
    let mut left = 0;
    for round in 0..3 {
        let waiting = send_without_reading(&signpost, &vec![half.clone(); BODIES.per_owner]);
        eventually(&BODIES.per_owner, || permits_taken(&signpost, "body"));
        expect_immediate_refusal(|| offers(ANDROID_APP));
        offers(IOS_APP).expect(200);
        wall.pay(&format!("u-{round}"));
        left += waiting.len();
        drop(waiting);
        eventually(&0, || permits_taken(&signpost, "body"));
    }
    offers(ANDROID_APP).expect(200);
    println!("{left} clients left with half a body, and all permits were returned");
    assert!(left >= 90, "{left}");
}

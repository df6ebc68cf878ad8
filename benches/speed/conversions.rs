//! Conversions: accepted and on disk, against an object that writes the same rows; through one and eight outboxes; the
//! delay of the answer, also after these loads, which enlarge V8's young generation; and that of the first callback.

mod pollers;

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use crate::{
    bench::{Bench, throughput},
    harness::{
        CONVERSION, OfferWall, Receiver, Setup, Signpost, callback, default_setting, eventually_within,
        expect_accepted, now_ms, seal,
    },
    load::{Load, Requests, interleaved},
    stats::{estimate, quantile, ratios},
    table::{Row, Verdict, interval, ms, spread, times},
    time::Stopwatch,
};
use domain::{callbacks::shards, tracking::keys::KeyRing};

const SECONDS: f64 = 2.0;
/// Clicks to convert: more than any run can use.
const CLICKS: usize = 400_000;
/// Conversions that wait together share a commit, so eight outboxes need more concurrent conversions than one. 128 is
/// also the most that the edge admits for one app at a time.
const BUSY_CONNECTIONS: u32 = 128;
/// With callbacks each round leaves thousands to send, and the next round has to wait for them.
const ROUNDS_WITH_CALLBACKS: usize = 3;
const DRAINED_MS: i64 = 120_000;

/// Warm-up requests, which are not measured. workerd evicts objects that were idle for 10 s. The ledger is idle while
/// another side runs, and opening it again delays all objects of the process.
const STEADY_WARM_UP: usize = 600;
const STEADY: usize = 1_000;
const STEADY_PER_SECOND: f64 = 200.0;
const STEADY_CLIENTS: usize = 32;
const STEADY_TARGET: f64 = 3.0;

/// workerd evicts an object that was idle for 10 s. After a conversion an outbox still sends its batches for 10 s.
const EVICTED: Duration = Duration::from_secs(25);

const PROMPT: usize = 200;
const PROMPT_PAUSE: Duration = Duration::from_millis(100);
const PROMPT_TARGET_MS: f64 = 1_000.0;

pub fn rows(bench: &Bench) -> Vec<Row> {
    let bare = bench.yardstick("rows").start();
    let signpost = Setup::new().start();
    let walls = [
        signpost.sharded_offer_wall("speed-one", "79000904", None, 1),
        signpost.sharded_offer_wall("speed-eight", "79000901", None, 8),
    ];
    for wall in &walls {
        // Most offers pay a user once. These users convert once.
        wall.put_offer(&serde_json::json!({"once_per": "user"}));
    }
    signpost.refresh();
    let first = walls.each_ref().map(|wall| clicks(wall, CLICKS));
    // The yardstick counts the object's rows, so a request may be repeated.
    let mut bare_requests = Requests::get(bench.scratch(), &first[0][..1_000]);
    let [mut one, eight] = first.map(|clicks| Requests::get(bench.scratch(), &[]).once(clicks));
    for wall in &walls {
        // The first conversion of an outbox asks for its terms.
        for user in wall.users() {
            expect_accepted(wall.convert(&wall.click_id(&user), ""), "approved", false);
        }
    }
    let per_second = format!("{STEADY_PER_SECOND} a second");
    let mut rows = vec![answers(bench, &per_second, &walls[1], &bare, Some(STEADY_TARGET)).printed()];
    let found = interleaved(
        "conversions",
        bench.rounds,
        &mut [&mut || load(bench, &signpost, OURS, &mut one), &mut || load(bench, &bare, BARE, &mut bare_requests)],
    );
    let work = "conversions, one app with one outbox, durable, against an object that writes the same rows";
    rows.push(throughput(work, Some(0.9), &found[0], &found[1]).printed());
    let (mut one, mut eight) = (one.over(BUSY_CONNECTIONS), eight.over(BUSY_CONNECTIONS));
    let found = interleaved(
        "eight outboxes",
        bench.rounds,
        &mut [&mut || load(bench, &signpost, OURS, &mut eight), &mut || load(bench, &signpost, OURS, &mut one)],
    );
    let work = format!("the same with eight outboxes, against one, {BUSY_CONNECTIONS} connections");
    rows.push(throughput(&work, Some(1.0), &found[0], &found[1]).printed());
    let after = format!("{per_second} after these loads");
    rows.push(answers(bench, &after, &walls[1], &bare, None).printed());
    drop(signpost);
    rows.push(pollers::row(bench));

    let receiver = bench.yardstick("receiver").start();
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("speed-calls", "79000902", None);
    wall.put_app(&serde_json::json!({"callback": callback(&format!("{}/cb", receiver.base()), "GET")}));
    signpost.refresh();
    let mut requests = Requests::get(bench.scratch(), &[]).once(self::clicks(&wall, CLICKS / 2));
    let found = interleaved(
        "conversions with callbacks",
        ROUNDS_WITH_CALLBACKS,
        &mut [
            &mut || {
                let found = load(bench, &signpost, OURS, &mut requests);
                eventually_within(DRAINED_MS, &0.into(), || wall.endpoint()["waiting"].clone());
                found
            },
            &mut || load(bench, &bare, BARE, &mut bare_requests),
        ],
    );
    let work = "the same with callbacks on, receiver answering in 5 ms";
    rows.push(throughput(work, None, &found[0], &found[1]).printed());
    rows.push(first_callback().printed());
    rows
}

/// Postbacks for an app with this number of outboxes. Each is sent once.
pub fn once_each(bench: &Bench, signpost: &Signpost, shards: u8) -> Requests {
    let wall = signpost.sharded_offer_wall(&format!("speed-{shards}"), &format!("7900091{shards}"), None, shards);
    wall.put_offer(&serde_json::json!({"once_per": "user"}));
    signpost.refresh();
    let requests = Requests::get(bench.scratch(), &[]).once(clicks(&wall, CLICKS));
    for user in wall.users() {
        // The first conversion of an outbox asks for its terms.
        expect_accepted(wall.convert(&wall.click_id(&user), ""), "approved", false);
    }
    if shards == 1 { requests } else { requests.over(BUSY_CONNECTIONS) }
}

/// The namespace and the query that counts the rows of conversions.
pub type Stored = (&'static str, &'static str);
pub const OURS: Stored = ("signpost-outbox", "SELECT count(*) FROM conversions");
const BARE: Stored = ("rows", "SELECT count(*) FROM conversions");

/// Runs a load of requests, each of which must leave a row.
pub fn load(bench: &Bench, server: &Signpost, stored: Stored, requests: &mut Requests) -> Load {
    load_for(bench, server, stored, requests, SECONDS)
}

fn load_for(bench: &Bench, server: &Signpost, (namespace, sql): Stored, requests: &mut Requests, seconds: f64) -> Load {
    let count = || -> i64 { server.stored(namespace, sql, |row| row.get::<_, i64>(0)).iter().sum() };
    let before = count();
    let load = requests.run(bench.scratch(), server, seconds);
    let stored = count() - before;
    let sent = i64::try_from(load.requests).expect("a count");
    assert!(stored >= sent, "{stored} of {sent} were stored");
    load
}

/// Postbacks of clicks of different users, each for the first time.
fn clicks(wall: &OfferWall<'_>, clicks: usize) -> Vec<String> {
    let keys = KeyRing::parse(&default_setting("CLICK_KEYS")).expect("keys");
    let clicked_at_ms = now_ms();
    let postback = |n: usize| {
        let click_id = seal(&keys, &wall.click(&format!("player-{n:06}"), clicked_at_ms));
        format!("{CONVERSION}?click_id={click_id}&token={}", wall.token)
    };
    (0..clicks).map(postback).collect()
}

/// The delay of answers at a steady rate, against the object that writes the same rows.
fn answers(bench: &Bench, when: &str, wall: &OfferWall<'_>, bare: &Signpost, target: Option<f64>) -> Row {
    let mut postbacks = steadily(wall);
    let mut inserts = || steady(bare, &vec!["/?q".to_owned(); STEADY_WARM_UP + STEADY]);
    let found = interleaved("answers", bench.rounds, &mut [&mut postbacks, &mut inserts]);
    let p99s = |side: usize| found[side].iter().map(|of| of[1]).collect::<Vec<_>>();
    let [ours, theirs] = [0, 1].map(p99s);
    let ratio = estimate(&ratios(&ours, &theirs)).expect("rounds");
    Row {
        work: format!("p99 of a conversion's answer, {when}, against the same object"),
        ours: spread(&ours, ms),
        yardstick: spread(&theirs, ms),
        ratio: interval(&ratio, times),
        target: target.map_or("-".to_owned(), |target| format!("≤ {}", times(target))),
        verdict: target.map_or(Verdict::Reported, |target| Verdict::of(ratio.median <= target)),
        notes: vec![format!(
            "{STEADY} requests a round after {STEADY_WARM_UP} that are not measured; each counts from its scheduled time"
        )],
    }
}

/// Sends postbacks of new users at a steady rate on each call. Returns the median and the 99th percentile of the delays
/// in milliseconds.
pub fn steadily(wall: &OfferWall<'_>) -> impl FnMut() -> [f64; 2] {
    let run = now_ms();
    let mut round = 0;
    move || {
        round += 1;
        let path = |n: usize| {
            let click_id = wall.click_id(&format!("steady-{run}-{round}-{n}"));
            format!("{CONVERSION}?click_id={click_id}&token={}", wall.token)
        };
        steady(wall.signpost, &(0..STEADY_WARM_UP + STEADY).map(path).collect::<Vec<_>>())
    }
}

/// Waits until workerd has evicted all outboxes of the app. Then returns the delay of a conversion in milliseconds.
/// Each call uses the next outbox and a new user.
pub fn of_idle_outboxes(wall: &OfferWall<'_>, outboxes: u8) -> impl FnMut() -> f64 {
    let run = now_ms();
    let mut round = 0_u8;
    move || {
        round += 1;
        let mut users = (0..).map(|n| format!("idle-{run}-{round}-{n}"));
        let user = users.find(|user| shards::of_user(user, outboxes) == round % outboxes);
        let click = wall.click_id(&user.expect("a user"));
        thread::sleep(EVICTED);
        // Starts the edge and the catalog, which other apps' conversions would have kept in memory.
        wall.signpost.get("/healthz", &[]).expect(200);
        let watch = Stopwatch::start();
        expect_accepted(wall.convert(&click, ""), "approved", false);
        watch.seconds() * 1e3
    }
}

/// Sends each path at its scheduled time. Returns the median and the 99th percentile of the delays, in milliseconds.
fn steady(server: &Signpost, paths: &[String]) -> [f64; 2] {
    let next = AtomicUsize::new(0);
    let watch = Stopwatch::start();
    let send_all = || {
        let mut delays = Vec::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(n) else {
                return delays;
            };
            let scheduled_s = n as f64 / STEADY_PER_SECOND;
            thread::sleep(Duration::from_secs_f64((scheduled_s - watch.seconds()).max(0.0)));
            server.get(path, &[]).expect(200);
            if n >= STEADY_WARM_UP {
                delays.push((watch.seconds() - scheduled_s) * 1e3);
            }
        }
    };
    let mut delays: Vec<f64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..STEADY_CLIENTS).map(|_| scope.spawn(send_all)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("delays")).collect()
    });
    delays.sort_by(f64::total_cmp);
    [0.5, 0.99].map(|share| quantile(&delays, share).expect("delays"))
}

/// Measured from the sending of a conversion, which is before its commit, to the arrival of its callback.
fn first_callback() -> Row {
    let signpost = Setup::new().start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("speed-prompt", "79000903", Some(&receiver));
    wall.pay("warm-up");
    receiver.wait(1);
    let mut delays = Vec::new();
    for number in 0..PROMPT {
        let sent_ms = now_ms();
        let transaction = wall.pay(&format!("u-{number}"));
        let received = receiver.wait(number + 2).remove(number + 1);
        assert_eq!(received.transaction_id(), transaction);
        delays.push((received.at_ms - sent_ms) as f64);
        thread::sleep(PROMPT_PAUSE);
    }
    delays.sort_by(f64::total_cmp);
    let at = |share: f64| quantile(&delays, share).expect("delays");
    Row {
        work: "first callback after the conversion, 10 a second".to_owned(),
        ours: format!("p99 {}, median {}", ms(at(0.99)), ms(at(0.5))),
        yardstick: "-".to_owned(),
        ratio: "-".to_owned(),
        target: format!("p99 < {}", ms(PROMPT_TARGET_MS)),
        verdict: Verdict::of(at(0.99) < PROMPT_TARGET_MS),
        notes: vec![format!("{PROMPT} conversions, from when each was sent; slowest {}", ms(at(1.0)))],
    }
}

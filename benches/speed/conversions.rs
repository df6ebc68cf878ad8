//! Conversions: accepted and on disk, against an object that does nothing but one INSERT; and the delay of the first
//! callback.

use std::{thread, time::Duration};

use crate::{
    bench::{Bench, throughput},
    harness::{
        CONVERSION, OfferWall, Receiver, Setup, Signpost, callback, default_setting, eventually_within,
        expect_accepted, now_ms, seal,
    },
    load::{Load, Requests, interleaved},
    stats::quantile,
    table::{Row, Verdict, ms},
};
use domain::tracking::keys::KeyRing;

const SECONDS: f64 = 2.0;
/// Clicks to convert: more than any run can use.
const CLICKS: usize = 400_000;
/// With callbacks each round leaves thousands to send, and the next round has to wait for them.
const ROUNDS_WITH_CALLBACKS: usize = 3;
const DRAINED_MS: i64 = 120_000;

const PROMPT: usize = 200;
const PROMPT_PAUSE: Duration = Duration::from_millis(100);
const PROMPT_TARGET_MS: f64 = 1_000.0;

pub fn rows(bench: &Bench) -> Vec<Row> {
    let bare = bench.yardstick("insert").start();
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("speed-plain", "79000901", None);
    let clicks = clicks(&wall, CLICKS);
    // The yardstick counts the object's rows, so a request may be repeated.
    let mut bare_requests = Requests::get(bench.scratch(), &clicks[..1_000]);
    let mut requests = Requests::get(bench.scratch(), &[]).once(clicks);
    let check = wall.convert(&wall.click_id("u-check"), "");
    expect_accepted(check, "approved", false);
    let found = interleaved(
        "conversions",
        bench.rounds,
        &mut [&mut || load(bench, &signpost, OURS, &mut requests), &mut || {
            load(bench, &bare, BARE, &mut bare_requests)
        }],
    );
    let work = "conversions, one app, durable, against one bare INSERT";
    let mut rows = vec![throughput(work, Some(0.6), &found[0], &found[1]).printed()];
    drop(signpost);

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

/// The namespace and the query that counts the rows of conversions.
type Stored = (&'static str, &'static str);
const OURS: Stored = ("signpost-outbox", "SELECT count(*) FROM conversions");
const BARE: Stored = ("bare", "SELECT count(*) FROM conversions");

/// Runs a load of requests, each of which must leave a row.
fn load(bench: &Bench, server: &Signpost, (namespace, sql): Stored, requests: &mut Requests) -> Load {
    let count = || -> i64 {
        server
            .stored(namespace, sql, |row| row.get::<_, i64>(0))
            .iter()
            .sum()
    };
    let before = count();
    let load = requests.run(bench.scratch(), server, SECONDS);
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
        notes: vec![format!(
            "{PROMPT} conversions, from when each was sent; slowest {}",
            ms(at(1.0))
        )],
    }
}

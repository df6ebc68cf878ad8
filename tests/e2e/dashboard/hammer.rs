//! A dashboard that calls without pause changes no count, no redirect, no cap and no reward.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::{Value, json};

use super::{
    Browser,
    access::{UNKNOWN, member_calls},
    signed_in,
};
use crate::{
    clicks::{CLICK, click_id_at, expect_redirect},
    harness::{End, OfferWall, Receiver, Setup, Signpost, away_from_midnight, eventually_within, now_ms},
};
use domain::model::time::UtcDay;

const CLICKS: usize = 120;
const CLICK_CAP: u32 = 60;
const CONVERSION_CAP: u32 = 25;
const SENDERS: usize = 4;
const HAMMERS: usize = 8;
/// Sums reach the ledger within this time.
const COUNTED_WITHIN_MS: i64 = 60_000;

/// How often each status came, and what was counted and paid.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    clicks: BTreeMap<u16, usize>,
    conversions: BTreeMap<u16, usize>,
    /// The number of rewards that the receiver was called for, and the most calls for one of them.
    callbacks: (usize, usize),
    reported_clicks: u64,
    reported_micro_usd: i64,
}

/// Sends a wall's clicks and a conversion for each that was redirected.
fn run(signpost: &Signpost, wall: &OfferWall<'_>, receiver: &Receiver) -> Outcome {
    let started_ms = now_ms();
    let (clicks, conversions) = (Mutex::new(BTreeMap::new()), Mutex::new(BTreeMap::new()));
    let note = |counts: &Mutex<BTreeMap<u16, usize>>, status| {
        *counts.lock().unwrap().entry(status).or_default() += 1;
    };
    thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (clicks, conversions) = (&clicks, &conversions);
            scope.spawn(move || {
                for user in (sender..CLICKS).step_by(SENDERS) {
                    let address = format!("{CLICK}?rid={}&app={}&user_id=u-{user}", wall.goal("1"), wall.app);
                    let answer = signpost.get(&address, &[]);
                    note(clicks, answer.status);
                    if answer.status == 302 {
                        let click_id = click_id_at(&expect_redirect(answer));
                        note(conversions, wall.convert(&click_id, "").status);
                    }
                }
            });
        }
    });
    let paid = usize::try_from(CONVERSION_CAP).unwrap();
    receiver.wait_for_transactions(60_000, paid);
    let publisher = signpost.existing_publisher(&wall.id);
    eventually_within(COUNTED_WITHIN_MS, &u64::from(CLICK_CAP), || publisher.clicks());
    wall.expect_reconciled_since(started_ms);
    let called = receiver.transactions();
    let today = UtcDay::of_ms(now_ms());
    Outcome {
        clicks: clicks.into_inner().unwrap(),
        conversions: conversions.into_inner().unwrap(),
        callbacks: (called.len(), called.values().copied().max().unwrap_or(0)),
        reported_clicks: publisher.clicks(),
        reported_micro_usd: wall.reconcile(today)["ledger_micro_usd"].as_i64().unwrap(),
    }
}

/// The reads of a member: each `GET` of the route table, and what a page asks by `POST`.
fn reads(app: &str) -> Vec<(&'static str, String, Option<Value>)> {
    let today = UtcDay::of_ms(now_ms()).to_string();
    let query = json!({
        "date_range": { "start_date": today, "end_date": today },
        "dimensions": ["app", "ad_tag", "country"],
        "metrics": ["clicks", "revenue", "impressions"],
        "totals": true,
    });
    let calls = member_calls();
    let gets = calls.into_iter().filter(|(method, ..)| *method == "GET");
    let gets = gets.map(|(method, path, _)| {
        (
            method,
            path.replace(&format!("apps/{UNKNOWN}"), &format!("apps/{app}"))
                .replace(&format!("days/{UNKNOWN}"), &format!("days/{today}")),
            None,
        )
    });
    let callback = json!({ "url": "https://hooks.example/?u={user_id}&t={transaction_id}&v={value}", "method": "GET" });
    let posts = [
        ("reports".to_owned(), json!({ "queries": [query] })),
        ("suggestions".to_owned(), json!({ "dimension": "app", "text": "a", "date_range": query["date_range"] })),
        ("rewards".to_owned(), json!({ "limit": 200 })),
        (format!("apps/{app}/offers"), json!({})),
        (format!("apps/{app}/callback/preview"), json!({ "callback": callback })),
    ];
    let posts = posts.map(|(path, body)| ("POST", format!("/v1/dashboard/{path}"), Some(body)));
    gets.chain(posts).collect()
}

/// Calls what a page calls, as fast as it is answered. Returns how often each call was answered.
fn hammer(browser: &Browser<'_>, app: &str, is_over: &AtomicBool) -> BTreeMap<String, usize> {
    let reads = reads(app);
    let mut answered = BTreeMap::new();
    while !is_over.load(Ordering::Relaxed) {
        for (method, path, body) in &reads {
            let answer = browser.send(method, path, body.as_ref());
            // An unknown id gets 404. Beyond its budget and the concurrency limits a call is refused, and must not be
            // kept waiting.
            let is_missing = answer.status == 404 && (path.contains(UNKNOWN) || path.ends_with("/pub_key"));
            assert!(is_missing || matches!(answer.status, 200 | 429 | 503), "{answer:?}");
            let is_answered = is_missing || answer.status == 200;
            *answered.entry(format!("{method} {path}")).or_default() += usize::from(is_answered);
        }
    }
    answered
}

#[test]
fn counts_redirects_caps_and_rewards_are_the_same_under_a_dashboard_that_hammers() {
    away_from_midnight();
    let signpost = Setup::new().start();
    let walls = [("hammer-without", "79000401"), ("hammer-with", "79000402")].map(|(id, app)| {
        let receiver = Receiver::start();
        let wall = signpost.unpublished_offer_wall(id, app, Some(&receiver));
        wall.put_offer(&json!({
            "click_cap": { "dur": "DAILY", "lim": CLICK_CAP },
            "conversion_cap": { "dur": "DAILY", "lim": CONVERSION_CAP },
        }));
        (wall, receiver)
    });
    signpost.refresh();
    let [(quiet, quiet_receiver), (loud, loud_receiver)] = &walls;
    let without = run(&signpost, quiet, quiet_receiver);

    let browser = signed_in(&signpost, &signpost.existing_publisher(&loud.id), "owner");
    let (is_over, answered) = (AtomicBool::new(false), Mutex::new(BTreeMap::<_, usize>::new()));
    let with = thread::scope(|scope| {
        for _ in 0..HAMMERS {
            scope.spawn(|| {
                for (call, times) in hammer(&browser, &loud.app, &is_over) {
                    *answered.lock().unwrap().entry(call).or_default() += times;
                }
            });
        }
        let _end = End(&is_over);
        run(&signpost, loud, loud_receiver)
    });
    let answered = answered.into_inner().unwrap();
    assert!(
        answered.values().all(|times| *times > 0) && answered.values().sum::<usize>() > 100,
        "of the dashboard's calls were answered: {answered:?}"
    );
    let count = |of: u32| usize::try_from(of).unwrap();
    let expected = Outcome {
        clicks: BTreeMap::from([(302, count(CLICK_CAP)), (410, CLICKS - count(CLICK_CAP))]),
        conversions: BTreeMap::from([(200, count(CONVERSION_CAP)), (409, count(CLICK_CAP - CONVERSION_CAP))]),
        callbacks: (count(CONVERSION_CAP), 1),
        reported_clicks: CLICK_CAP.into(),
        reported_micro_usd: i64::from(CONVERSION_CAP) * 1_250_000,
    };
    assert_eq!(without, expected);
    assert_eq!(with, expected);
}

//! Every conversion answered 200 reaches the publisher although workerd is killed repeatedly.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::json;

use crate::{
    clicks::keys,
    conversions::{accepted_id, expect_conversion_error, revenue::revenue},
    harness::{Answer, CONVERSION, OfferWall, Receiver, Setup, eventually_within, now_ms, seal},
};
use domain::model::time::{SECOND_MS, UtcDay};

const CONVERSIONS: usize = 10_000;
/// Further conversions, of an offer with a cap.
const CAPPED: usize = 400;
const CAP: usize = 200;
const CLIENTS: usize = 32;
const KILLS: usize = 3;
/// How long a client retries, and how long the whole queue may take to drain.
const PATIENCE_MS: i64 = 100 * SECOND_MS;

/// The clicks of both offers. Those of the capped offer are spread evenly, so that some are in flight at each crash.
fn clicks(wall: &OfferWall<'_>) -> Vec<String> {
    let (keys, now_ms) = (keys(), now_ms());
    let capped = |user: usize| {
        let user = format!("capped-{user}");
        let mut click = wall.click(&user, now_ms);
        click.offer = "conv-crashes-cap".into();
        seal(&keys, &click)
    };
    let interval = CONVERSIONS / CAPPED;
    let clicks_of = |user: usize| {
        let one = wall.click_id(&format!("user-{user}"));
        let another = user.is_multiple_of(interval).then(|| capped(user / interval));
        [one].into_iter().chain(another)
    };
    (0..CONVERSIONS).flat_map(clicks_of).collect()
}

/// The transaction id of a paid conversion; none if the cap refused it.
fn paid(answer: Answer) -> Option<String> {
    if answer.status == 409 {
        expect_conversion_error(answer, 409, "conversion_capped");
        return None;
    }
    Some(accepted_id(answer))
}

#[test]
fn ten_thousand_conversions_arrive_once_each_although_workerd_is_killed_three_times() {
    let signpost = Setup::new().start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("conv-crashes", "79000181", Some(&receiver));
    let publisher = signpost.existing_publisher(&wall.id);
    wall.put_offer_as(
        "conv-crashes-cap",
        &json!({"conversion_cap": {"dur": "DAILY", "lim": CAP}}),
    );
    let clicks = clicks(&wall);
    assert_eq!(clicks.len(), CONVERSIONS + CAPPED);
    let began_ms = now_ms();
    let (next, done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let answered = Mutex::new(BTreeMap::new());
    let send = |click: &str| {
        let address = format!("{CONVERSION}?click_id={click}&token={}", wall.token);
        let until_ms = now_ms() + PATIENCE_MS;
        loop {
            let problem = match signpost.try_send("GET", &address, &[], b"") {
                Ok(answer) if answer.status < 500 => return paid(answer),
                Ok(answer) => format!("{answer:?}"),
                Err(problem) => problem,
            };
            failed.fetch_add(1, Ordering::Relaxed);
            assert!(now_ms() < until_ms, "{problem}");
            thread::sleep(Duration::from_millis(20));
        }
    };
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while let Some(click) = clicks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(id) = send(click) {
                        let known = answered.lock().unwrap().insert(id, click);
                        assert_eq!(known, None, "two conversions have one id");
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for kill in 1..=KILLS {
            let after = clicks.len() * kill / (KILLS + 1);
            eventually_within(PATIENCE_MS, &true, || done.load(Ordering::Relaxed) >= after);
            signpost.restart();
        }
    });
    let answered_ms = now_ms() - began_ms;
    let answered: BTreeSet<_> = answered.into_inner().unwrap().into_keys().collect();
    // At midnight the cap starts again.
    if UtcDay::of_ms(began_ms) == UtcDay::of_ms(now_ms()) {
        assert_eq!(answered.len(), CONVERSIONS + CAP);
    }

    let received = receiver.wait_for_transactions(PATIENCE_MS, answered.len());
    println!(
        "{} conversions answered in {answered_ms} ms with {} failed attempts, all received after {} ms, {} more \
         than once",
        clicks.len(),
        failed.into_inner(),
        now_ms() - began_ms,
        received.values().filter(|times| **times > 1).count()
    );
    assert!(received.keys().eq(&answered), "the same number, but other ids");
    // All callbacks of a user have one transaction id, however often they were sent.
    let mut users = BTreeMap::new();
    for callback in receiver.received() {
        let user = callback.parameter("user_id").unwrap();
        let id = callback.transaction_id().to_owned();
        assert_eq!(callback.parameter("transaction_id").as_ref(), Some(&id));
        assert_eq!(*users.entry(user).or_insert(id.clone()), id);
    }
    assert_eq!(users.len(), answered.len());

    // The log and the ledger agree.
    eventually_within(PATIENCE_MS, &0, || {
        wall.endpoint()["waiting"].as_i64().unwrap_or(-1)
    });
    let mut logged = BTreeSet::new();
    for entry in wall.all_entries(1_000) {
        if entry["status"] == "refused" {
            assert_eq!(entry["code"], "conversion_capped", "{entry}");
            continue;
        }
        assert_eq!(
            (&entry["status"], &entry["state"]),
            (&json!("approved"), &json!("delivered")),
            "{entry}"
        );
        logged.insert(entry["transaction_id"].as_str().unwrap().to_owned());
    }
    assert_eq!(logged, answered);
    let earned = f64::from(u32::try_from(answered.len()).unwrap()) * 1.25;
    eventually_within(PATIENCE_MS, &earned, || revenue(&publisher));
    wall.expect_reconciled_since(began_ms);
}

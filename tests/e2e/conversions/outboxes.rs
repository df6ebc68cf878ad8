//! An app's outboxes behave as one: one list of conversions, and a number that stays.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use serde_json::{Value, json};

use crate::harness::{End, OfferWall, demo};

const CLIENTS: usize = 8;

/// Pays so many users, each of `CLIENTS` threads its part. Returns the transaction ids.
fn pay_all(wall: &OfferWall<'_>, name: &str, users: usize) -> Vec<String> {
    let pay = |client: usize| -> Vec<String> {
        let own = (client..users).step_by(CLIENTS);
        own.map(|user| wall.pay(&format!("{name}-{user}"))).collect()
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|client| scope.spawn(move || pay(client))).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

#[test]
fn a_list_over_64_outboxes_misses_nothing_while_conversions_arrive() {
    let signpost = demo();
    let wall = signpost.sharded_offer_wall("merged", "79000311", None, 64);
    signpost.refresh();
    let before: BTreeSet<_> = pay_all(&wall, "before", 400).into_iter().collect();
    let ends = AtomicBool::new(false);
    let walked = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0.. {
                if ends.load(Ordering::Relaxed) {
                    return round;
                }
                pay_all(&wall, &format!("during-{round}"), CLIENTS);
            }
            0
        });
        let end = End(&ends);
        let walked = [7, 50, 400].map(|limit| wall.all_entries(limit));
        drop(end);
        assert!(writer.join().unwrap() > 0, "no conversion arrived during the walks");
        walked
    });
    for entries in walked {
        let ids: Vec<_> = entries.iter().map(|entry| entry["transaction_id"].as_str().unwrap()).collect();
        let found: BTreeSet<_> = ids.iter().map(|id| (*id).to_owned()).collect();
        assert_eq!(found.len(), ids.len(), "an entry was listed twice");
        assert!(found.is_superset(&before), "{:?} are missing", before.difference(&found));
        assert!(entries.is_sorted_by_key(|entry| -entry["conversion_ts"].as_i64().unwrap()), "not the newest first");
    }
}

#[test]
fn the_number_of_an_apps_outboxes_never_changes() {
    let signpost = demo();
    let wall = signpost.offer_wall("fixed-outboxes", "79000312", None);
    let id = wall.pay("u-1");
    for outboxes in [1, 64] {
        let put = wall.try_put_app(&json!({"outbox_shards": outboxes}));
        let body = put.expect_error(400, "invalid_field").json();
        assert!(body["error"].as_str().unwrap().starts_with("outbox_shards: "), "{body}");
    }
    wall.try_put_app(&json!({"outbox_shards": 8})).expect(200);
    // A document without it leaves it as it is.
    wall.try_put_app(&json!({"outbox_shards": Value::Null})).expect(200);
    assert_eq!(wall.entry(&id)["status"], "approved");
}

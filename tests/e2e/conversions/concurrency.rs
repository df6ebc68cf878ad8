//! Concurrent postbacks: copies of one conversion, and conversions of many offers.

use std::{collections::BTreeSet, sync::Barrier, thread};

use serde_json::{Value, json};

use crate::harness::{OfferWall, Receiver, away_from_midnight, demo, expect_accepted, now_ms, seal};

const SENDERS: usize = 64;

/// Sends a postback from all senders at once. Returns how many answers call it new, and their transaction ids.
fn send_at_once(wall: &OfferWall<'_>, click: &str, more: &str) -> (usize, BTreeSet<String>) {
    let start = Barrier::new(SENDERS);
    let answers: Vec<Value> = thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    wall.convert(click, more).expect(200).json()
                })
            })
            .collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    let new = answers.iter().filter(|answer| answer["duplicate"] == false);
    let ids = answers.iter().map(|answer| answer["transaction_id"].as_str().unwrap().to_owned());
    (new.count(), ids.collect())
}

#[test]
fn sixty_four_simultaneous_copies_pay_one_reward() {
    away_from_midnight();
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.unpublished_offer_wall("conv-at-once", "79000141", Some(&receiver));
    // Copies of a conversion that takes the last of a cap wait for it and are not refused for the cap.
    wall.put_offer_as("conv-at-once-cap", &json!({"conversion_cap": {"dur": "DAILY", "lim": 1}}));
    signpost.refresh();
    let capped = wall.click_on("conv-at-once-cap", "u-2", now_ms());
    let clicks = [wall.click_id("u-1"), seal(&crate::clicks::keys(), &capped)];
    let mut paid = BTreeSet::new();
    for click in &clicks {
        let (new, ids) = send_at_once(&wall, click, "&txn=same");
        assert_eq!((new, ids.len()), (1, 1), "{ids:?}");
        paid.extend(ids);
    }
    assert_eq!(paid.len(), 2);
    let called = receiver.wait_for_transactions(30_000, 2);
    assert!(called.keys().eq(&paid), "{called:?}, not {paid:?}");

    // A reversal happens once as well.
    let mut reversals = BTreeSet::new();
    for click in &clicks {
        let (new, ids) = send_at_once(&wall, click, "&status=reversed");
        assert_eq!((new, ids.len()), (1, 1), "{ids:?}");
        assert!(ids.is_subset(&paid), "not the reward's id: {ids:?}");
        reversals.extend(ids);
    }
    assert_eq!(reversals, paid);
    let called = receiver.wait_for_transactions(30_000, 4);
    assert!(called.values().all(|times| *times == 1), "{called:?}");
    assert_eq!(wall.entries("").len(), 4);
}

#[test]
fn simultaneous_conversions_are_judged_by_their_own_offers() {
    let signpost = demo();
    let wall = signpost.unpublished_offer_wall("conv-offers", "79000142", None);
    let offers: Vec<_> = (0..8).map(|number| format!("conv-offers-{number}")).collect();
    for offer in &offers {
        wall.put_offer_as(offer, &json!({}));
    }
    signpost.refresh();
    let (keys, start) = (crate::clicks::keys(), Barrier::new(SENDERS));
    thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (wall, keys, start, offers) = (&wall, &keys, &start, &offers);
            scope.spawn(move || {
                start.wait();
                for round in 0..8 {
                    let offer = &offers[(sender + round * 3) % offers.len()];
                    let click = wall.click_on(offer, "u-1", now_ms());
                    let answer = wall.convert(&seal(keys, &click), "&goal=level_10");
                    let id = expect_accepted(answer, "approved", false);
                    assert_eq!(wall.entry(&id)["goal_id"], format!("{offer}-2"));
                }
            });
        }
    });
    assert_eq!(wall.entries("limit=1000").len(), SENDERS * 8);
}

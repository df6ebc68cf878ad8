//! Delays of callbacks: they follow the commit at once, whatever another app's receiver does.

use crate::{
    callbacks::wait_for_state,
    harness::{Behaviour, Receiver, Setup, eventually_within, now_ms},
};
use domain::model::time::SECOND_MS;

/// Callbacks that wait for the hanging receiver.
const QUEUE: usize = 1_000;
/// A queue drains within 3 minutes.
const DRAINED_MS: i64 = 180 * SECOND_MS;

#[test]
fn the_first_attempt_follows_the_answer_at_once() {
    let signpost = Setup::new().start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-prompt", "79000295", Some(&receiver));
    let mut delays = Vec::new();
    for number in 0..20 {
        wall.pay(&format!("u-{number}"));
        let answered_ms = now_ms();
        let received = receiver.wait(number + 1).remove(number);
        delays.push(received.at_ms - answered_ms);
    }
    delays.sort_unstable();
    println!("callbacks after the answer: median {} ms, slowest {} ms", delays[10], delays[19]);
    assert!(delays[19] < 5 * SECOND_MS, "{delays:?}");
}

#[test]
fn callbacks_to_a_receiver_in_flight_are_limited_by_the_number_of_outboxes() {
    let signpost = Setup::new().start();
    for (number, (shards, limit)) in [(1, 6), (8, 24)].into_iter().enumerate() {
        let receiver = Receiver::start();
        receiver.set(Behaviour::Slow(100));
        let (id, app) = (format!("cb-limit-{shards}"), format!("7900029{number}"));
        let wall = signpost.sharded_offer_wall(&id, &app, Some(&receiver), shards);
        signpost.refresh();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let wall = &wall;
                scope.spawn(move || (0..10).for_each(|number| drop(wall.pay(&format!("u-{thread}-{number}")))));
            }
        });
        let called = receiver.wait_for_transactions(DRAINED_MS, 80);
        assert!(called.values().all(|times| *times == 1), "{called:?}");
        let most = receiver.peak_concurrency();
        assert!((2..=limit).contains(&most), "{most} at once, {shards} outboxes");
    }
}

#[test]
fn a_hanging_receiver_delays_no_other_app_and_its_queue_drains_after_recovery() {
    // The default settings: an attempt that hangs takes 10 seconds.
    let signpost = Setup::new().start();
    let [hanging, well] = [(); 2].map(|()| Receiver::start());
    hanging.set(Behaviour::Hang);
    let slow = signpost.unpublished_offer_wall("cb-hangs", "79000296", Some(&hanging));
    let quick = signpost.unpublished_offer_wall("cb-well", "79000297", Some(&well));
    signpost.refresh();
    let began_ms = now_ms();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let slow = &slow;
            scope.spawn(move || {
                for number in (thread..QUEUE).step_by(8) {
                    slow.pay(&format!("u-{number}"));
                }
            });
        }
    });
    println!("{QUEUE} conversions in {} ms, while the receiver hangs", now_ms() - began_ms);
    hanging.wait(1);
    let mut delays = Vec::new();
    for number in 0..20 {
        quick.pay(&format!("u-{number}"));
        let answered_ms = now_ms();
        let received = well.wait(number + 1).remove(number);
        delays.push(received.at_ms - answered_ms);
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    delays.sort_unstable();
    println!("callbacks of the other app: median {} ms, slowest {} ms", delays[10], delays[19]);
    assert!(delays[19] < 5 * SECOND_MS, "{delays:?}");
    // The endpoint is failing, so it is only probed from time to time.
    eventually_within(DRAINED_MS, &"failing".into(), || slow.endpoint()["state"].clone());
    assert!(hanging.count() < 100, "{} attempts within seconds", hanging.count());

    let well_ms = now_ms();
    hanging.set(Behaviour::status(200));
    let received = hanging.wait_for_transactions(DRAINED_MS, QUEUE);
    assert_eq!(received.len(), QUEUE);
    eventually_within(DRAINED_MS, &0.into(), || slow.endpoint()["waiting"].clone());
    println!("{QUEUE} drained in {} ms", now_ms() - well_ms);
    let last = slow.entries("limit=1").remove(0);
    wait_for_state(&slow, last["transaction_id"].as_str().unwrap(), "delivered");
}

//! Conversions during outages of the objects that they need: answered 503 or paid, and paid once.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use serde_json::{Value, json};

use crate::{
    conversions::{expect_conversion_error, revenue::revenue},
    faults::inject_faults,
    harness::{
        End, Receiver, Setup, Signpost, away_from_midnight, callback, eventually_within, expect_accepted, now_ms,
        states, with,
    },
};
use domain::model::time::SECOND_MS;

/// Longer than several retries of the alarm.
const RETRIES_MS: i64 = 60 * SECOND_MS;

/// Conversions sent while the catalog is down.
const CONVERSIONS: usize = 1_000;
const CLIENTS: usize = 64;
/// The delay of a conversion under a flood, unless one of its steps waits for workerd to be idle: then it is 12 s or more.
const STARVED_MS: i64 = 5 * SECOND_MS;

fn unreliable() -> Signpost {
    Setup::new().config("faults.capnp").start_with_fixtures().0
}

fn cap(limit: u32) -> Value {
    json!({"conversion_cap": {"dur": "DAILY", "lim": limit}})
}

#[test]
fn with_the_counters_down_only_capped_offers_wait_and_the_alarm_finishes_reservations() {
    away_from_midnight();
    let signpost = unreliable();
    let receiver = Receiver::start();
    let wall = signpost.unpublished_offer_wall("conv-counters", "79000171", Some(&receiver));
    wall.put_offer(&cap(2));
    wall.put_offer_as("conv-uncapped", &json!({}));
    signpost.refresh();
    let uncapped = wall.click_on("conv-uncapped", "u-0", crate::harness::now_ms());
    let uncapped = crate::harness::seal(&crate::clicks::keys(), &uncapped);
    let [first, second, third] = ["u-1", "u-2", "u-3"].map(|user| wall.click_id(user));

    inject_faults(&signpost, "counters");
    for _ in 0..2 {
        expect_conversion_error(wall.convert(&first, ""), 503, "unavailable");
    }
    let free = expect_accepted(wall.convert(&uncapped, ""), "approved", false);
    receiver.wait(1);
    let waiting = wall.endpoint();
    assert_eq!(waiting["reserving"], 1, "{waiting}");
    assert!(receiver.transactions().keys().eq([&free]), "a conversion with a cap was paid");

    // The alarm pays it without another postback.
    inject_faults(&signpost, "");
    let called = receiver.wait_for_transactions(RETRIES_MS, 2);
    let paid = called.keys().find(|id| **id != free).unwrap();
    eventually_within(RETRIES_MS, &("approved".to_owned(), Some("delivered".to_owned())), || states(&wall.entry(paid)));
    assert_eq!(expect_accepted(wall.convert(&first, ""), "approved", true), *paid);

    // The counters' answer is lost after they took from the cap. The retry gets the same take.
    inject_faults(&signpost, "counters-answers");
    expect_conversion_error(wall.convert(&second, ""), 503, "unavailable");
    inject_faults(&signpost, "");
    let answer = wall.convert(&second, "");
    let body = answer.expect(200).json();
    assert_eq!(body["status"], "approved", "{body}");
    expect_conversion_error(wall.convert(&third, ""), 409, "conversion_capped");
    let called = receiver.wait_for_transactions(RETRIES_MS, 3);
    assert!(called.values().all(|times| *times == 1), "{called:?}");
    assert_eq!(wall.endpoint()["reserving"], 0);
}

#[test]
fn a_made_up_token_reaches_no_object() {
    let signpost = unreliable();
    let wall = signpost.offer_wall("conv-made-up", "79000173", None);
    let click = wall.click_id("u-1");
    // Its record was never stored, so a look at it would be answered 410.
    let short = wall.unstored_click_id("u-1");
    let made_up = format!("at_{}_1795390798_{}_{}", wall.id, "ab".repeat(8), "cd".repeat(16));
    // The isolate holds the shards of the advertiser, the app and the goal.
    wall.convert(&wall.click_id("u-0"), "").expect(200);
    inject_faults(&signpost, "kv,catalog,counters,outboxes");
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                for click in [&click, &short] {
                    let answer = signpost.convert(&format!("click_id={click}&token={made_up}"));
                    expect_conversion_error(answer, 401, "invalid_token");
                }
            });
        }
    });
    expect_conversion_error(wall.convert(&click, ""), 503, "unavailable");
    expect_conversion_error(wall.convert(&short, ""), 410, "conversion_window_closed");
}

/// Senders of made-up tokens take none of the permits of honest senders, and starve none of their steps.
#[test]
fn made_up_tokens_crowd_out_no_conversion() {
    let signpost = unreliable();
    let wall = signpost.offer_wall("conv-crowd", "79000177", None);
    let click = wall.click_id("u-1");
    let made_up = format!("at_{}_1795390798_{}_{}", wall.id, "ab".repeat(8), "cd".repeat(16));
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    let answer = signpost.convert(&format!("click_id={click}&token={made_up}"));
                    expect_conversion_error(answer, 401, "invalid_token");
                }
            });
        }
        let _ends = End(&ends);
        for user in 0..100 {
            let sent_ms = now_ms();
            wall.pay(&format!("u-{user}"));
            let waited_ms = now_ms() - sent_ms;
            assert!(waited_ms < STARVED_MS, "{waited_ms} ms for a conversion");
        }
    });
}

#[test]
fn with_the_catalog_and_kv_down_conversions_on_known_terms_are_paid() {
    let signpost = unreliable();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("conv-catalog", "79000172", Some(&receiver));
    let learned = wall.users();
    learned.iter().for_each(|user| drop(wall.pay(user)));
    let known: Vec<_> = (0..CONVERSIONS).map(|user| wall.click_id(&format!("u-{user}"))).collect();
    wall.put_offer(&json!({"conversion_window_days": 7}));
    let unknown = wall.click_id("u-2");
    inject_faults(&signpost, "kv,catalog");
    thread::scope(|scope| {
        for clicks in known.chunks(CONVERSIONS / 16) {
            let wall = &wall;
            scope.spawn(move || {
                for click in clicks {
                    expect_accepted(wall.convert(click, ""), "approved", false);
                }
            });
        }
    });
    let called = receiver.wait_for_transactions(RETRIES_MS, CONVERSIONS + learned.len());
    assert!(called.values().all(|times| *times == 1));
    // A postback that needs the catalog waits for it, and a faulty one is refused as before.
    expect_conversion_error(wall.convert(&unknown, ""), 503, "unavailable");
    expect_conversion_error(wall.convert(&known[0], "&goal=nothing"), 400, "unknown_goal");
    inject_faults(&signpost, "");
    expect_accepted(wall.convert(&unknown, ""), "approved", false);
}

#[test]
fn with_the_ledger_down_conversions_are_paid_and_their_revenue_arrives_once() {
    away_from_midnight();
    let signpost = unreliable();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("conv-ledger", "79000173", Some(&receiver));
    // Creates the ledger before the outage, so that it can be queried afterwards.
    let publisher = signpost.existing_publisher(&wall.id);
    assert_eq!(publisher.days(), [] as [Value; 0]);
    inject_faults(&signpost, "ledger");
    for user in 0..10 {
        wall.pay(&format!("u-{user}"));
    }
    receiver.wait_for_transactions(RETRIES_MS, 10);
    // From here on the ledger carries out requests and its answers are lost.
    inject_faults(&signpost, "ledger-answers");
    for user in 10..20 {
        wall.pay(&format!("u-{user}"));
    }
    let reversed = wall.click_id("u-20");
    expect_accepted(wall.convert(&reversed, "&goal=level_10"), "approved", false);
    expect_accepted(wall.convert(&reversed, "&goal=level_10&status=reversed"), "reversed", false);
    receiver.wait_for_transactions(RETRIES_MS, 22);
    std::thread::sleep(std::time::Duration::from_secs(5));
    inject_faults(&signpost, "");
    eventually_within(RETRIES_MS, &25.0, || revenue(&publisher));
    // Leaves time for retries that would count twice.
    std::thread::sleep(std::time::Duration::from_secs(8));
    assert!((revenue(&publisher) - 25.0).abs() < 1e-9);
    signpost.restart();
    assert!((revenue(&publisher) - 25.0).abs() < 1e-9);
    wall.expect_reconciled_since(now_ms());
}

#[test]
fn a_conversion_with_a_lost_answer_is_a_duplicate_with_the_same_id() {
    let signpost = unreliable();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("conv-outbox", "79000174", Some(&receiver));
    // Before its first conversion an outbox asks the app's first one, whose answer would be lost, too.
    let known = ["u-1", "u-2"].map(|user| (wall.pay(user), 1));
    receiver.wait(2);
    let [lost, late] = ["u-1", "u-2"].map(|user| wall.click_id(user));
    inject_faults(&signpost, "outboxes");
    expect_conversion_error(wall.convert(&late, ""), 503, "unavailable");
    assert_eq!(receiver.count(), 2);
    inject_faults(&signpost, "outboxes-answers");
    expect_conversion_error(wall.convert(&lost, ""), 503, "unavailable");
    inject_faults(&signpost, "");
    let id = expect_accepted(wall.convert(&lost, ""), "approved", true);
    let other = expect_accepted(wall.convert(&late, ""), "approved", false);
    let called = receiver.wait_for_transactions(RETRIES_MS, 4);
    assert_eq!(called, known.into_iter().chain([(id, 1), (other, 1)]).collect());
}

#[test]
fn a_lower_cap_is_in_force_once_its_put_is_answered() {
    away_from_midnight();
    let signpost = unreliable();
    let wall = signpost.unpublished_offer_wall("conv-lower-cap", "79000176", None);
    wall.put_offer(&cap(5));
    signpost.refresh();
    wall.pay("u-1");
    wall.pay("u-2");
    // Nothing is published from here on.
    wall.put_offer(&cap(3));
    wall.pay("u-3");
    expect_conversion_error(wall.convert(&wall.click_id("u-4"), ""), 409, "conversion_capped");
    wall.put_offer(&cap(4));
    wall.pay("u-4");
    inject_faults(&signpost, "counters");
    let put = || {
        let offer = with(wall.offer(), &cap(5));
        signpost.operator("PUT", "offers/conv-lower-cap", Some(&offer))
    };
    put().expect_error(503, "unavailable");
    inject_faults(&signpost, "");
    put().expect(200);
    wall.pay("u-5");
    expect_conversion_error(wall.convert(&wall.click_id("u-6"), ""), 409, "conversion_capped");
}

#[test]
fn a_callback_setting_that_could_not_be_pushed_is_pushed_later() {
    let signpost = unreliable();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("conv-settings", "79000175", None);
    let id = wall.pay("u-1");
    inject_faults(&signpost, "outboxes");
    let app = json!({"callback": callback(&format!("{}/cb", receiver.base()), "GET")});
    wall.try_put_app(&app).expect_error(503, "unavailable");
    assert_eq!(receiver.count(), 0);
    // The reward is sent without another request of the operator.
    inject_faults(&signpost, "");
    assert_eq!(receiver.wait_for_transactions(RETRIES_MS, 1), [(id, 1)].into());
    wall.try_put_app(&app).expect(200);
}

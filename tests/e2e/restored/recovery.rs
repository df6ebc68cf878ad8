//! `POST …/objects/{object}/restore`: objects that go back to an earlier time while everything runs. `recovery.js`
//! stands in for Cloudflare's point-in-time recovery.

use std::{thread, time::Duration};

use domain::{
    accounts::account::Account,
    callbacks::shards,
    model::{
        OfferId, PublisherId,
        time::{DAY_MS, MINUTE_MS, rfc_3339},
    },
    tracking::click_id::{self, Opened},
};
use serde_json::json;

use super::{SENT_MS, doubts, journaled};
use crate::{
    clicks::{CLICK, click_id_at, expect_redirect},
    conversions::{accepted_id, expect_conversion_error, revenue::revenue},
    dashboard::signed_in,
    harness::{
        Answer, Behaviour, Receiver, Setup, Signpost, away_from_midnight, click_keys, eventually_within,
        expect_accepted, now_ms,
    },
};
use contract::{accounts, activity, attention, catalog, clicks, counters, ledger, outbox, postbacks};

fn recoverable() -> Signpost {
    Setup::new().config("recovery.capnp").start()
}

/// Keeps the state of an object, to which it can go back.
fn keep(signpost: &Signpost, namespace: &str, object: &str) {
    let url = format!("{}/{namespace}/{object}", signpost.control());
    signpost.get(&url, &[]).expect(200);
    // Times are in whole seconds.
    thread::sleep(Duration::from_secs(1));
}

fn restore(signpost: &Signpost, object: &str, body: &serde_json::Value) -> Answer {
    signpost.operator("POST", &format!("objects/{object}/restore"), Some(body))
}

/// Puts an object back to the state that was kept last. Returns the bookmark that undoes it.
fn put_back(signpost: &Signpost, object: &str) -> String {
    let answer = restore(signpost, object, &json!({ "to": rfc_3339(now_ms()) })).expect(200).json();
    assert_eq!(answer["object"], object);
    answer["undo_bookmark"].as_str().expect("a bookmark").to_owned()
}

/// The reasons of the items about objects that were put back, without those that say that somebody did it.
fn reasons(signpost: &Signpost) -> Vec<String> {
    let mut reasons: Vec<_> =
        doubts(signpost).into_iter().map(|(_, reason)| reason).filter(|reason| reason != "put_back").collect();
    reasons.sort();
    reasons.dedup();
    reasons
}

#[test]
fn plain_workerd_refuses_and_names_what_is_wrong() {
    let signpost = Setup::new().start();
    let [month, now, later] = [-31 * DAY_MS, 0, 5 * MINUTE_MS].map(|ms| rfc_3339(now_ms() + ms));
    for (object, body, status, code) in [
        ("outbox-10000001-0", json!({ "to": now }), 409, "not_recoverable"),
        ("outbox-10000001-0", json!({ "bookmark": "0-0" }), 409, "not_recoverable"),
        ("catalog", json!({ "to": month }), 400, "invalid_field"),
        ("catalog", json!({ "to": later }), 400, "invalid_field"),
        ("catalog", json!({ "to": "yesterday" }), 400, "invalid_field"),
        ("catalog", json!({}), 400, "invalid_field"),
        ("catalog", json!({ "to": now, "bookmark": "0-0" }), 400, "invalid_field"),
        ("catalog", json!({ "until": 1 }), 400, "unknown_field"),
        ("catalogs", json!({ "bookmark": "0-0" }), 404, "not_found"),
        ("outbox-", json!({ "bookmark": "0-0" }), 404, "not_found"),
    ] {
        restore(&signpost, object, &body).expect_error(status, code);
    }
    assert_eq!(doubts(&signpost), []);
}

#[test]
fn an_outbox_goes_back_and_forth_and_pays_each_reward_once() {
    let signpost = recoverable();
    let receiver = Receiver::start();
    let wall = signpost.sharded_offer_wall("recovered-outbox", "79000740", Some(&receiver), 8);
    signpost.refresh();
    let publisher = signpost.existing_publisher(&wall.id);
    let users: Vec<_> = (0..).map(|n| format!("u-{n}")).filter(|user| shards::of_user(user, 8) == 0).take(6).collect();
    let clicks: Vec<_> = users.iter().map(|user| wall.click_id(user)).collect();
    let pay = |n: usize, duplicate| expect_accepted(wall.convert(&clicks[n], ""), "approved", duplicate);
    let mut ids: Vec<_> = (0..2).map(|n| pay(n, false)).collect();
    receiver.wait(2);
    let object = format!("outbox-{}-0", wall.app);
    keep(&signpost, outbox::BINDING, &object);
    ids.extend((2..4).map(|n| pay(n, false)));
    // The test need not wait for the journal: before a restore the outbox sends it the entries that it will lose.
    let undo = put_back(&signpost, &object);
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(pay(n, true), *id);
    }
    ids.push(pay(4, false));
    restore(&signpost, &object, &json!({ "bookmark": undo })).expect(200);
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(pay(n, true), *id);
    }
    ids.push(pay(5, false));
    receiver.wait(6);
    assert_eq!(receiver.transactions().len(), 6);
    let expected = 6.0 * wall.offer()["goals"][0]["payout_usd"].as_f64().unwrap();
    eventually_within(SENT_MS, &true, || (revenue(&publisher) - expected).abs() < 1e-9);
    assert_eq!(reasons(&signpost), ["outbox_restored"]);
}

#[test]
fn after_a_restore_waiting_callbacks_are_sent_and_rejections_and_erasures_stay() {
    let signpost = recoverable();
    let receiver = Receiver::start();
    let wall = signpost.sharded_offer_wall("recovered-waiting", "79000741", Some(&receiver), 1);
    signpost.refresh();
    let pending = wall.click_id("rejected");
    let rejected = expect_accepted(wall.convert(&pending, "&status=pending"), "pending", false);
    accepted_id(wall.convert(&wall.click_id("erased"), ""));
    receiver.wait(1);
    receiver.set(Behaviour::status(500));
    accepted_id(wall.convert(&wall.click_id("waits"), ""));
    receiver.wait(2);
    let object = format!("outbox-{}-0", wall.app);
    keep(&signpost, outbox::BINDING, &object);
    let reject = json!({ "reason": "fraud" });
    wall.operator("POST", &format!("conversions/{rejected}/reject"), Some(&reject)).expect(200);
    let erased = wall.operator("POST", "erase_user", Some(&json!({ "user_id": "erased" })));
    assert_eq!(erased.expect(200).json()["erased"], 1);
    let before = receiver.count();
    receiver.set(Behaviour::status(200));
    put_back(&signpost, &object);
    // Nobody calls the outbox.
    assert!(receiver.wait_until(MINUTE_MS, |received| received.len() > before));
    assert_eq!(wall.entry(&rejected)["status"], "rejected");
    let users: Vec<_> = wall.all_entries(10).into_iter().map(|entry| entry["user_id"].clone()).collect();
    assert!(!users.contains(&json!("erased")), "{users:?}");
    assert_eq!(journaled(&wall, "value ->> '$.erased'"), 1);
}

#[test]
fn counters_and_clicks_that_go_back_know_it_at_once() {
    away_from_midnight();
    let signpost = recoverable();
    let wall = signpost.offer_wall("recovered-cap", "79000742", None);
    wall.put_offer(&json!({"conversion_cap": {"dur": "DAILY", "lim": 4}}));
    signpost.refresh();
    let pay = |n: u32| wall.convert(&wall.click_id(&format!("user-{n}")), "");
    accepted_id(pay(0));
    let cap = counters::object_name(&OfferId::parse("recovered-cap").unwrap());
    keep(&signpost, counters::BINDING, &cap);
    (1..3).for_each(|n| drop(accepted_id(pay(n))));
    // No batch has told the counters of these rewards.
    put_back(&signpost, &cap);
    // A restore that fails does not withdraw the announcement of this one.
    restore(&signpost, &cap, &json!({ "bookmark": "wrong" })).expect_error(409, "not_recoverable");
    accepted_id(pay(3));
    expect_conversion_error(pay(4), 409, "conversion_capped");

    let long = "x".repeat(128);
    let click = format!("{CLICK}?rid={}-1&app={}&user_id=u-1&c1={long}&c2={long}&c3={long}", wall.id, wall.app);
    keep(&signpost, clicks::BINDING, "clicks-0");
    let (id, object) = loop {
        let id = click_id_at(&expect_redirect(signpost.get(&click, &[])));
        let Ok(Opened::Short { nonce, .. }) = click_id::open(&click_keys(), &id) else {
            panic!("{id} is whole");
        };
        let object = clicks::object_name(&nonce);
        if object == "clicks-0" {
            break (id, object);
        }
    };
    put_back(&signpost, &object);
    expect_conversion_error(wall.convert(&id, ""), 503, "unavailable");
    assert_eq!(reasons(&signpost), ["clicks_restored", "counters_restored"]);
}

#[test]
fn ended_credentials_stay_ended_and_promised_rewards_are_paid() {
    let signpost = recoverable();
    let wall = signpost.offer_wall("recovered-rest", "79000743", None);
    signpost.refresh();
    let publisher = signpost.existing_publisher(&wall.id);
    let owner = signed_in(&signpost, &publisher, "owner");
    let key = publisher.create_key("BI");
    let id = PublisherId::parse(&publisher.id).unwrap();
    let account = Account::Publisher(id.clone());
    let objects = [
        // Attention is first, because it loses the items about other restores.
        (attention::BINDING, attention::OBJECT_NAME.to_owned()),
        (accounts::BINDING, accounts::object_name(account.id())),
        (ledger::BINDING, ledger::object_name(&id)),
        (catalog::BINDING, catalog::OBJECT_NAME.to_owned()),
        (activity::BINDING, activity::object_name(&id)),
        (postbacks::BINDING, format!("postbacks-{}", wall.id)),
    ];
    for (namespace, object) in &objects {
        keep(&signpost, namespace, object);
    }
    publisher.revoke_key(&key);
    let mut goals = wall.offer()["goals"].clone();
    let promised = goals[0]["payout_usd"].as_f64().unwrap() + 1.0;
    goals[0]["payout_usd"] = json!(promised);
    wall.put_offer(&json!({ "goals": goals }));
    signpost.refresh();
    let click = wall.click_id("u-1");
    for (_, object) in &objects {
        put_back(&signpost, object);
    }
    assert_eq!(signpost.report_with(&key.api_key, b"{").status, 401);
    owner.get("overview").expect_error(401, "not_signed_in");
    let paid = expect_accepted(wall.convert(&click, ""), "approved", false);
    let payout = wall.entry(&paid)["payout"].as_f64().unwrap();
    assert!((payout - promised).abs() < 1e-9, "{payout}");
    signed_in(&signpost, &publisher, "owner").get("overview").expect(200);
    // Outboxes tell the activity again.
    eventually_within(SENT_MS, &true, || {
        let path = format!("publishers/{}/activity", wall.id);
        let activity = signpost.operator("GET", &path, None).expect(200).json();
        activity.to_string().contains(wall.app.as_str())
    });
    assert_eq!(reasons(&signpost), ["account_restored", "catalog_restored"]);
}

//! Promised rewards are paid: for the advertiser that the terms name, up to a cap from the answer to its PUT, not while
//! the publisher is suspended, and by the sealed terms, even if the catalog has lost them.

use std::{thread::sleep, time::Duration};

use serde_json::{Value, json};

use crate::{
    clicks::keys,
    conversions::expect_conversion_error,
    harness::{Answer, OfferWall, Receiver, away_from_midnight, demo, eventually, expect_accepted, now_ms, seal},
    reports::query,
};
use domain::model::time::SECOND_MS;

/// How long a test waits to see that nothing comes. An alarm and a first attempt take less.
const QUIET: Duration = Duration::from_secs(2);

fn cap(limit: u32) -> Value {
    json!({"conversion_cap": {"dur": "DAILY", "lim": limit}})
}

#[test]
fn a_suspended_publishers_rewards_wait_until_it_is_approved_again() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("conv-suspended", "79000198", Some(&receiver));
    let key = signpost.existing_publisher(&wall.id).create_key("nightly");
    let report = || signpost.report_with(&key.api_key, query(&["date"], &["clicks"]).to_string().as_bytes());
    let approve = |approved: bool| {
        let document = json!({"name": wall.id, "approved": approved});
        signpost.put(&format!("publishers/{}", wall.id), &document);
    };
    let before = wall.pay("u-0");
    receiver.wait(1);
    approve(false);
    let [held, by_hand, rejected] = ["u-1", "u-2", "u-3"].map(|user| {
        let id = expect_accepted(wall.convert(&wall.click_id(user), ""), "pending", false);
        let entry = wall.entry(&id);
        assert_eq!((&entry["status"], &entry["code"]), (&json!("held"), &json!("suspended")));
        id
    });
    let settle = |id: &str, action: &str| {
        let body = json!({"reason": "checked by hand"});
        wall.operator("POST", &format!("conversions/{id}/{action}"), Some(&body)).expect(200);
    };
    settle(&by_hand, "approve");
    settle(&rejected, "reject");
    report().expect_error(401, "invalid_api_key");
    sleep(QUIET);
    assert_eq!(receiver.count(), 1, "{:#?}", receiver.received());
    assert_eq!(wall.state(&by_hand), "waiting");

    approve(true);
    let called = receiver.wait_for_transactions(30_000, 3);
    assert_eq!(called, [&before, &held, &by_hand].map(|id| (id.clone(), 1)).into());
    assert_eq!(wall.entry(&held)["status"], "approved");
    assert_eq!(wall.entry(&rejected)["status"], "rejected");
    assert!(matches!(report().status, 200 | 204), "{:?}", report());
}

#[test]
fn a_first_cap_counts_what_was_paid_that_day_and_holds_from_its_answer() {
    away_from_midnight();
    let signpost = demo();
    let wall = signpost.offer_wall("conv-first-cap", "79000199", None);
    let users = wall.users();
    let refused = |user: &str| {
        expect_conversion_error(wall.convert(&wall.click_id(user), ""), 409, "conversion_capped");
    };
    for user in &users[..5] {
        wall.pay(user);
    }
    // Both the outboxes that have paid and those that have not asked for the offer yet.
    for limit in [3, 0, 5] {
        wall.put_offer(&cap(limit));
        users.iter().for_each(|user| refused(user));
    }
    wall.put_offer(&cap(6));
    wall.pay(&users[7]);
    users.iter().for_each(|user| refused(user));
    wall.put_offer(&json!({}));
    wall.pay(&users[0]);
    // Paid without a cap again, and counted.
    wall.put_offer(&cap(7));
    users.iter().for_each(|user| refused(user));
    wall.put_offer(&cap(8));
    wall.pay(&users[1]);
    refused(&users[2]);
}

#[test]
fn the_terms_that_have_a_goal_decide_who_may_report_it() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-moved", "79000190", None);
    let new = signpost.offer_wall("conv-moved-to", "79000194", None);
    let [click, later] = ["u-1", "u-2"].map(|user| wall.click_id(user));
    let send = |by: &OfferWall<'_>, click: &str, more: &str| {
        signpost.convert(&format!("click_id={click}&token={}{more}", by.token))
    };
    let no_token = |answer: Answer| {
        expect_conversion_error(answer, 401, "invalid_token");
    };
    // The offer moves to another advertiser, and gains a goal worth 50.
    let mut goals = wall.offer()["goals"].clone();
    let dear = json!({"id": wall.goal("4"), "ttl": "Stay", "instr": "1. Play", "payout_usd": 50, "ord": 4});
    goals.as_array_mut().unwrap().push(dear);
    let moved = json!({"advertiser_id": new.id, "goals": goals});
    wall.put_offer(&moved);
    signpost.refresh();
    no_token(send(&new, &click, ""));
    let [first, second] =
        ["&goal=install", "&goal=level_10"].map(|goal| expect_accepted(send(&wall, &click, goal), "approved", false));
    let added = format!("&goal={}", wall.goal("4"));
    no_token(send(&wall, &click, &added));
    let paid = expect_accepted(send(&new, &click, &added), "approved", false);
    assert_eq!(wall.entry(&paid)["payout"], 50);

    // Under the current terms old clicks belong to the new advertiser, except those accepted from the old one.
    sleep(Duration::from_millis(1_100));
    wall.put_offer(&crate::harness::with(moved, &json!({"terms_since": now_ms() / SECOND_MS})));
    signpost.refresh();
    no_token(send(&wall, &later, ""));
    expect_accepted(send(&new, &later, ""), "approved", false);
    for (goal, id) in [("&goal=install", &first), ("&goal=level_10", &second)] {
        let reversal = format!("{goal}&status=reversed");
        no_token(send(&new, &click, &reversal));
        assert_eq!(&expect_accepted(send(&wall, &click, &reversal), "reversed", false), id);
    }
}

/// The terms of the wall's offer as the operator enters them, with this payout of the first goal.
fn entered(wall: &OfferWall<'_>, payout_usd: f64) -> Value {
    json!({
        "advertiser_id": wall.id, "conversion_window_days": 30, "once_per": "user",
        "goals": [{"id": wall.goal("1"), "gl_val": "install", "payout_usd": payout_usd}, {"id": wall.goal("2"), "payout_usd": 1}]
    })
}

#[test]
fn a_postback_whose_terms_are_lost_is_kept_and_paid_by_those_that_are_entered() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("conv-lost", "79000188", Some(&receiver));
    // As in a catalog that was restored to before a change.
    let mut click = wall.click("u-1", now_ms());
    click.offer_terms -= 1_000;
    let lost = click.offer_terms;
    let click_id = seal(&keys(), &click);
    for _ in 0..2 {
        expect_conversion_error(wall.convert(&click_id, ""), 503, "unavailable");
    }
    let open = || {
        let path = format!("attention?app_id={}", wall.app);
        signpost.operator("GET", &path, None).expect(200).json()["items"].clone()
    };
    let subject = format!("offer {} {lost}", wall.id);
    eventually(&json!([["terms_lost", subject, "terms_lost"]]), || {
        let items = open();
        let shown = |item: &Value| json!([item["kind"], item["subject"], item["reason"]]);
        items.as_array().unwrap().iter().map(shown).collect::<Value>()
    });
    // The check of a postback says so, too.
    let url = json!({"url": format!("click_id={click_id}&token={}", wall.token)});
    let checked = signpost.operator("POST", "postback_check", Some(&url)).expect(200).json();
    assert_eq!((&checked["http_status"], &checked["code"]), (&json!(503), &json!("unavailable")));
    // Other clicks are paid meanwhile.
    let other = wall.pay("u-2");

    let path = format!("offers/{}/terms/{lost}", wall.id);
    signpost.put(&path, &entered(&wall, 7.5));
    // Without another postback.
    let called = receiver.wait_for_transactions(60_000, 2);
    let paid = called.keys().find(|id| **id != other).unwrap();
    assert_eq!(wall.entry(paid)["payout"], 7.5);
    assert_eq!(&expect_accepted(wall.convert(&click_id, ""), "approved", true), paid);
    eventually(&json!([]), open);
}

#[test]
fn terms_are_entered_once_for_revisions_that_were() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-entered", "79000189", None);
    let (offer, app) = wall.terms_of(&wall.id);
    let enter = |path: &str, body: &Value| signpost.operator("PUT", path, Some(body));
    let of_offer = |revision: i64| format!("offers/{}/terms/{revision}", wall.id);
    let of_app = |revision: i64| format!("apps/{}/terms/{revision}", wall.app);
    let coins =
        |per_usd: u32| json!({"currency": {"name": "Coins", "per_usd": per_usd, "decimals": 0, "rounding": "down"}});
    let old = offer - 1_000;
    for (path, terms, others) in
        [(of_offer(old), entered(&wall, 2.5), entered(&wall, 2.0)), (of_app(app - 1_000), coins(10), coins(20))]
    {
        for _ in 0..2 {
            let revision = path.rsplit('/').next().unwrap().parse::<i64>().unwrap();
            assert_eq!(enter(&path, &terms).expect(200).json(), json!({ "revision": revision }));
        }
        enter(&path, &others).expect_error(409, "terms_exist");
    }
    // Terms in force never change, and a revision cannot lie in the future.
    enter(&of_offer(offer), &entered(&wall, 2.5)).expect_error(409, "terms_exist");
    assert_eq!(enter(&of_app(app), &coins(1_000)).expect(200).json(), json!({ "revision": app }));
    let future = now_ms() / SECOND_MS + 1_000;
    for revision in ["0", "-1", "x", "99999999999999999999", &future.to_string()] {
        let path = format!("offers/{}/terms/{revision}", wall.id);
        enter(&path, &entered(&wall, 2.5)).expect_error(400, "invalid_field");
    }
    enter(&format!("offers/conv-nothing/terms/{old}"), &entered(&wall, 2.5)).expect_error(404, "not_found");
    enter(&format!("apps/79999999/terms/{old}"), &coins(10)).expect_error(404, "not_found");
    let with = |member: &str, value: Value| crate::harness::with(entered(&wall, 2.5), &json!({ member: value }));
    for (body, code) in [
        (json!({}), "missing_field"),
        (with("colour", json!("red")), "unknown_field"),
        (with("once_per", json!("day")), "invalid_field"),
        (with("conversion_window_days", json!(91)), "invalid_field"),
        (with("goals", json!([])), "invalid_field"),
        (with("goals", json!([{"id": "g", "payout_usd": 1}, {"id": "g", "payout_usd": 2}])), "invalid_field"),
        (with("goals", json!([{"id": "g", "payout_usd": -1}])), "invalid_field"),
    ] {
        enter(&of_offer(old - 1), &body).expect_error(400, code);
    }
    let text = [("Content-Type", "text/plain")];
    let answer = signpost.operate("PUT", &of_offer(old - 1), &text, entered(&wall, 2.5).to_string().as_bytes());
    answer.expect_error(415, "unsupported_media_type");
    // The list has them, with those in force.
    let listed = signpost.operator("GET", &format!("offers/{}/terms", wall.id), None).expect(200).json();
    let revisions = listed["revisions"].as_array().unwrap().iter();
    let revisions: Vec<_> = revisions.map(|listed| listed["revision"].as_i64().unwrap()).collect();
    assert!(revisions.contains(&offer) && revisions.contains(&old), "{listed}");
}

//! The goal of a conversion follows the postback and its payout the terms at the click; the goal that the user clicked
//! decides nothing.

use serde_json::{Value, json};

use crate::{
    clicks::{click_id_at, expect_redirect},
    conversions::expect_conversion_error,
    harness::{GOALS, OfferWall, Receiver, demo, expect_accepted, now_ms, with},
};
use domain::model::time::{DAY_MS, SECOND_MS};

/// The goal, payout in USD and value in the app's currency of a logged conversion.
#[track_caller]
fn paid(wall: &OfferWall<'_>, id: &str) -> (String, f64, f64) {
    let entry = wall.entry(id);
    (entry["goal_id"].as_str().unwrap().to_owned(), entry["payout"].as_f64().unwrap(), entry["value"].as_f64().unwrap())
}

#[test]
fn a_click_on_the_dearest_goal_still_pays_the_first() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-dearest", "79000121", None);
    for (goal, ..) in GOALS {
        let query = format!("rid={}&app={}&user_id=u-{goal}", wall.goal(goal), wall.app);
        let click = click_id_at(&expect_redirect(signpost.click(&query, "DE")));
        let id = expect_accepted(wall.convert(&click, ""), "approved", false);
        assert_eq!(paid(&wall, &id), (wall.goal("1"), 1.25, 1_250.0), "rid {goal}");
    }
}

#[test]
fn a_goal_is_named_by_its_id_or_by_its_event_code() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-named", "79000122", None);
    for (goal, event, usd, coins) in GOALS {
        for name in [wall.goal(goal).as_str(), event] {
            let answer = wall.convert(&wall.click_id("u-1"), &format!("&goal={name}"));
            let id = expect_accepted(answer, "approved", false);
            let coins = f64::from(u32::try_from(coins).unwrap());
            assert_eq!(paid(&wall, &id), (wall.goal(goal), usd, coins), "{name}");
        }
    }
}

/// The demo offer of a wall whose goals have these payouts in USD, `conv-…-1` first.
fn goals(wall: &OfferWall<'_>, payouts: &[f64]) -> Value {
    let goals = (1..).zip(payouts).map(|(ord, payout)| {
        let id = wall.goal(&ord.to_string());
        json!({"id": id, "ttl": "A goal", "instr": "1. Play", "payout_usd": payout, "ord": ord})
    });
    json!({ "goals": goals.collect::<Value>() })
}

#[test]
fn a_click_is_paid_what_it_promised_whatever_changes_afterwards() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-sealed", "79000123", None);
    let click = |user: &str| {
        let query = format!("rid=conv-sealed-1&app={}&user_id={user}", wall.app);
        click_id_at(&expect_redirect(signpost.click(&query, "DE")))
    };
    let pay = |click: &str, goal: &str| {
        let answer = wall.convert(click, goal);
        paid(&wall, &expect_accepted(answer, "approved", false))
    };
    let gems = json!({
        "currency": {"name": "Gems", "per_usd": 42.5, "decimals": 2, "rounding": "nearest"}
    });
    let sold = |payout: f64, value: f64| (wall.goal("1"), payout, value);
    let old = ["u-1", "u-2", "u-3", "u-4"].map(click);
    assert_eq!(pay(&old[0], ""), sold(1.25, 1_250.0));
    wall.put_offer(&goals(&wall, &[2.0]));
    wall.put_app(&gems);
    // Also before the change is published.
    assert_eq!(pay(&old[1], ""), sold(1.25, 1_250.0));
    signpost.refresh();
    assert_eq!(pay(&old[2], "&goal=level_10"), (wall.goal("2"), 20.5, 20_500.0));
    assert_eq!(pay(&click("u-5"), ""), sold(2.0, 85.0));

    // The payout was mistyped: clicks made before now are paid by the current terms, of the offer and of the app.
    // Clicks are older by a whole second, since it is in seconds.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let since = json!({ "terms_since": now_ms() / SECOND_MS });
    wall.put_offer(&with(goals(&wall, &[3.0]), &since));
    signpost.refresh();
    let earlier = wall.click_id_at("u-6", now_ms() - DAY_MS);
    assert_eq!(pay(&earlier, ""), sold(3.0, 127.5));
    assert_eq!(pay(&old[2], ""), sold(3.0, 3_000.0));
    wall.put_app(&with(gems, &since));
    signpost.refresh();
    assert_eq!(pay(&old[3], ""), sold(3.0, 127.5));

    // A goal that came after the click is paid by the current terms.
    wall.put_offer(&goals(&wall, &[3.0, 4.0]));
    expect_conversion_error(wall.convert(&old[3], "&goal=conv-sealed-3"), 400, "unknown_goal");
    signpost.refresh();
    assert_eq!(pay(&old[3], "&goal=conv-sealed-2"), (wall.goal("2"), 4.0, 170.0));
}

#[test]
fn a_paused_or_ended_offer_still_pays_the_clicks_made_before() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-paused", "79000124", None);
    let ended_at = (now_ms() - SECOND_MS) / SECOND_MS;
    for changes in [
        json!({"active": false}),
        json!({"ends_at": ended_at}),
        json!({"geo_tgt": {"include": ["FR"], "exclude": []}}),
        json!({"click_cap": {"dur": "DAILY", "lim": 0}}),
    ] {
        wall.put_offer(&changes);
        signpost.refresh();
        wall.pay("u-1");
    }
}

#[test]
fn a_new_token_is_valid_at_once_and_a_revoked_one_ends_with_its_publication() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-tokens", "79000125", None);
    let send = |token: &str| signpost.convert(&format!("click_id={}&token={token}", wall.click_id("u")));
    let mut replaced = wall.token.clone();
    for _ in 0..3 {
        let (old_id, old) = wall.issue_token();
        let (_, new) = wall.issue_token();
        for token in [&old, &new] {
            expect_accepted(send(token), "approved", false);
        }
        // The two new tokens replaced the earlier one, and the operator revokes one of them.
        let path = format!("advertisers/{}/token/{old_id}", wall.id);
        signpost.operator("DELETE", &path, None).expect(204);
        signpost.refresh();
        for token in [&replaced, &old] {
            expect_conversion_error(send(token), 401, "invalid_token");
        }
        expect_accepted(send(&new), "approved", false);
        replaced = new;
    }
}

#[test]
fn the_conversion_window_is_the_offers_or_thirty_days() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-window", "79000126", None);
    let minute_ms = 60 * SECOND_MS;
    for (window, days) in [(Value::Null, 30), (json!(1), 1), (json!(7), 7), (json!(90), 90)] {
        wall.put_offer(&json!({ "conversion_window_days": window }));
        let edge_ms = now_ms() - days * DAY_MS;
        let [inside, outside] = [edge_ms + minute_ms, edge_ms - minute_ms].map(|at_ms| wall.click_id_at("u-1", at_ms));
        expect_accepted(wall.convert(&inside, ""), "approved", false);
        expect_conversion_error(wall.convert(&outside, ""), 410, "conversion_window_closed");
    }
    // A click from a clock that is ahead is accepted.
    expect_accepted(wall.convert(&wall.click_id_at("u-1", now_ms() + minute_ms), ""), "approved", false);
    // The window does not apply to a known conversion.
    wall.put_offer(&json!({}));
    let click = wall.click_id_at("u-1", now_ms() - 2 * DAY_MS);
    expect_accepted(wall.convert(&click, "&status=pending"), "pending", false);
    wall.put_offer(&json!({"conversion_window_days": 1}));
    expect_accepted(wall.convert(&click, ""), "approved", false);
}

#[test]
fn a_short_click_id_restores_the_stored_click() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.unpublished_offer_wall("conv-short", "79000127", Some(&receiver));
    wall.put_offer(&json!({"click_id_max": 50}));
    signpost.refresh();
    let long = "x".repeat(128);
    let query = format!(
        "rid=conv-short-2&app={}&user_id=u-1&c1={long}&c5=five&gaid=38400000-8cf0-11bd-b23e-10b96e40000d",
        wall.app
    );
    let click = click_id_at(&expect_redirect(signpost.click(&query, "FR")));
    assert!(click.len() <= 50, "{click}");
    let id = expect_accepted(wall.convert(&click, "&goal=purchase"), "approved", false);
    assert_eq!(expect_accepted(wall.convert(&click, "&goal=purchase"), "approved", true), id);
    let received = receiver.wait(1).remove(0);
    for (name, value) in [
        ("transaction_id", id.as_str()),
        ("user_id", "u-1"),
        ("c1", &long),
        ("c5", "five"),
        ("gaid", "38400000-8cf0-11bd-b23e-10b96e40000d"),
        ("country", "FR"),
        ("goal_id", "conv-short-3"),
    ] {
        assert_eq!(received.parameter(name).as_deref(), Some(value), "{name}: {received:?}");
    }
}

//! `GET /v1/operator/reconcile`: what an app's outboxes paid on a day, against the ledger.

use serde_json::{Value, json};

use crate::{
    conversions::accepted_id,
    harness::{Setup, demo, now_ms},
};
use domain::model::time::UtcDay;

#[test]
fn an_apps_day_is_compared_with_the_ledger_and_a_difference_is_shown_by_transaction() {
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("reconciled", "79000301", None);
    let began_ms = now_ms();
    let clicks: Vec<String> = wall.users().iter().map(|user| wall.click_id(user)).collect();
    let convert = |click: &str, more: &str| accepted_id(wall.convert(click, more));
    let mut paid: Vec<String> = clicks.iter().map(|click| convert(click, "")).collect();
    wall.convert(&clicks[2], "&status=reversed").expect(200);
    wall.convert(&wall.click_id("waits"), "&status=pending").expect(200);
    wall.expect_reconciled_since(began_ms);
    let day = UtcDay::of_ms(began_ms);
    if day != UtcDay::of_ms(now_ms()) {
        return; // The test ran over midnight: its sums are of two days.
    }
    let found = wall.reconcile(day);
    assert_eq!((&found["app_id"], &found["date"]), (&json!("79000301"), &json!(day.to_string())));
    assert_eq!(found["paid_micro_usd"], 7 * 1_250_000);
    assert_eq!(found["transactions"], json!([]));
    let outboxes = found["outboxes"].as_array().unwrap();
    assert_eq!(outboxes.len(), 8);
    let expected = json!({"outbox": 2, "rewards": 1, "reversals": 1, "paid_micro_usd": 0,
        "waiting_micro_usd": 0, "ledger_micro_usd": 0, "difference_micro_usd": 0});
    assert_eq!(outboxes[2], expected);
    assert_eq!(wall.reconcile(day.minus(1))["paid_micro_usd"], 0);

    // Facts that the operator loads are not what Signpost counted.
    let publisher = signpost.existing_publisher(&wall.id);
    let csv = "date,app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,\
        revenue";
    let fact = format!("{csv}\n{day},{},DE,p,t,Network,1,0,0,0,0,1.5\n", wall.app);
    publisher.put_facts(&day.to_string(), &fact).expect(200);
    wall.expect_reconciled_since(began_ms);

    // A log that lost a micro-USD of each reward.
    signpost.restart_after(|| {
        signpost.damage(
            "signpost-outbox",
            "UPDATE entries SET payout_micro_usd = payout_micro_usd - 1 WHERE after IS NULL",
        );
    });
    let found = wall.reconcile(day);
    assert_eq!(found["difference_micro_usd"], 8, "{found}");
    let of = |outbox: &Value| outbox["difference_micro_usd"].as_i64().unwrap();
    assert!(found["outboxes"].as_array().unwrap().iter().all(|outbox| of(outbox) == -1 && outbox["behind"] == "log"));
    let listed = found["transactions"].as_array().unwrap();
    assert_eq!(listed.len(), 9);
    let rewards = listed.iter().filter(|entry| entry["paid_micro_usd"] == 1_249_999);
    let mut rewards: Vec<_> = rewards.map(|entry| entry["transaction_id"].as_str().unwrap()).collect();
    rewards.sort_unstable();
    paid.sort_unstable();
    assert_eq!(rewards, paid);
}

#[test]
fn a_comparison_needs_an_app_and_a_day() {
    let signpost = demo();
    let refused = |query: &str, status: u16, code: &str, message: &str| {
        let answer = signpost.operator("GET", &format!("reconcile?{query}"), None);
        let answer = answer.expect_error(status, code);
        assert_eq!(answer.json()["error"], message, "{query}");
    };
    refused("", 400, "missing_field", "app is required");
    refused("app=10000001", 400, "missing_field", "date is required");
    refused("app=1&date=2026-11-03", 400, "invalid_field", "app: must be exactly 8 digits");
    for date in ["", "today", "2026-02-30", "2026-11-3", "1999-12-31"] {
        let query = format!("app=10000001&date={date}");
        let rule = "must be a date from 2000-01-01 to 2099-12-31, written YYYY-MM-DD";
        refused(&query, 400, "invalid_field", &format!("date: {rule}, not \"{date}\""));
    }
    let unknown = signpost.operator("GET", "reconcile?app=79999999&date=2026-11-03", None);
    unknown.expect_error(404, "not_found");
}

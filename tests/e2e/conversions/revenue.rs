//! Paid conversions are revenue in the publisher's reports, and reversals subtract it.

use serde_json::{Value, json};

use crate::{
    clicks::click_id_at,
    harness::{Publisher, away_from_midnight, demo, eventually_within, expect_accepted, now_ms},
};
use domain::model::time::{SECOND_MS, UtcDay};

/// Longer than the interval of revenue batches to the ledger, on a busy machine.
const REVENUE_SENT_MS: i64 = 30 * SECOND_MS;

/// A query for today's clicks and revenue by their source.
fn by_source() -> Value {
    let today = UtcDay::of_ms(now_ms()).to_string();
    let dimensions = ["app", "placement_id", "ad_tag", "demand_source", "sdk_v"];
    json!({
        "date_range": {"start_date": today, "end_date": today},
        "dimensions": dimensions, "metrics": ["impressions", "clicks", "revenue"],
        "order_by": dimensions.map(|dimension| json!({"column": dimension, "ascending": true})),
    })
}

/// The revenue of a publisher yesterday and today, in USD.
pub fn revenue(publisher: &Publisher<'_>) -> f64 {
    let today = UtcDay::of_ms(now_ms());
    let query = json!({
        "date_range": {"start_date": today.minus(1).to_string(), "end_date": today.to_string()},
        "dimensions": ["demand_source"], "metrics": ["revenue"],
    });
    let rows = publisher.rows(&query);
    rows.iter().map(|row| row["revenue"].as_f64().unwrap_or(0.0)).sum()
}

#[test]
fn a_reward_adds_revenue_and_a_reversal_subtracts_it() {
    away_from_midnight();
    let signpost = demo();
    let wall = signpost.offer_wall("conv-revenue", "79000161", None);
    let publisher = signpost.existing_publisher(&wall.id);
    let click = |user: &str, placement: &str| {
        let query = format!("rid={}&app={}&user_id={user}{placement}", wall.goal("1"), wall.app);
        click_id_at(&signpost.click(&query, "DE").expect(302))
    };
    let [one, two] = ["u-1", "u-2"].map(|user| click(user, "&placement=home"));
    let plain = click("u-3", "");
    for (click, goal) in [(&one, "install"), (&one, "purchase"), (&two, "level_10"), (&plain, "install")] {
        // Sent twice, paid once.
        for duplicate in [false, true] {
            expect_accepted(wall.convert(click, &format!("&goal={goal}")), "approved", duplicate);
        }
    }
    expect_accepted(wall.convert(&plain, "&goal=level_10&status=pending"), "pending", false);

    let row = |placement: &str, clicks: u64, revenue: f64| {
        json!({
            "app_id": wall.app, "app": {"name": wall.id}, "placement_id": placement, "ad_tag": wall.id,
            "demand_source": "offerwall", "sdk_v": "api", "clicks": clicks, "revenue": revenue
        })
    };
    let expected = vec![row("home", 2, 121.749_999), row("offerwall", 1, 1.25)];
    eventually_within(REVENUE_SENT_MS, &expected, || publisher.rows(&by_source()));

    for duplicate in [false, true] {
        let answer = wall.convert(&one, "&goal=purchase&status=reversed");
        expect_accepted(answer, "reversed", duplicate);
    }
    let expected = vec![row("home", 2, 21.75), row("offerwall", 1, 1.25)];
    eventually_within(REVENUE_SENT_MS, &expected, || publisher.rows(&by_source()));
    // The reversal of an unpaid conversion subtracts nothing.
    expect_accepted(wall.convert(&plain, "&goal=level_10&status=reversed"), "rejected", false);
    expect_accepted(wall.convert(&two, "&goal=install&status=reversed"), "reversed", false);
    expect_accepted(wall.convert(&two, "&goal=purchase"), "approved", false);
    let expected = vec![row("home", 2, 121.749_999), row("offerwall", 1, 1.25)];
    eventually_within(REVENUE_SENT_MS, &expected, || publisher.rows(&by_source()));
}

//! Clicks that Signpost counted appear once in their publisher's reports, despite failures, and beside uploaded facts.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    faults::inject_faults,
    harness::{Publisher, Setup, Signpost, away_from_midnight, demo, eventually, eventually_within, now_ms},
    reports::csv,
};
use domain::model::time::{SECOND_MS, UtcDay};

/// Longer than several retries of a batch from the counters to the ledger, whose delays double from 5 s.
const RETRIES_MS: i64 = 60 * SECOND_MS;
/// A goal of a demo offer for Android in every country without a cap, and the offer.
const GOAL: &str = "410271";
const OFFER: &str = "23817";

fn today() -> String {
    UtcDay::of_ms(now_ms()).to_string()
}

fn query(dimensions: &[&str]) -> Value {
    json!({
        "date_range": {"start_date": today(), "end_date": today()},
        "dimensions": dimensions, "metrics": ["impressions", "clicks", "revenue"],
        "order_by": dimensions.iter().map(|dimension| json!({"column": dimension, "ascending": true})).collect::<Vec<_>>(),
    })
}

/// A publisher with a published app.
fn with_app<'s>(signpost: &'s Signpost, id: &str, app: &str) -> Publisher<'s> {
    let publisher = signpost.publisher(id);
    signpost.put(
        &format!("apps/{app}"),
        &json!({
            "publisher_id": id, "name": "Clicked", "platform": "android",
            "currency": {"name": "Coins", "per_usd": 1000, "decimals": 0, "rounding": "down"}
        }),
    );
    signpost.refresh();
    publisher
}

fn click(signpost: &Signpost, goal: &str, app: &str, placement: &str, country: &str) {
    let mut query = format!("rid={goal}&app={app}&user_id=u-1");
    if !placement.is_empty() {
        query += &format!("&placement={placement}");
    }
    signpost.click(&query, country).expect(302);
}

/// The row of an app's clicks by app, country, placement, ad tag, demand source and SDK version.
fn row(app: &str, country: &str, placement: &str, offer: &str, clicks: u64) -> Value {
    json!({
        "app_id": app, "app": {"name": "Clicked"}, "country": country, "placement_id": placement, "ad_tag": offer,
        "demand_source": "offerwall", "sdk_v": "api", "clicks": clicks,
    })
}

#[test]
fn clicks_are_reported_beside_uploaded_facts_and_survive_a_replaced_day() {
    away_from_midnight();
    let signpost = demo();
    signpost.put_offer("reported", &json!({}));
    let app = "77000001";
    let publisher = with_app(&signpost, "traffic-clicks", app);
    // Goal, placement, country and number of clicks.
    for (goal, placement, country, times) in [
        (GOAL, "home", "DE", 3),
        (GOAL, "home", "US", 1),
        (GOAL, "", "DE", 2),
        (GOAL, "home", "XX", 4),
        ("reported-g", "end.of-level_1@x", "FR", 5),
        ("reported-g", "offerwall", "FR", 1),
        ("reported-g", "", "FR", 1),
    ] {
        for _ in 0..times {
            click(&signpost, goal, app, placement, country);
        }
    }
    let all = query(&["app", "country", "placement_id", "ad_tag", "demand_source", "sdk_v"]);
    let click_rows = [
        row(app, "DE", "home", OFFER, 3),
        row(app, "DE", "offerwall", OFFER, 2),
        row(app, "FR", "end.of-level_1@x", "reported", 5),
        row(app, "FR", "offerwall", "reported", 2),
        row(app, "US", "home", OFFER, 1),
        row(app, "ZZ", "home", OFFER, 4),
    ];
    eventually(&click_rows.to_vec(), || publisher.rows(&all));

    // Uploaded facts of the same day and key, except for the demand source, are separate rows.
    let date = today();
    let by_source = query(&["demand_source"]);
    let offerwall = json!({"demand_source": "offerwall", "clicks": 17});
    for (impressions, clicks) in [(1_000, 10), (2_000, 20)] {
        let facts = csv(&[
            &format!("{date},{app},,DE,home,{OFFER},alpha,api,0,0,{impressions},{clicks},1.5"),
            &format!("{date},{app},,FR,offerwall,reported,alpha,api,0,0,0,0,0"),
        ]);
        publisher.put_facts(&date, &facts).expect(200);
        let alpha = json!({"demand_source": "alpha", "impressions": impressions, "clicks": clicks, "revenue": 1.5});
        assert_eq!(publisher.rows(&by_source), [alpha.clone(), offerwall.clone()]);
        let total = json!({"app_id": app, "app": {"name": "Clicked"}, "impressions": impressions,
            "clicks": clicks + 17, "revenue": 1.5});
        assert_eq!(publisher.rows(&query(&["app"])), [total]);
    }
    let days = publisher.days();
    assert_eq!(days[0]["date"], date.as_str(), "{days:?}");
    assert_eq!(days[0]["loaded"]["clicks"], 20, "{days:?}");
    assert_eq!(days[0]["offers"]["clicks"], 17, "{days:?}");

    publisher.put_facts(&date, &csv(&[])).expect(200);
    assert_eq!(publisher.rows(&all), click_rows);
    let through = publisher.report(&all);
    let through = through.header("X-Data-Through").expect("X-Data-Through");
    assert!(through.starts_with(&date), "{through}: today's data is not complete");

    // Uploads may not use the demand source of Signpost's own clicks.
    let forged = csv(&[&format!("{date},{app},,DE,home,{OFFER},offerwall,api,0,0,0,1000,0")]);
    publisher.put_facts(&date, &forged).expect_error(400, "invalid_facts");
    assert_eq!(publisher.rows(&all), click_rows);
}

#[test]
fn an_app_has_at_most_two_hundred_placements_a_day_in_reports() {
    away_from_midnight();
    let signpost = demo();
    let app = "77000011";
    let publisher = with_app(&signpost, "traffic-placements", app);
    for round in 1..=2 {
        for placement in 0..230 {
            click(&signpost, GOAL, app, &format!("p-{placement}"), "DE");
        }
        // A click without a placement has the default `offerwall`, which is not one of the 200.
        click(&signpost, GOAL, app, "", "DE");
        let by_placement = query(&["placement_id"]);
        let clicks = || -> BTreeMap<String, u64> {
            let rows = publisher.rows(&by_placement);
            let entry = |row: &Value| {
                let placement = row["placement_id"].as_str().unwrap().to_owned();
                (placement, row["clicks"].as_u64().unwrap())
            };
            rows.iter().map(entry).collect()
        };
        eventually(&(round * 231), || clicks().values().sum());
        let mut clicks = clicks();
        assert_eq!(clicks.remove("offerwall"), Some(round));
        assert_eq!(clicks.remove("other"), Some(30 * round), "{clicks:?}");
        // The same 200 as before. Otherwise one would still have one click, and another would be new.
        assert_eq!(clicks.len(), 200);
        assert!(clicks.values().all(|times| *times == round), "{clicks:?}");
    }
    // The limit of 200 is for each app, not for all apps.
    let other_app = "77000012";
    signpost.put(
        &format!("apps/{other_app}"),
        &json!({
            "publisher_id": "traffic-placements", "name": "Clicked", "platform": "android",
            "currency": {"name": "Coins", "per_usd": 1000, "decimals": 0, "rounding": "down"}
        }),
    );
    signpost.refresh();
    click(&signpost, GOAL, other_app, "of-the-other-app", "DE");
    let mut filtered = query(&["placement_id"]);
    filtered["filters"] = json!([{"dimension": "app", "values": [other_app]}]);
    let expected = vec![json!({"placement_id": "of-the-other-app", "clicks": 1})];
    eventually(&expected, || publisher.rows(&filtered));
}

#[test]
fn each_click_is_reported_once_after_an_outage_of_the_ledger() {
    away_from_midnight();
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let app = "77000021";
    let publisher = with_app(&signpost, "traffic-faults", app);
    // This call creates the ledger, so that its database can be read.
    assert_eq!(publisher.days(), [] as [Value; 0]);
    let clicks = |country: &str, times: usize| {
        for _ in 0..times {
            click(&signpost, GOAL, app, "home", country);
        }
    };
    let failed = || {
        let sql = "SELECT COALESCE(MAX(value ->> '$.behind.attempts'), 0) FROM positions, json_each(known)";
        let attempts = signpost.stored("signpost-counters", sql, |row| row.get::<_, i64>(0));
        attempts.into_iter().max().unwrap_or(0)
    };
    let applied = || {
        let sql = "SELECT COUNT(*) FROM marks";
        let marks = signpost.stored("signpost-ledger", sql, |row| row.get::<_, i64>(0));
        marks.into_iter().sum::<i64>()
    };

    inject_faults(&signpost, "ledger");
    clicks("DE", 10);
    eventually_within(RETRIES_MS, &true, || failed() >= 1);
    assert_eq!(applied(), 0);
    publisher.operator("GET", "facts", None).expect_error(503, "unavailable");

    // From here on the ledger applies batches, but its answers are lost: the batch is sent again.
    inject_faults(&signpost, "ledger-answers");
    clicks("US", 5);
    eventually_within(RETRIES_MS, &true, || applied() >= 1 && failed() >= 2);

    inject_faults(&signpost, "counters-answers");
    clicks("FR", 7);
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    inject_faults(&signpost, "");
    // The request of another click flushes what is left in the isolate.
    clicks("JP", 1);
    let by_country = query(&["country"]);
    let expected: Vec<_> = [("DE", 10), ("FR", 7), ("JP", 1), ("US", 5)]
        .map(|(country, clicks)| json!({"country": country, "clicks": clicks}))
        .into();
    eventually_within(RETRIES_MS, &expected, || publisher.rows(&by_country));
    // All batches are confirmed, and no retry was counted twice.
    eventually_within(RETRIES_MS, &0, failed);
    assert_eq!(publisher.rows(&by_country), expected);
    signpost.restart();
    assert_eq!(publisher.rows(&by_country), expected);
}

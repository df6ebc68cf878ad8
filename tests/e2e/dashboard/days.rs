//! From a figure to its rows: the revenue of a day, its apps, an app's offers and an offer's rewards add up.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use serde_json::{Value, json};

use super::{Browser, signed_in};
use crate::{
    conversions::accepted_id,
    harness::{OfferWall, Setup, click_keys, demo, eventually_within, now_ms, seal},
};
use domain::model::time::UtcDay;

/// An amount in USD as micro-USD.
fn micros(amount: &Value) -> i64 {
    format!("{:.0}", amount.as_f64().expect("an amount") * 1e6).parse().expect("an integer")
}

/// The revenue of a day by a dimension, and its total.
fn revenue(browser: &Browser<'_>, day: UtcDay, dimension: &str, filters: &Value) -> (BTreeMap<String, i64>, i64) {
    let day = day.to_string();
    let query = json!({
        "date_range": { "start_date": day, "end_date": day }, "dimensions": [dimension], "metrics": ["revenue"],
        "filters": filters, "totals": true,
    });
    let answer = browser.post("reports", &json!({ "queries": [query] })).expect(200).json();
    let result = &answer["results"][0];
    let member = if dimension == "app" { "app_id" } else { dimension };
    let rows = result["rows"].as_array().expect("rows").iter();
    let rows = rows.map(|row| {
        let value = row[member].as_str().expect("a value");
        (value.to_owned(), micros(&row["revenue"]))
    });
    (rows.collect(), micros(&result["totals"]["revenue"]))
}

/// The payments of an offer, page by page.
fn payments(browser: &Browser<'_>, app: &str, day: UtcDay, offer: &str, limit: u32) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("apps/{app}/days/{day}/offers/{offer}?limit={limit}{cursor}");
        let page = browser.get(&path).expect(200).json();
        let rows = page["rows"].as_array().expect("rows");
        assert!(rows.len() <= limit as usize, "{page}");
        all.extend_from_slice(rows);
        match page["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

fn pay_on(wall: &OfferWall<'_>, offer: &str, user: &str) -> String {
    let click = seal(&click_keys(), &wall.click_on(offer, user, now_ms()));
    accepted_id(wall.convert(&click, ""))
}

#[test]
fn a_days_revenue_is_that_of_its_apps_their_offers_and_the_rewards_of_these() {
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("figure-rows", "79000871", None);
    wall.put_offer_as("figure-rows-2", &json!({}));
    let publisher = signpost.existing_publisher(&wall.id);
    let analyst = signed_in(&signpost, &publisher, "analyst");
    let began_ms = now_ms();
    let day = UtcDay::of_ms(began_ms);
    let day_path = format!("apps/{}/days/{day}", wall.app);
    let outboxes = || {
        let is_outbox = |file: &PathBuf| file.to_string_lossy().contains("signpost-outbox");
        signpost.object_files().into_iter().filter(is_outbox).collect::<Vec<_>>()
    };
    let before = outboxes();
    assert_eq!(analyst.get(&day_path).expect(200).json(), json!({ "offers": [] }));
    assert_eq!(payments(&analyst, &wall.app, day, "figure-rows", 100), [] as [Value; 0]);
    assert_eq!(outboxes(), before, "a read makes no outbox");

    let clicks: Vec<String> = wall.users().iter().map(|user| wall.click_id(user)).collect();
    let mut paid: Vec<String> = clicks.iter().map(|click| accepted_id(wall.convert(click, ""))).collect();
    paid.push(wall.pay("user-0"));
    let other = pay_on(&wall, "figure-rows-2", "somebody");
    wall.convert(&clicks[1], "&status=reversed").expect(200);
    wall.convert(&wall.click_id("waits"), "&status=pending").expect(200);
    let csv = "date,app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,\
        revenue";
    let facts = format!(
        "{csv}\n{day},{},DE,p,t,Network,1,0,0,0,0,1.5\n{day},79000872,DE,p,t,Network,1,0,0,0,0,0.25\n",
        wall.app
    );
    publisher.put_facts(&day.to_string(), &facts).expect(200);
    wall.expect_reconciled_since(began_ms);
    if day != UtcDay::of_ms(now_ms()) {
        return; // The test ran over midnight: its sums are of two days.
    }
    // The sums are also equal while the reversal and the reward of the same amount are on their way.
    let offer = |id: &str, rewards: i64, reversals: i64, usd: Value| json!({ "offer_id": id, "revenue": usd, "rewards": rewards, "reversals": reversals, "paid": usd, "reason": null });
    let expected =
        json!({ "offers": [offer("figure-rows", 9, 1, json!(10)), offer("figure-rows-2", 1, 0, json!(1.25))] });
    eventually_within(60_000, &expected, || analyst.get(&day_path).expect(200).json());

    // Day → app → demand source → offer.
    let (apps, total) = revenue(&analyst, day, "app", &json!([]));
    assert_eq!(apps.values().sum::<i64>(), total);
    assert_eq!(total, 9 * 1_250_000 + 1_500_000 + 250_000);
    let of_app = json!([{ "dimension": "app", "values": [wall.app] }]);
    let (sources, of_app) = revenue(&analyst, day, "demand_source", &of_app);
    assert_eq!((of_app, sources.values().sum::<i64>()), (apps[&wall.app], apps[&wall.app]));
    let listed = expected["offers"].as_array().unwrap().iter();
    assert_eq!(listed.map(|offer| micros(&offer["revenue"])).sum::<i64>(), sources["offerwall"]);

    // Offer → rewards, in pages of any size.
    let rows = payments(&analyst, &wall.app, day, "figure-rows", 100);
    for limit in [1, 3] {
        assert_eq!(payments(&analyst, &wall.app, day, "figure-rows", limit), rows);
    }
    assert_eq!(rows.iter().map(|row| micros(&row["payout"])).sum::<i64>(), 10_000_000);
    let (reversals, rewards): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row["kind"] == "reversal");
    assert_eq!((reversals.len(), &reversals[0]["payout"]), (1, &json!(-1.25)));
    let of_rewards = rewards.iter().map(|row| row["transaction_id"].as_str().unwrap());
    let paid: BTreeSet<_> = paid.iter().map(String::as_str).collect();
    assert_eq!(of_rewards.collect::<BTreeSet<_>>(), paid);
    for row in &rows {
        assert_eq!(row["goal_id"], "figure-rows-1");
        assert!(row["conversion_ts"].as_i64() >= Some(began_ms / 1_000), "{row}");
        // The row has only keys that an analyst may see.
        assert_eq!(row.as_object().unwrap().len(), 5, "{row}");
    }
    let of_other = payments(&analyst, &wall.app, day, "figure-rows-2", 100);
    assert_eq!(of_other[0]["transaction_id"], other);

    // Another publisher's app is no app, and neither is a wrong day a day.
    let stranger = signed_in(&signpost, &signpost.publisher("figure-stranger"), "owner");
    stranger.get(&day_path).expect_error(404, "not_found");
    stranger.get(&format!("{day_path}/offers/figure-rows")).expect_error(404, "not_found");
    for wrong in ["2026-02-30", "today"] {
        analyst.get(&format!("apps/{}/days/{wrong}", wall.app)).expect_error(400, "invalid_field");
    }
    for wrong in ["cursor=1", "cursor=x.1", "cursor=1.-1", "limit=0", "limit=101"] {
        analyst.get(&format!("{day_path}/offers/figure-rows?{wrong}")).expect_error(400, "invalid_field");
    }

    // A log that lost money, which is a fault; and rewards that the ledger has not applied yet.
    signpost.restart_after(|| {
        signpost.damage(
            "signpost-outbox",
            "UPDATE entries SET payout_micro_usd = payout_micro_usd - 1 WHERE after IS NULL",
        );
    });
    let damaged = analyst.get(&day_path).expect(200).json();
    assert_eq!(damaged["offers"][1]["reason"], "differs", "{damaged}");
}

#[test]
fn changes_of_final_days_are_listed_the_newest_first_and_reports_name_the_last_final_day() {
    let signpost = demo();
    let publisher = signpost.publisher("figure-changes");
    let analyst = signed_in(&signpost, &publisher, "analyst");
    let nothing = json!({ "changes": [], "cursor": "0", "has_more": false, "final_through": null });
    assert_eq!(analyst.get("changes").expect(200).json(), nothing);
    let put = |date: &str, revenue: &str| {
        let csv = "date,app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,\
            revenue";
        let facts = format!("{csv}\n{date},79000873,DE,p,t,Network,1,0,0,0,0,{revenue}\n");
        publisher.put_facts(date, &facts).expect(200);
    };
    for date in ["2026-01-05", "2026-01-06"] {
        put(date, "1");
    }
    let final_through = |answer: Value| answer["final_through"].clone();
    eventually_within(30_000, &json!("2026-01-06"), || final_through(analyst.get("changes").expect(200).json()));
    assert_eq!(final_through(analyst.get("overview").expect(200).json()), "2026-01-06");
    let query = json!({
        "date_range": { "start_date": "2026-01-05", "end_date": "2026-01-06" }, "dimensions": ["date"],
        "metrics": ["revenue"],
    });
    let made = analyst.post("reports", &json!({ "queries": [query] })).expect(200).json();
    assert_eq!(final_through(made), "2026-01-06");

    put("2026-01-05", "1.5");
    put("2026-01-06", "0.75");
    let all = analyst.get("changes").expect(200).json();
    let revenue = |change: &Value| (change["date"].clone(), change["after"]["revenue"].clone());
    let listed: Vec<_> = all["changes"].as_array().unwrap().iter().map(revenue).collect();
    let expected = [("2026-01-06", 0.75), ("2026-01-05", 1.5)].map(|(date, usd)| (json!(date), json!(usd)));
    assert_eq!(listed, expected);
    let first = analyst.get("changes?limit=1").expect(200).json();
    assert_eq!((&first["changes"][0], &first["has_more"]), (&all["changes"][0], &json!(true)));
    let next = format!("changes?limit=1&cursor={}", first["cursor"].as_str().unwrap());
    let next = analyst.get(&next).expect(200).json();
    assert_eq!((&next["changes"][0], &next["has_more"]), (&all["changes"][1], &json!(false)));
    // A listed change stays as a person has seen it.
    put("2026-01-06", "0.5");
    let after = analyst.get("changes").expect(200).json();
    assert_eq!(after["changes"][0]["before"]["revenue"], 0.75);
    assert_eq!(&after["changes"].as_array().unwrap()[1..], all["changes"].as_array().unwrap());
    for wrong in ["cursor=0", "cursor=x", "limit=0", "limit=101"] {
        analyst.get(&format!("changes?{wrong}")).expect_error(400, "invalid_field");
    }
}

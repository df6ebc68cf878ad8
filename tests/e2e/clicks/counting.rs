//! Counting of clicks: confirmed clicks are counted once; machines are redirected but not counted.

use serde_json::{Value, json};

use crate::{
    clicks::{CLICK, DESKTOP, MACHINES, expect_redirect},
    harness::{PUBLISHER, Publisher, WEB_APP, away_from_midnight, demo, eventually, now_ms},
};
use domain::model::time::UtcDay;

/// A row of counted clicks: app, offer, country, placement, clicks.
type ClickRow = (String, String, String, String, u64);

/// The clicks on these offers in the demo publisher's reports.
fn reported(publisher: &Publisher<'_>, offers: &[&str]) -> Vec<ClickRow> {
    let today = UtcDay::of_ms(now_ms()).to_string();
    let rows = publisher.rows(&json!({
        "date_range": {"start_date": today, "end_date": today},
        "dimensions": ["app", "ad_tag", "country", "placement_id"],
        "metrics": ["clicks"],
        "filters": [
            {"dimension": "demand_source", "values": ["offerwall"]},
            {"dimension": "ad_tag", "values": offers},
        ],
        "order_by": [{"column": "app", "ascending": true}],
    }));
    let text = |row: &Value, name: &str| row[name].as_str().expect("a text").to_owned();
    rows.iter()
        .map(|row| {
            let [app, offer, country, placement] =
                ["app_id", "ad_tag", "country", "placement_id"].map(|name| text(row, name));
            (app, offer, country, placement, row["clicks"].as_u64().unwrap_or(0))
        })
        .collect()
}

#[test]
fn only_confirmed_clicks_are_counted_and_each_once() {
    away_from_midnight();
    let signpost = demo();
    let offers = ["clicked", "looked-at", "refused", "untouched"];
    for offer in offers {
        signpost.put_offer(offer, &json!({}));
    }
    signpost.put_offer("refused", &json!({"geo_tgt": {"include": ["DE"], "exclude": []}}));
    signpost.refresh();
    let click = |method: &str, offer: &str, app: &str, rest: &str, headers: &[(&str, &str)]| {
        let address = format!("{CLICK}?rid={offer}-g&app={app}&user_id=u-1{rest}");
        signpost.send(method, &address, headers, b"")
    };

    // App, country, placement and count, sent by browsers, by libraries of apps and without a User-Agent.
    let clicks = [
        (10_000_001, "DE", "", 3),
        (10_000_001, "DE", "home", 2),
        (10_000_001, "", "", 4),
        (10_000_002, "US", "home", 1),
        (10_000_003, "US", "home", 5),
    ];
    for (app, country, placement, times) in clicks {
        for n in 0..times {
            let user_agent = [DESKTOP, "okhttp/4.12.0", ""][n % 3];
            let country = if country.is_empty() { "XX" } else { country };
            let headers = [("CF-IPCountry", country), ("User-Agent", user_agent)];
            let rest = if placement.is_empty() { String::new() } else { format!("&placement={placement}") };
            expect_redirect(click("GET", "clicked", &app.to_string(), &rest, &headers));
        }
    }
    for (method, headers) in MACHINES {
        for offer in ["clicked", "looked-at"] {
            expect_redirect(click(method, offer, WEB_APP, "", headers));
        }
    }
    for (country, rest, status) in [("US", "", 302), ("DE", "&c1=!", 400)] {
        // A redirect to the web app's fallback is not a click either.
        click("GET", "refused", WEB_APP, rest, &[("CF-IPCountry", country)]).expect(status);
    }

    let mut expected: Vec<ClickRow> = clicks
        .iter()
        .map(|&(app, country, placement, times)| {
            let country = if country.is_empty() { "ZZ" } else { country };
            let placement = if placement.is_empty() { "offerwall" } else { placement };
            let times = u64::try_from(times).unwrap();
            (format!("{app}"), "clicked".into(), country.into(), placement.into(), times)
        })
        .collect();
    expected.sort();
    // Longer than a batch waits, so that clicks counted by mistake would show as well.
    std::thread::sleep(std::time::Duration::from_millis(4_000));
    let publisher = signpost.existing_publisher(PUBLISHER);
    eventually(&expected, || reported(&publisher, &offers));

    // The listing shows clicks only as earnings per click.
    signpost.refresh();
    let listed = signpost.list(WEB_APP, &signpost.pub_key(), &json!([]));
    for offer in offers {
        let found = listed.iter().find(|listed| listed["id"] == offer);
        let metrics = &found.unwrap_or_else(|| panic!("{offer} is not listed"))["metrics"];
        let expected = if offer == "clicked" { json!([{"m_type": "GLOBAL", "cr": 0, "epc": 0}]) } else { Value::Null };
        assert_eq!(*metrics, expected, "{offer}");
    }
}

//! Confirmed clicks are counted, each once; machines are redirected and not counted.

use serde_json::{Value, json};

use crate::{
    clicks::{CLICK, DESKTOP, MACHINES, redirected},
    harness::{Signpost, WEB_APP, away_from_midnight, demo, eventually},
};

/// The counted clicks: publisher, app, offer, country, placement, clicks.
type Counted = (String, i64, String, String, String, i64);

fn counted(signpost: &Signpost, offers: &[&str]) -> Vec<Counted> {
    let sql = "SELECT publisher, app, offer, country, placement, clicks FROM traffic";
    let mut rows: Vec<Counted> = signpost.stored("signpost-counters", sql, |row| <_>::try_from(row));
    rows.retain(|(_, _, offer, ..)| offers.contains(&offer.as_str()));
    rows.sort();
    rows
}

#[test]
fn confirmed_clicks_are_counted_once_and_nothing_else_is() {
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

    // App, country, placement, and how often; people with browsers, apps with libraries, and some with no name at all.
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
            let rest = if placement.is_empty() {
                String::new()
            } else {
                format!("&placement={placement}")
            };
            redirected(click("GET", "clicked", &app.to_string(), &rest, &headers));
        }
    }
    for (method, headers) in MACHINES {
        for offer in ["clicked", "looked-at"] {
            redirected(click(method, offer, WEB_APP, "", headers));
        }
    }
    for (country, rest, status) in [("US", "", 302), ("DE", "&c1=!", 400)] {
        // The web app's fallback is no click either.
        click("GET", "refused", WEB_APP, rest, &[("CF-IPCountry", country)]).expect(status);
    }

    let mut expected: Vec<Counted> = clicks
        .iter()
        .map(|&(app, country, placement, times)| {
            let times = i64::try_from(times).unwrap();
            (
                "lumen-arcade".into(),
                app,
                "clicked".into(),
                country.into(),
                placement.into(),
                times,
            )
        })
        .collect();
    expected.sort();
    // Beyond the second that a batch waits, so that what should not be counted would be there, too.
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    eventually(&expected, || counted(&signpost, &offers));

    // The listing says of an offer's clicks only what is earned by each.
    signpost.refresh();
    let listed = signpost.list(WEB_APP, &signpost.pub_key(), &json!([]));
    for offer in offers {
        let found = listed.iter().find(|listed| listed["id"] == offer);
        let metrics = &found.unwrap_or_else(|| panic!("{offer} is not listed"))["metrics"];
        let expected = if offer == "clicked" {
            json!([{"m_type": "GLOBAL", "cr": 0, "epc": 0}])
        } else {
            Value::Null
        };
        assert_eq!(*metrics, expected, "{offer}");
    }
}

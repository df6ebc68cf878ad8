//! The size Signpost plans for (`design.md` section 3): 20,000 offers of 3 goals each, 5,000 apps.

use std::{collections::BTreeSet, fmt::Write};

use serde_json::{Value, json};

use crate::harness::Setup;

const OFFERS: usize = 20_000;
const APPS: usize = 5_000;
/// KV takes values of at most 25 MiB.
const KV_VALUE: u64 = 25 << 20;
/// An isolate's share of memory.
const ISOLATE: u64 = 48 << 20;

fn catalog() -> String {
    let mut lines = String::new();
    let mut line = |kind: &str, id: String, mut body: Value| {
        body["kind"] = json!(kind);
        body["id"] = json!(id);
        writeln!(lines, "{body}").unwrap();
    };
    line(
        "publisher",
        "big".into(),
        json!({"name": "Big", "approved": true}),
    );
    line("advertiser", "adv".into(), json!({"name": "Adv"}));
    for app in 0..APPS {
        let platform = ["android", "ios", "web"][app % 3];
        let currency = json!({"name": "Coins", "per_usd": 1000, "decimals": 0, "rounding": "down"});
        let body = json!({"publisher_id": "big", "name": format!("App {app}"), "platform": platform, "currency": currency});
        line("app", format!("{:08}", 20_000_000 + app), body);
    }
    let countries = ["DE", "FR", "US", "GB", "BR", "IN", "JP", "MX", "TR", "ID"];
    for offer in 0..OFFERS {
        let goals: Vec<_> = (0..3)
            .map(|goal| {
                json!({
                    "id": format!("{}", 1_000_000 + offer * 3 + goal), "ttl": format!("Reach level {}", 10 * (goal + 1)),
                    "instr": "1. Install the app\n2. Open it and finish the tutorial\n3. Play until the level is reached",
                    "payout_usd": 0.25 * (goal + 1) as f64, "ord": goal + 1, "gl_val": format!("level_{goal}"),
                })
            })
            .collect();
        let include: Vec<_> = (0..offer % 4)
            .map(|n| countries[(offer / 4 + n) % countries.len()])
            .collect();
        let body = json!({
            "advertiser_id": "adv", "off_type": "CPE", "s_id": format!("com.example.game{offer}"),
            "name": format!("The long and winding game number {offer}"),
            "lp_url": format!("https://play.google.com/store/apps/details?id=com.example.game{offer}"),
            "target_url": format!("https://go.example.com/c/{offer}?click={{click_id}}&app={{app_id}}&sub={{user_id}}"),
            "ic_url": format!("https://cdn.example.com/icons/{offer}.png"),
            "desc": "A game of many levels. ".repeat(20), "ctg": ["GAMING", "MULTI_REWARD"],
            "os": (["android", "ios", "web"][offer % 3]), "geo_tgt": {"include": include, "exclude": []},
            "goals": goals, "active": true,
        });
        line("offer", format!("{offer}"), body);
    }
    lines
}

#[test]
fn the_planned_size_is_published_listed_and_clicked_within_its_limits() {
    let signpost = Setup::new().var("OFFERS_RATE", "0").start();
    let imported = signpost.import(&catalog()).expect(200).json();
    assert_eq!(imported["imported"], 2 + APPS + OFFERS);
    let pub_key = signpost.issue_pub_key("big");
    signpost.refresh();

    // Every page of the whole list, once each.
    let mut seen = BTreeSet::new();
    for page in 1.. {
        let body = json!({ "page": page, "size": 1000 });
        let answer = signpost.offers("20000000", &pub_key, &body).expect(200).json();
        let offers = answer["offers"].as_array().unwrap();
        if offers.is_empty() {
            break;
        }
        seen.extend(
            offers
                .iter()
                .map(|offer| offer["id"].as_str().unwrap().to_owned()),
        );
        assert_eq!(
            answer["total"].as_u64().unwrap(),
            (0..OFFERS).filter(|offer| offer % 3 != 1).count() as u64
        );
    }
    let expected: BTreeSet<_> = (0..OFFERS)
        .filter(|offer| offer % 3 != 1)
        .map(|offer| offer.to_string())
        .collect();
    assert_eq!(seen, expected);

    for goal in [0, 29_999, 59_999] {
        let offer = goal / 3;
        let app = 20_000_000 + [0, 1, 2][offer % 3];
        let country = if offer % 4 == 0 {
            "DE"
        } else {
            ["DE", "FR", "US", "GB", "BR", "IN", "JP", "MX", "TR", "ID"][offer / 4 % 10]
        };
        let query = format!("rid={}&app={app}&user_id=u-1", 1_000_000 + goal);
        let location = signpost.click(&query, country).expect(302).location().to_owned();
        assert!(
            location.starts_with(&format!("https://go.example.com/c/{offer}?click=")),
            "{location}"
        );
    }

    let values = std::fs::read_dir(signpost.state.path().join("kv")).unwrap();
    for value in values.map(Result::unwrap) {
        let size = value.metadata().unwrap().len();
        assert!(size < KV_VALUE, "{:?} has {size} bytes", value.file_name());
    }
    let metrics = signpost.operator("GET", "metrics", None).expect(200).body;
    let held: u64 = metrics
        .lines()
        .filter(|line| line.starts_with("signpost_isolate_held_bytes{"))
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert!(
        held > 8 << 20 && held < ISOLATE,
        "the isolate holds {held} bytes\n{metrics}"
    );
}

//! The service with a tenth of its planned size: 20,000 offers of 3 goals each, 5,000 apps. `tests/catalog/at_scale.rs` has
//! all of it.

use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    harness::Setup,
    large_catalog::{self, GOALS, PUBLISHER},
};

const OFFERS: usize = 20_000;
const APPS: usize = 5_000;
/// KV accepts values of at most 25 MiB.
const MAX_VALUE_BYTES: u64 = 25 << 20;
/// The limit for snapshots in an isolate's memory.
const MAX_HELD_BYTES: u64 = 48 << 20;

#[test]
fn a_tenth_of_the_planned_size_is_published_listed_and_clicked_within_its_limits() {
    let signpost = Setup::new().var("OFFERS_RATE", "0").start();
    // In parts, because a busy machine takes more than a minute for the whole.
    let catalog = large_catalog::catalog(OFFERS, APPS);
    let lines: Vec<&str> = catalog.lines().collect();
    for lines in lines.chunks(5_000) {
        let imported = signpost.import(&lines.join("\n")).expect(200).json();
        assert_eq!(imported["imported"], lines.len());
    }
    let pub_key = signpost.issue_pub_key(PUBLISHER);
    signpost.refresh();

    // Reads every page of the whole list once.
    let mut seen = BTreeSet::new();
    for page in 1.. {
        let body = json!({ "page": page, "size": 1000 });
        let answer = signpost.offers(&large_catalog::app(0), &pub_key, &body).expect(200).json();
        let offers = answer["offers"].as_array().unwrap();
        if offers.is_empty() {
            break;
        }
        seen.extend(offers.iter().map(|offer| offer["id"].as_str().unwrap().to_owned()));
        assert_eq!(answer["total"].as_u64().unwrap(), (0..OFFERS).filter(|offer| offer % 3 != 1).count() as u64);
    }
    let expected: BTreeSet<_> = (0..OFFERS).filter(|offer| offer % 3 != 1).map(|offer| offer.to_string()).collect();
    assert_eq!(seen, expected);

    for goal in [0, 29_999, 59_999] {
        let offer = goal / GOALS;
        let country = large_catalog::countries(offer).next().unwrap_or("DE");
        let (goal, app) = (large_catalog::goal(goal), large_catalog::app(offer % 3));
        let query = format!("rid={goal}&app={app}&user_id=u-1");
        let location = signpost.click(&query, country).expect(302).location().to_owned();
        assert!(location.starts_with(&format!("https://go.example.com/c/{offer}?click=")), "{location}");
    }

    let values = std::fs::read_dir(signpost.state.path().join("kv")).unwrap();
    for value in values.map(Result::unwrap) {
        let size = value.metadata().unwrap().len();
        assert!(size < MAX_VALUE_BYTES, "{:?} has {size} bytes", value.file_name());
    }
    let [metrics, _] = signpost.metrics_at("");
    let held: u64 = metrics
        .lines()
        .filter(|line| line.starts_with("signpost_isolate_held_bytes{"))
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert!(held > 8 << 20 && held < MAX_HELD_BYTES, "the isolate holds {held} bytes\n{metrics}");
}

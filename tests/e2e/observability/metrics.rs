//! `GET /metrics` and `GET /v1/operator/metrics`: the exact format, and that one of the Workers counts each kind of
//! request and error.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::json;

use crate::{
    faults::inject_faults,
    harness::{ANDROID_APP, Receiver, Setup, Signpost, eventually, eventually_within, timed},
};

/// The longest that a scrape may take while the catalog hangs, on a busy machine: it is waited for 1.5 s.
const SOON: Duration = Duration::from_secs(5);

/// A strictly parsed scrape: the type of each metric, and the value of each series.
struct Scrape {
    kinds: BTreeMap<String, String>,
    series: BTreeMap<String, f64>,
}

impl Scrape {
    #[track_caller]
    fn new(signpost: &Signpost) -> Self {
        let [mut both, origin] = signpost.metrics_at("").map(|text| Self::read(&text));
        for (series, value) in origin.series {
            *both.series.entry(series).or_default() += value;
        }
        both.kinds.extend(origin.kinds);
        both
    }

    #[track_caller]
    fn read(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line has no end");
        let (mut kinds, mut series) = (BTreeMap::new(), BTreeMap::new());
        let mut current = String::new();
        for (number, line) in text.lines().enumerate() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, help) = help.split_once(' ').expect("a help");
                assert!(!help.is_empty() && !kinds.contains_key(name), "{line}");
                current = name.to_owned();
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').expect("a type");
                assert_eq!(name, current, "a type that does not follow its help");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                assert!(["counter", "gauge"].contains(&kind), "{line}");
                assert_eq!(kinds.insert(name.to_owned(), kind.to_owned()), None, "{line}");
            } else {
                let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("line {number}: {line}"));
                let metric = name.split('{').next().expect("a name");
                assert_eq!(metric, current, "a series away from its metric");
                if let Some(labels) = name.strip_prefix(metric).filter(|labels| !labels.is_empty()) {
                    let labels = labels.strip_prefix('{').and_then(|labels| labels.strip_suffix('}'));
                    for label in labels.expect("labels").split("\",") {
                        let (name, value) = label.split_once("=\"").expect("a label");
                        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{line}");
                        assert!(!value.trim_end_matches('"').contains(['"', '\n']), "{line}");
                    }
                }
                let value: f64 = value.parse().unwrap_or_else(|error| panic!("{error} in {line}"));
                assert!(value >= 0.0, "{line}");
                assert_eq!(series.insert(name.to_owned(), value), None, "{line} comes twice");
            }
        }
        Self { kinds, series }
    }

    fn value(&self, series: &str) -> f64 {
        self.series.get(&format!("signpost_{series}")).copied().unwrap_or(0.0)
    }

    /// The names of the metrics that do not come from an isolate.
    fn catalog(&self) -> BTreeSet<&str> {
        let names = self.kinds.keys().map(String::as_str);
        names.filter(|name| !name.starts_with("signpost_isolate_")).collect()
    }
}

#[test]
fn each_kind_of_request_and_each_refusal_is_counted() {
    let receiver = Receiver::start();
    let (signpost, pub_key) = Setup::new().start_with_fixtures();
    let wall = signpost.offer_wall("metered", "70000002", Some(&receiver));
    let before = Scrape::new(&signpost);
    assert!(before.value("catalog_bytes") > 10_000.0);
    let page = json!({"page": 1, "size": 1});
    for _ in 0..3 {
        signpost.click("rid=410271&app=10000001&user_id=u-1", "DE").expect(302);
        signpost.click("rid=x&app=10000001&user_id=u-1", "DE").expect(404);
        signpost.offers(ANDROID_APP, &pub_key, &page).expect(200);
        signpost.offers(ANDROID_APP, "junk", &page).expect(401);
        signpost.get("/v1/operator/publishers", &[]).expect(401);
        signpost.report(&[("Content-Type", "application/json"), ("X-Api-Key", "junk")], b"{}").expect(401);
        signpost.get("/nowhere", &[]).expect(404);
        signpost.operator("PATCH", "import", None).expect(405);
        wall.convert("junk", "").expect(400);
        wall.pay("u-1");
    }
    let id = wall.click_id("u-2");
    wall.convert(&id, "").expect(200);
    wall.convert(&id, "").expect(200);
    signpost.convert(&format!("click_id={id}&token=junk")).expect(401);
    let delivered = "isolate_callback_tries_total{outcome=\"delivered\"}";
    eventually_within(10_000, &4.0, || Scrape::new(&signpost).value(delivered) - before.value(delivered));
    let after = Scrape::new(&signpost);
    for (series, grown) in [
        ("isolate_requests_total{route=\"click\",status=\"302\"}", 3.0),
        ("isolate_requests_total{route=\"click\",status=\"404\"}", 3.0),
        ("isolate_requests_total{route=\"offers\",status=\"200\"}", 3.0),
        ("isolate_requests_total{route=\"offers\",status=\"401\"}", 3.0),
        ("isolate_requests_total{route=\"operator\",status=\"401\"}", 3.0),
        ("isolate_requests_total{route=\"operator\",status=\"405\"}", 3.0),
        ("isolate_requests_total{route=\"report\",status=\"401\"}", 3.0),
        ("isolate_requests_total{route=\"none\",status=\"404\"}", 3.0),
        ("isolate_requests_total{route=\"conversion\",status=\"200\"}", 5.0),
        ("isolate_refused_total{route=\"offers\",code=\"invalid_credentials\"}", 3.0),
        ("isolate_refused_total{route=\"operator\",code=\"invalid_operator_token\"}", 3.0),
        ("isolate_refused_total{route=\"report\",code=\"invalid_api_key\"}", 3.0),
        ("isolate_refused_total{route=\"conversion\",code=\"invalid_token\"}", 1.0),
        ("isolate_refused_total{route=\"conversion\",code=\"invalid_click_id\"}", 3.0),
        ("isolate_refused_total{route=\"click\",code=\"unknown_goal\"}", 3.0),
        ("isolate_conversions_total{outcome=\"approved\"}", 4.0),
        ("isolate_conversions_total{outcome=\"duplicate\"}", 1.0),
        ("isolate_conversions_total{outcome=\"refused\"}", 4.0),
        ("isolate_answered_total{what=\"redirect\"}", 3.0),
        ("isolate_answered_total{what=\"offers\"}", 3.0),
        ("isolate_answered_total{what=\"conversion\"}", 5.0),
    ] {
        assert_eq!(after.value(series) - before.value(series), grown, "{series}");
    }
    for (series, value) in &before.series {
        let metric = series.split('{').next().expect("a name");
        if before.kinds[metric] == "counter" {
            assert!(after.series[series] >= *value, "{series} went back");
        }
    }
}

#[test]
fn an_isolates_metrics_are_served_while_the_catalog_does_not_answer() {
    let signpost = Setup::new().config("faults.capnp").start();
    let up = "signpost_catalog_up";
    let healthy = Scrape::new(&signpost);
    assert_eq!(healthy.series.get(up), Some(&1.0));
    assert!(healthy.catalog().len() > 3, "{:?}", healthy.catalog());
    let missed = "isolate_requests_total{route=\"none\",status=\"404\"}";
    for broken in ["catalog", "catalog-hangs"] {
        inject_faults(&signpost, broken);
        let before = Scrape::new(&signpost);
        signpost.get("/nowhere", &[]).expect(404);
        let (after, took) = timed(|| Scrape::new(&signpost));
        assert!(took < SOON, "{broken}: {took:?}");
        assert_eq!(after.series.get(up), Some(&0.0), "{broken}");
        // Unknown metrics are absent and not 0.
        assert_eq!(after.catalog(), BTreeSet::from([up]), "{broken}");
        assert_eq!(after.value(missed) - before.value(missed), 1.0, "{broken}");
    }
    inject_faults(&signpost, "");
    eventually(&true, || {
        let recovered = Scrape::new(&signpost);
        recovered.series.get(up) == Some(&1.0) && recovered.catalog() == healthy.catalog()
    });
}

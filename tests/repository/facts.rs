//! The demo's facts: what `fixtures/facts.awk` says of them holds of the files that are checked in, and it still prints
//! these files.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use chrono::NaiveDate;
use serde_json::Value;

use super::read;
use domain::{
    model::Country,
    reporting::{
        Measure, Sums,
        dimension::{self, KEY},
        metric::get,
    },
};

const RESTATED: &str = "2026-11-03";
const COLUMNS: &str = "app_id,app_name,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue";

struct Fact {
    date: String,
    app_name: String,
    /// In the order of `KEY`.
    key: [String; KEY.len()],
    sums: Sums,
}

impl Fact {
    fn is(&self, measure: Measure) -> i64 {
        get(&self.sums, measure)
    }

    /// A dimension's value by its name.
    fn of(&self, name: &str) -> &str {
        &self.key[KEY.iter().position(|dimension| dimension.as_str() == name).unwrap()]
    }
}

/// Decimal USD in micro-USD.
fn micros(usd: &str) -> i64 {
    let (whole, decimals) = usd.split_once('.').unwrap_or((usd, ""));
    assert!(decimals.len() <= 6 && !usd.starts_with('-') && !usd.ends_with('.'), "{usd}");
    format!("{whole}{decimals:0<6}").parse().unwrap()
}

/// A line of the file, or of a day's file without dates.
fn parse(line: &str, date: Option<&str>) -> Fact {
    assert!(!line.contains('"'), "{line}");
    let mut fields = line.split(',').map(str::to_owned);
    let mut next = || fields.next().unwrap_or_else(|| panic!("{line}"));
    let date = date.map_or_else(&mut next, str::to_owned);
    let (app, app_name) = (next(), next());
    let key = [app, next(), next(), next(), next(), next()];
    let count = |text: String| text.parse().unwrap_or_else(|_| panic!("{line}"));
    let sums = [count(next()), count(next()), count(next()), count(next()), micros(&next())];
    assert_eq!(fields.next(), None, "{line}");
    Fact { date, app_name, key, sums }
}

fn loaded() -> Vec<Fact> {
    let text = read("fixtures/facts.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(format!("date,{COLUMNS}").as_str()));
    lines.map(|line| parse(line, None)).collect()
}

fn restated() -> Vec<Fact> {
    let text = read("fixtures/facts-2026-11-03.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(COLUMNS));
    lines.map(|line| parse(line, Some(RESTATED))).collect()
}

fn sums_by<'f>(facts: impl IntoIterator<Item = &'f Fact>, by: impl Fn(&'f Fact) -> &'f str) -> BTreeMap<&'f str, Sums> {
    let mut groups = BTreeMap::new();
    for fact in facts {
        let sums: &mut Sums = groups.entry(by(fact)).or_default();
        for (sum, value) in sums.iter_mut().zip(fact.sums) {
            *sum += value;
        }
    }
    groups
}

fn ratio(sums: &Sums, over: Measure, under: Measure) -> f64 {
    get(sums, over) as f64 / get(sums, under) as f64
}

#[test]
fn the_demo_facts_would_be_accepted_by_the_facts_interface() {
    let catalog = read("fixtures/catalog.ndjson");
    let names: BTreeMap<String, String> = catalog
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["kind"] == "app" && line["publisher_id"] == "lumen-arcade")
        .map(|app| {
            let text = |member: &str| app[member].as_str().unwrap().to_owned();
            (text("id"), text("name"))
        })
        .collect();

    for facts in [loaded(), restated()] {
        let mut keys = BTreeSet::new();
        for fact in &facts {
            assert!(keys.insert((&fact.date, &fact.key)), "{:?} twice", fact.key);
            assert!(NaiveDate::parse_from_str(&fact.date, "%Y-%m-%d").is_ok());
            let app = fact.of("app");
            assert!(app.len() == 8 && app.bytes().all(|byte| byte.is_ascii_digit()));
            let country = fact.of("country");
            assert!(country.is_empty() || Country::parse(country).is_some(), "{country}");
            assert!(fact.key.iter().all(|value| value.is_empty() || dimension::is_value(value)));
            assert_ne!(fact.of("demand_source"), "offerwall");
            assert!(fact.sums.iter().all(|sum| *sum >= 0));
        }
        // An app of the catalog has the catalog's name. One app is not registered, and only its facts name it.
        let called: BTreeMap<_, _> =
            facts.iter().map(|fact| (fact.of("app").to_owned(), fact.app_name.clone())).collect();
        assert!(names.iter().all(|(app, name)| called.get(app) == Some(name)), "{called:?}");
        assert_eq!(called.len(), names.len() + 1);
    }
}

#[test]
fn the_demo_facts_are_varied_and_small_enough_to_read() {
    let facts = loaded();
    assert!(facts.len() <= 7_000 && read("fixtures/facts.csv").len() <= 700_000);
    assert!(facts.is_sorted_by_key(|fact| &fact.date));
    let values = |name: &str| -> BTreeSet<&str> {
        facts.iter().map(|fact| fact.of(name)).filter(|value| !value.is_empty()).collect()
    };
    for (name, at_least) in [("app", 4), ("country", 8), ("placement_id", 5), ("ad_tag", 10), ("demand_source", 5)] {
        assert!(values(name).len() >= at_least, "{name}: {:?}", values(name));
    }

    // One version follows the other.
    assert_eq!(values("sdk_v"), BTreeSet::from(["6.2.0", "6.3.1", "7.0.0"]));
    let first = |version: &str| facts.iter().position(|fact| fact.of("sdk_v") == version).unwrap();
    let last = |version: &str| facts.iter().rposition(|fact| fact.of("sdk_v") == version).unwrap();
    assert!(first("6.2.0") < first("6.3.1") && first("6.3.1") < first("7.0.0"));
    assert!(last("6.2.0") < last("6.3.1") && last("6.3.1") < last("7.0.0"));
}

#[test]
fn the_demo_facts_have_118_of_120_days_a_weekend_rhythm_and_growth() {
    let facts = loaded();
    let days = sums_by(&facts, |fact| &fact.date);
    let first = NaiveDate::from_ymd_opt(2026, 7, 25).unwrap();
    let missing: Vec<String> =
        first.iter_days().take(120).map(|day| day.to_string()).filter(|day| !days.contains_key(day.as_str())).collect();
    assert_eq!(missing, ["2026-09-17", "2026-09-18"]);
    assert_eq!(days.len(), 118);
    assert_eq!(days.keys().last(), Some(&"2026-11-21"));

    // The first day is a Saturday: a week's first two days are its weekend.
    let mut weeks = [[(0, 0); 2]; 17];
    for (day, sums) in &days {
        let since = (day.parse::<NaiveDate>().unwrap() - first).num_days() as usize;
        if let Some(week) = weeks.get_mut(since / 7) {
            let (days, impressions) = &mut week[usize::from(since % 7 >= 2)];
            *days += 1;
            *impressions += get(sums, Measure::Impressions);
        }
    }
    for (number, [weekend, working]) in weeks.iter().enumerate() {
        assert!(weekend.1 / weekend.0 > working.1 / working.0 * 110 / 100, "week {number}: {weekend:?} {working:?}");
    }
    let [(_, august), (_, november)] = [weeks[1][0], weeks[16][0]];
    assert!(november > august * 120 / 100);

    // The launch: the new app's third day is far above what it settles at.
    let launched = facts.iter().filter(|fact| fact.of("app") == "10000017");
    let launched: Vec<_> = sums_by(launched, |fact| &fact.date).into_iter().collect();
    assert_eq!(launched[0].0, "2026-10-09");
    assert!(get(&launched[2].1, Measure::Impressions) > 3 * get(&launched[30].1, Measure::Impressions));
}

#[test]
fn the_demo_facts_have_zeros_and_rates_that_ad_operations_know() {
    use Measure::{AdRequests, AdResponses, Clicks, Impressions, Revenue};
    let facts = loaded();
    assert!(facts.iter().any(|fact| fact.is(AdRequests) > 0 && fact.is(AdResponses) == 0));
    assert!(facts.iter().any(|fact| fact.is(Impressions) > 0 && fact.is(Revenue) == 0));
    for fact in &facts {
        assert!(fact.is(AdResponses) <= fact.is(AdRequests) && fact.is(Clicks) <= fact.is(Impressions));
        assert_eq!(fact.of("demand_source") == "house", fact.is(Revenue) == 0 && fact.is(AdResponses) > 0);
    }
    let discrepancies = facts.iter().filter(|fact| fact.is(Impressions) > fact.is(AdResponses)).count();
    assert!((1..50).contains(&discrepancies), "{discrepancies}");

    let countries = sums_by(&facts, |fact| fact.of("country"));
    assert!(countries.contains_key(""));
    let without_clicks: Vec<_> =
        countries.iter().filter(|(_, sums)| get(sums, Clicks) == 0).map(|(country, _)| *country).collect();
    assert_eq!(without_clicks, ["NZ"]);

    let ecpm = |sums: &Sums| ratio(sums, Revenue, Impressions) / 1_000.0;
    for (group, sums) in sums_by(&facts, |fact| fact.of("app")).iter().chain(&countries) {
        assert!((0.3..15.0).contains(&ecpm(sums)), "{group}: {}", ecpm(sums));
        assert!((0.55..0.98).contains(&ratio(sums, AdResponses, AdRequests)), "{group}");
        let clicks = ratio(sums, Clicks, Impressions);
        assert!((0.003..0.04).contains(&clicks) || *group == "NZ", "{group}: {clicks}");
    }
    for (high, low) in [("US", "BR"), ("GB", "BR"), ("DE", "IN"), ("JP", "ID")] {
        assert!(ecpm(&countries[high]) > ecpm(&countries[low]), "{high} {low}");
    }
}

#[test]
fn the_restated_day_takes_back_what_one_source_had_counted_and_nothing_else() {
    let (loaded, restated) = (loaded(), restated());
    let first: Vec<_> = loaded.iter().filter(|fact| fact.date == RESTATED).collect();
    assert_eq!(first.len(), restated.len());
    let mut lowered = BTreeSet::new();
    for (before, after) in first.iter().zip(&restated) {
        assert_eq!(before.key, after.key);
        if before.sums != after.sums {
            lowered.insert((after.of("app"), after.of("demand_source")));
            for measure in Measure::ALL {
                match measure {
                    Measure::AdRequests | Measure::AdResponses => {
                        assert_eq!(before.is(measure), after.is(measure));
                    }
                    _ => assert!(before.is(measure) > after.is(measure), "{:?}", after.key),
                }
            }
        }
    }
    assert_eq!(lowered, BTreeSet::from([("10000001", "bidstream")]));
}

#[test]
fn the_generator_still_prints_the_demo_facts() {
    let awks = [&["awk"][..], &["mawk"], &["gawk"], &["original-awk"], &["busybox", "awk"]];
    for awk in awks {
        for (restated, file) in [("", "fixtures/facts.csv"), ("1", "fixtures/facts-2026-11-03.csv")] {
            let printed = Command::new(awk[0])
                .args(&awk[1..])
                .args(["-v", &format!("restated={restated}"), "-f", "fixtures/facts.awk"])
                .env("LC_ALL", "C")
                .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
                .output();
            // Not every machine has every awk.
            let Ok(printed) = printed else { continue };
            assert!(printed.status.success(), "{awk:?} {printed:?}");
            assert!(printed.stdout == read(file).into_bytes(), "{awk:?} prints another {file}");
        }
    }
}

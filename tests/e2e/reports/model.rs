//! A slow and simple model of reports over a list of facts. Tests compare the service's reports with it.

use std::{cmp::Ordering, collections::BTreeMap};

use serde_json::{Value, json};

pub use crate::random::Random;

pub const DIMENSIONS: [&str; 7] = ["date", "app", "country", "placement_id", "ad_tag", "demand_source", "sdk_v"];
const MEASURES: [&str; 5] = ["ad_requests", "ad_responses", "impressions", "clicks", "revenue"];
pub const METRICS: [&str; 9] =
    ["ad_requests", "ad_responses", "impressions", "clicks", "revenue", "ecpm", "fill_rate", "show_rate", "click_rate"];
/// Metrics that can be combined with `ad_tag`.
pub const METRICS_BY_AD_TAG: [&str; 5] = ["impressions", "clicks", "revenue", "ecpm", "click_rate"];

/// A fact: its dimensions as uploaded, and its measures, with revenue in micro-USD.
#[derive(Clone, Debug)]
pub struct Fact {
    pub dimensions: [String; 7],
    pub sums: [i64; 5],
}

impl Fact {
    /// A line of CSV with all columns except `app_name`.
    pub fn csv(&self) -> String {
        let quoted = self.dimensions.iter().map(|value| {
            if value.contains([',', '"']) { format!("\"{}\"", value.replace('"', "\"\"")) } else { value.clone() }
        });
        let mut fields: Vec<_> = quoted.collect();
        fields.extend(self.sums[..4].iter().map(i64::to_string));
        fields.push(decimal(i128::from(self.sums[4])));
        fields.join(",") + "\n"
    }

    /// A line of NDJSON.
    pub fn json(&self) -> String {
        let mut members = json!({});
        for (name, value) in DIMENSIONS.iter().zip(&self.dimensions) {
            let name = if *name == "app" { "app_id" } else { name };
            members[name] = value.as_str().into();
        }
        for (name, sum) in MEASURES.iter().zip(&self.sums).take(4) {
            members[name] = (*sum).into();
        }
        let revenue: Value = serde_json::from_str(&decimal(i128::from(self.sums[4]))).unwrap();
        members["revenue"] = revenue;
        members.to_string() + "\n"
    }

    /// The value of a dimension in reports.
    fn value(&self, dimension: usize) -> String {
        match (DIMENSIONS[dimension], self.dimensions[dimension].as_str()) {
            ("country", "") => "ZZ".into(),
            ("country", code) => code.to_uppercase(),
            (_, "") => "unknown".into(),
            (_, value) => value.into(),
        }
    }
}

/// The header of [`Fact::csv`].
pub const HEADER: &str = "date,app_id,country,placement_id,ad_tag,demand_source,sdk_v,\
    ad_requests,ad_responses,impressions,clicks,revenue\n";

fn names(query: &Value, list: &str) -> Vec<String> {
    let names = query[list].as_array().unwrap();
    names.iter().map(|name| name.as_str().unwrap().into()).collect()
}

fn dimension(name: &str) -> usize {
    DIMENSIONS.iter().position(|known| *known == name).unwrap()
}

/// The numerator, the factor to millionths and the denominator of a metric that is a quotient.
fn ratio(metric: &str) -> Option<(usize, i128, usize)> {
    match metric {
        "ecpm" => Some((4, 1_000, 2)),
        "fill_rate" => Some((1, 1_000_000, 0)),
        "show_rate" => Some((2, 1_000_000, 1)),
        "click_rate" => Some((3, 1_000_000, 2)),
        _ => None,
    }
}

/// All rows of a report, regardless of the query's pagination. No app has a name.
pub fn rows(facts: &[Fact], query: &Value) -> Vec<Value> {
    let dimensions: Vec<usize> = names(query, "dimensions").iter().map(|name| dimension(name)).collect();
    let metrics = names(query, "metrics");
    let mut groups: BTreeMap<Vec<String>, [i64; 5]> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| matches(fact, query)) {
        let key = dimensions.iter().map(|dimension| fact.value(*dimension));
        let sums = groups.entry(key.collect()).or_default();
        for (sum, more) in sums.iter_mut().zip(&fact.sums) {
            *sum += more;
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    // Groups are in the order of their keys, which the stable sort keeps for ties.
    groups.sort_by(|left, right| order(query, &dimensions, left, right));
    let rows = groups.iter().map(|(key, sums)| row(&dimensions, &metrics, key, sums));
    rows.collect()
}

fn matches(fact: &Fact, query: &Value) -> bool {
    let range = &query["date_range"];
    let date = fact.dimensions[0].as_str();
    let within = range["start_date"].as_str() <= Some(date) && Some(date) <= range["end_date"].as_str();
    let filters = query["filters"].as_array().into_iter().flatten();
    within
        && filters.into_iter().all(|filter| {
            let name = filter["dimension"].as_str().unwrap();
            let value = fact.value(dimension(name));
            filter["values"].as_array().unwrap().iter().any(|one| {
                let one = one.as_str().unwrap();
                if name == "country" { one.to_uppercase() == value } else { one == value }
            })
        })
}

type Group = (Vec<String>, [i64; 5]);

fn order(query: &Value, dimensions: &[usize], left: &Group, right: &Group) -> Ordering {
    let default = match dimensions.contains(&0) {
        true => json!([{"column": "date", "ascending": true}]),
        false => json!([{"column": query["metrics"][0], "ascending": false}]),
    };
    let keys = query["order_by"].as_array().filter(|keys| !keys.is_empty());
    for key in keys.unwrap_or(default.as_array().unwrap()) {
        let column = key["column"].as_str().unwrap();
        let compared = if METRICS.contains(&column) {
            compare(column, &left.1, &right.1)
        } else {
            let place = dimensions.iter().position(|known| *known == dimension(column));
            let place = place.unwrap();
            left.0[place].cmp(&right.0[place])
        };
        let compared = match key["ascending"] == true {
            true => compared,
            false => compared.reverse(),
        };
        if compared.is_ne() {
            return compared;
        }
    }
    Ordering::Equal
}

fn compare(metric: &str, left: &[i64; 5], right: &[i64; 5]) -> Ordering {
    let Some((over, _, under)) = ratio(metric) else {
        let at = MEASURES.iter().position(|known| *known == metric).unwrap();
        return left[at].cmp(&right[at]);
    };
    let quotient = |sums: &[i64; 5]| match sums[under] {
        0 => (0, 1),
        count => (i128::from(sums[over]), i128::from(count)),
    };
    let (left, right) = (quotient(left), quotient(right));
    (left.0 * right.1).cmp(&(right.0 * left.1))
}

fn row(dimensions: &[usize], metrics: &[String], key: &[String], sums: &[i64; 5]) -> Value {
    let mut row = json!({});
    for (dimension, value) in dimensions.iter().zip(key) {
        let name = DIMENSIONS[*dimension];
        if name == "app" {
            row["app_id"] = value.as_str().into();
            row["app"] = json!({"name": "unknown"});
        } else {
            row[name] = value.as_str().into();
        }
    }
    for metric in metrics {
        let number = match (ratio(metric), metric.as_str()) {
            (Some((over, factor, under)), _) => decimal(quotient(i128::from(sums[over]) * factor, sums[under].into())),
            (None, "revenue") => decimal(sums[4].into()),
            (None, name) => sums[MEASURES.iter().position(|known| *known == name).unwrap()].to_string(),
        };
        if number != "0" {
            row[metric] = serde_json::from_str(&number).unwrap();
        }
    }
    row
}

/// A quotient rounded half away from zero, or 0 if the denominator is 0.
fn quotient(over: i128, under: i128) -> i128 {
    if under == 0 {
        return 0;
    }
    let size = (2 * over.abs() + under) / (2 * under);
    size * over.signum()
}

/// Millionths as a decimal number without trailing zeros.
fn decimal(millionths: i128) -> String {
    let sign = if millionths < 0 { "-" } else { "" };
    let (whole, rest) = (millionths.abs() / 1_000_000, millionths.abs() % 1_000_000);
    let digits = format!("{rest:06}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{digits}")
}

impl Random {
    /// A number from `start` to `end`, both included.
    pub fn between(&mut self, start: i64, end: i64) -> i64 {
        start + i64::try_from(self.below(usize::try_from(end - start + 1).unwrap())).unwrap()
    }

    /// At least one and at most `most` of the values, in random order and without repetition.
    pub fn some<'v>(&mut self, values: &[&'v str], most: usize) -> Vec<&'v str> {
        let mut left = values.to_vec();
        let count = 1 + self.below(most.min(left.len()));
        (0..count)
            .map(|_| {
                let at = self.below(left.len());
                left.swap_remove(at)
            })
            .collect()
    }
}

/// A random fact of one of these days. Most sums are small, so that there are ties, and some are large.
pub fn fact(random: &mut Random, days: &[&str]) -> Fact {
    let value = |random: &mut Random, values: &[&'static str]| random.one::<str>(values).to_owned();
    let dimensions = [
        random.one(days).to_owned(),
        value(random, &APPS),
        value(random, &COUNTRIES),
        value(random, &PLACEMENTS),
        format!("tag-{}", random.below(25)),
        value(random, &DEMAND_SOURCES),
        value(random, &VERSIONS),
    ];
    let most = [3, 40, 1_000_000][random.below(3)];
    let mut sums = [0; 5];
    for sum in &mut sums[..4] {
        *sum = random.between(0, most);
    }
    sums[4] = [0, random.between(-5, 5), random.between(-2_000_000, 90_000_000)][random.below(3)];
    Fact { dimensions, sums }
}

pub const APPS: [&str; 4] = ["71000001", "71000002", "00000003", "99999999"];
pub const COUNTRIES: [&str; 7] = ["DE", "fr", "US", "BR", "jp", "ZZ", ""];
pub const PLACEMENTS: [&str; 6] = ["home", "Home", "end, \"won\"", "Zürich", "日本", ""];
pub const DEMAND_SOURCES: [&str; 4] = ["northlight", "=bid,\"stream\"", "-Offer wall", ""];
pub const VERSIONS: [&str; 5] = ["1.9", "1.10", "+2", "@1.9.0", ""];

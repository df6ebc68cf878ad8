//! Compares random queries over random facts with the model, whole and page by page.

use serde_json::{Value, json};

use crate::{
    harness::{Publisher, demo, now_ms},
    reports::model::{self, DIMENSIONS, Fact, METRICS, METRICS_BY_AD_TAG, Random},
};

const FACTS: usize = 3_000;
const QUERIES: usize = 60;
const DAYS: [&str; 12] = [
    "2026-01-01",
    "2026-01-02",
    "2026-01-03",
    "2026-01-31",
    "2026-02-01",
    "2026-02-14",
    "2026-02-28",
    "2026-03-01",
    "2026-03-02",
    "2026-03-30",
    "2026-03-31",
    "2026-04-01",
];

/// Uploads some days in one PUT each, and the others as increments of both formats, so that they have several segments.
pub fn load(publisher: &Publisher<'_>, random: &mut Random) -> Vec<Fact> {
    let facts: Vec<_> = (0..FACTS).map(|_| model::fact(random, &DAYS)).collect();
    let (put, added): (Vec<_>, Vec<_>) = facts.iter().partition(|fact| fact.dimensions[0].as_str() < "2026-02");
    for day in DAYS {
        let lines: String = put.iter().filter(|fact| fact.dimensions[0] == day).map(|fact| fact.csv()).collect();
        if !lines.is_empty() {
            let csv = model::HEADER.to_owned() + &lines;
            publisher.put_facts(day, &csv).expect(200);
        }
    }
    for (batch, facts) in added.chunks(300).enumerate() {
        let key = format!("batch-{batch}");
        let answer = if batch % 2 == 0 {
            let lines: String = facts.iter().map(|fact| fact.csv()).collect();
            publisher.add_facts(&key, &(model::HEADER.to_owned() + &lines))
        } else {
            let lines: String = facts.iter().map(|fact| fact.json()).collect();
            let headers = [("Content-Type", "application/x-ndjson"), ("Idempotency-Key", key.as_str())];
            publisher.send_facts("POST", "facts", &headers, lines.as_bytes())
        };
        let body = answer.expect(200).json();
        assert_eq!(body, json!({"rows": facts.len(), "duplicate": false}));
    }
    facts
}

fn filter(random: &mut Random) -> Value {
    let dimension = random.one::<str>(&DIMENSIONS);
    let tags: Vec<String> = (0..25).map(|n| format!("tag-{n}")).collect();
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    let known: &[&str] = match dimension {
        "date" => &DAYS,
        "app" => &model::APPS,
        "country" => &model::COUNTRIES[..6],
        "placement_id" => &model::PLACEMENTS[..5],
        "ad_tag" => &tags,
        "demand_source" => &model::DEMAND_SOURCES[..3],
        _ => &model::VERSIONS[..4],
    };
    let mut values: Vec<Value> = random.some(known, 5).into_iter().map(Value::from).collect();
    match random.below(4) {
        0 => values.push("unknown".into()),
        1 => values.push("nowhere".into()),
        _ => {}
    }
    json!({"dimension": dimension, "values": values})
}

pub fn query(random: &mut Random) -> Value {
    let dimensions = random.some(&DIMENSIONS, 7);
    let filters: Vec<_> = (0..[0, 0, 1, 1, 2, 3][random.below(6)]).map(|_| filter(random)).collect();
    let by_ad_tag = dimensions.contains(&"ad_tag") || filters.iter().any(|filter| filter["dimension"] == "ad_tag");
    let allowed: &[&str] = if by_ad_tag { &METRICS_BY_AD_TAG } else { &METRICS };
    let columns: Vec<&str> = dimensions.iter().chain(allowed).copied().collect();
    let order: Vec<_> = match random.below(3) {
        0 => Vec::new(),
        _ => random
            .some(&columns, 3)
            .into_iter()
            .map(|column| json!({"column": column, "ascending": random.below(2) == 0}))
            .collect(),
    };
    let ends = random.some(&DAYS, 2);
    // 2026-01-01 to 2026-04-01 is the longest range, 90 days.
    let (start, end) = match (random.below(3), ends.as_slice()) {
        (0, [one, other]) => (*one.min(other), *one.max(other)),
        (0, [one]) => (*one, *one),
        _ => ("2026-01-01", "2026-04-01"),
    };
    json!({
        "date_range": {"start_date": start, "end_date": end},
        "dimensions": dimensions, "metrics": random.some(allowed, 9),
        "filters": filters, "order_by": order,
        "pagination": {"count": 50_000},
    })
}

/// Reads pages of a random size until one is past the last, and compares them with the whole report.
fn pages(publisher: &Publisher<'_>, random: &mut Random, query: &Value, whole: &[Value]) {
    let parts = [1, 2, 3, 5][random.below(4)];
    let count = whole.len() / parts + usize::from(whole.len() < parts) + random.below(2);
    let last = whole.len().div_ceil(count);
    let mut joined = Vec::new();
    let mut paged = query.clone();
    for page in 1..=last {
        paged["pagination"] = json!({ "page": page, "count": count });
        let answer = publisher.report(&paged).expect(200);
        for (name, value) in [("X-Total-Count", whole.len()), ("X-Page", page), ("X-Page-Size", count)] {
            let value = value.to_string();
            assert_eq!(answer.header(name), Some(value.as_str()), "{name} of {answer:?}");
        }
        let body = answer.json();
        let rows = body["rows"].as_array().unwrap();
        assert!(!rows.is_empty() && rows.len() <= count, "{answer:?}");
        joined.extend(rows.iter().cloned());
    }
    assert!(joined == whole, "pages of {count} are not the whole: {query}");
    paged["pagination"] = json!({ "page": last + 1, "count": count });
    let past = publisher.report(&paged).expect(200);
    assert_eq!(past.body, "{\"rows\":[]}", "{past:?}");
    let total = whole.len().to_string();
    assert_eq!(past.header("X-Total-Count"), Some(total.as_str()), "{past:?}");
}

/// The random numbers of a run. The seed is printed when the test fails; `SEED=` repeats the run.
pub fn seeded() -> Random {
    let seed = match std::env::var("SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => u64::try_from(now_ms()).unwrap(),
    };
    println!("SEED={seed}");
    Random(seed)
}

#[test]
fn any_query_matches_the_model_and_its_pages_add_up_to_the_whole() {
    let random = &mut seeded();
    let signpost = demo();
    let publisher = signpost.publisher("random");
    let facts = load(&publisher, random);
    let mut answered = 0;
    for _ in 0..QUERIES {
        let query = query(random);
        let expected = model::rows(&facts, &query);
        if expected.is_empty() {
            publisher.report(&query).expect(204);
            continue;
        }
        answered += 1;
        let rows = if random.below(4) == 0 {
            let answer = publisher.report_as("application/x-ndjson", &query).expect(200);
            let lines = answer.body.lines();
            lines.map(|line| serde_json::from_str(line).unwrap()).collect()
        } else {
            publisher.rows(&query)
        };
        if let Some((place, (row, modelled))) =
            (rows.iter().zip(&expected).enumerate()).find(|(_, (row, modelled))| row != modelled)
        {
            panic!("{query}\nrow {place} is {row}\nthe model has {modelled}");
        }
        assert_eq!(rows.len(), expected.len(), "{query}");
        pages(&publisher, random, &query, &expected);
    }
    assert!(answered > QUERIES / 2, "only {answered} queries found anything");
}

//! The offers page: from memory, and built for a request that was never sent before, against a Worker with a constant
//! answer.

use serde_json::{Value, json};

use crate::{
    bench::{Bench, Catalog, answered, throughput},
    harness::{Answer, Signpost},
    large_catalog,
    load::{Load, Requests, interleaved},
    table::Row,
};

pub const PATH: &str = "/v1/offer/api";
const SECONDS: f64 = 2.0;
const PAGE: usize = 20;
/// More than all runs of a row together use.
pub const UNSEEN: usize = 190_000;
/// Countries that the generated offers target, and others that none targets.
const COUNTRIES: [&str; 10] = ["DE", "FR", "US", "GB", "BR", "IN", "JP", "MX", "TR", "ID"];
const OTHERS: [&str; 40] = [
    "AD", "AE", "AG", "AI", "AL", "AM", "AO", "AR", "AT", "AU", "BA", "BB", "BD", "BE", "BG", "BH", "BJ", "BO", "BS",
    "BT", "BW", "CA", "CH", "CI", "CL", "CM", "CO", "CR", "CY", "CZ", "DK", "DO", "DZ", "EC", "EE", "EG", "ES", "FI",
    "FJ", "GA",
];

/// Different requests, each for a page of 20 with a country filter: the page number, one targeted country and three
/// others. Neighbours have nothing in common.
pub fn unseen(bodies: usize, offers: usize) -> Vec<String> {
    // Two in five of the offers of two platforms pass the filter.
    let pages = offers * 2 / 3 * 2 / 5 / PAGE;
    let triples: Vec<[&str; 3]> = (0..OTHERS.len())
        .flat_map(|a| (0..a).flat_map(move |b| (0..b).map(move |c| [a, b, c].map(|at| OTHERS[at]))))
        .collect();
    let all = pages * COUNTRIES.len() * triples.len();
    assert!(bodies <= all, "there are only {all} different requests");
    let body = |n: usize| {
        // A prime that does not divide `all`, so every number comes once.
        let n = n * 7_368_787 % all;
        let (page, rest) = (n % pages + 1, n / pages);
        let (country, [a, b, c]) = (COUNTRIES[rest % 10], triples[rest / 10]);
        json!({
            "page": page, "size": PAGE,
            "filt": [{"dim": "country", "match": {"type": "any", "value": [country, a, b, c]}}]
        })
        .to_string()
    };
    (0..bodies).map(body).collect()
}

/// Requests with an app's credentials.
pub fn requests(bench: &Bench, catalog: &Catalog, bodies: &[String]) -> Requests {
    Requests::post(bench.scratch(), PATH, bodies)
        .header("Content-Type", "application/json")
        .header("App-Id", &large_catalog::app(0))
        .header("Pub-Key", &catalog.pub_key)
}

/// Runs a load and checks by Signpost's metrics that all answers were pages.
pub fn load(bench: &Bench, signpost: &Signpost, requests: &mut Requests) -> Load {
    let before = answered(signpost, "offers");
    let load = requests.run(bench.scratch(), signpost, SECONDS);
    let pages = answered(signpost, "offers") - before;
    assert!(pages >= load.requests, "{pages} of {} were pages", load.requests);
    load
}

pub fn rows(bench: &Bench) -> Vec<Row> {
    vec![from_memory(bench).printed(), not_seen_before(bench).printed()]
}

/// The Worker with a constant answer: the same body and headers as ours.
fn constant(bench: &Bench, answer: &Answer) -> Signpost {
    let headers = ["Content-Type", "Cache-Control", "ETag", "Last-Modified", "Vary"];
    let headers: serde_json::Map<String, Value> =
        headers.iter().filter_map(|name| Some(((*name).to_owned(), json!(answer.header(name)?)))).collect();
    let setting = json!({"body": answer.body, "headers": headers}).to_string();
    let constant = bench.yardstick("constant").var("ANSWER", &setting).start();
    let theirs = constant.send("POST", PATH, &[], b"{}").expect(200);
    assert_eq!(theirs.body, answer.body);
    for (name, value) in &headers {
        assert_eq!(theirs.header(name), value.as_str(), "{name}");
    }
    constant
}

/// The page for a request. It must be full.
fn page(signpost: &Signpost, requests: &Requests, body: &str) -> Answer {
    let answer = signpost.send("POST", PATH, &requests.headers(), body.as_bytes()).expect(200);
    let found = answer.json();
    assert_eq!(found["offers"].as_array().map(Vec::len), Some(PAGE), "{answer:?}");
    answer
}

fn from_memory(bench: &Bench) -> Row {
    let catalog = bench.catalog(2_000, 50);
    let ours = bench.signpost(&catalog).start();
    let body = unseen(1, 2_000);
    let mut pages = requests(bench, &catalog, &body);
    let constant = constant(bench, &page(&ours, &pages, &body[0]));
    let mut constants = pages.clone();
    let found = interleaved(
        "offers page in memory",
        bench.rounds,
        &mut [&mut || load(bench, &ours, &mut pages), &mut || constants.run(bench.scratch(), &constant, SECONDS)],
    );
    let work = "offers page, 20 of 2,000, in memory, against a constant body";
    throughput(work, Some(0.90), &found[0], &found[1])
}

fn not_seen_before(bench: &Bench) -> Row {
    const OFFERS: usize = 20_000;
    let catalog = bench.catalog(OFFERS, 5_000);
    let ours = bench.signpost(&catalog).start();
    let mut bodies = unseen(UNSEEN, OFFERS);
    let first = bodies.remove(0);
    let mut pages = requests(bench, &catalog, &[]);
    let constant = constant(bench, &page(&ours, &pages, &first));
    // The yardstick does not parse its requests, so it may get them repeatedly.
    let mut constants = requests(bench, &catalog, &bodies[..1_000]);
    pages = pages.once(bodies);
    let found = interleaved(
        "offers page not seen before",
        bench.rounds,
        &mut [&mut || load(bench, &ours, &mut pages), &mut || constants.run(bench.scratch(), &constant, SECONDS)],
    );
    let work = "offers page never seen before, 20 of 20,000 with a country filter";
    let mut row = throughput(work, Some(0.55), &found[0], &found[1]);
    row.notes.push("no request was sent twice".to_owned());
    row
}

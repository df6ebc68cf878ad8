//! The cost of a request as offers, apps and facts grow.

use serde_json::json;

use crate::{
    bench::{Bench, FACTS, facts_publisher},
    click,
    load::interleaved,
    many_facts::{DAYS, date},
    offers,
    stats::{estimate, ratios},
    table::{Row, Verdict, grouped, interval, times},
    time::Stopwatch,
};

const OFFERS: [usize; 3] = [200, 2_000, 20_000];
const APPS: [usize; 2] = [50, 5_000];
/// The number of offers while the apps grow, and of apps while the offers grow.
const USUAL_OFFERS: usize = OFFERS[1];
const USUAL_APPS: usize = APPS[0];
const SECONDS: f64 = 1.0;
/// The sizes grow by factors of ten and more, so fewer rounds suffice.
const ROUNDS: usize = 5;

pub fn rows(bench: &Bench) -> Vec<Row> {
    let by_offers = OFFERS.map(|offers| (offers, USUAL_APPS));
    let by_apps = APPS.map(|apps| (USUAL_OFFERS, apps));
    vec![
        row("click, µs", "offers", &OFFERS, &clicks(bench, &by_offers)).printed(),
        row("offers page never seen before, µs", "offers", &OFFERS, &pages(bench, &by_offers)).printed(),
        row("click, µs", "apps", &APPS, &clicks(bench, &by_apps)).printed(),
        reports(bench).printed(),
    ]
}

/// Microseconds of a click in each of these catalogs, by round.
fn clicks(bench: &Bench, sizes: &[(usize, usize)]) -> Vec<Vec<f64>> {
    let mut sides: Vec<_> = sizes
        .iter()
        .map(|(offers, apps)| {
            let ours = bench.signpost(&bench.catalog(*offers, *apps)).start();
            // The same number of different clicks in each, so that the number of counted sums does not grow.
            let paths = click::paths(OFFERS[0].min(*offers), USUAL_APPS.min(*apps));
            let mut requests = click::requests(bench, &paths);
            move || 1e6 / click::load(bench, &ours, &mut requests, SECONDS).per_second
        })
        .collect();
    let mut sides: Vec<&mut dyn FnMut() -> f64> = sides.iter_mut().map(|side| side as _).collect();
    interleaved("clicks", ROUNDS.min(bench.rounds), &mut sides)
}

/// Microseconds of an uncached page in each of these catalogs, by round.
fn pages(bench: &Bench, sizes: &[(usize, usize)]) -> Vec<Vec<f64>> {
    let mut sides: Vec<_> = sizes
        .iter()
        .map(|(offers, apps)| {
            let catalog = bench.catalog(*offers, *apps);
            let ours = bench.signpost(&catalog).start();
            let bodies = offers::unseen(offers::UNSEEN, *offers);
            let mut requests = offers::requests(bench, &catalog, &[]).once(bodies);
            move || 1e6 / offers::load(bench, &ours, &mut requests).per_second
        })
        .collect();
    let mut sides: Vec<&mut dyn FnMut() -> f64> = sides.iter_mut().map(|side| side as _).collect();
    interleaved("pages", ROUNDS.min(bench.rounds), &mut sides)
}

/// Milliseconds of a report over HTTP by date and app, for growing numbers of facts.
fn reports(bench: &Bench) -> Row {
    let (offers, apps) = (OFFERS[2], APPS[1]);
    let catalog = bench.catalog(offers, apps);
    let ours = bench.signpost(&catalog).state(bench.facts(offers, apps).path()).start();
    let query = json!({
        "date_range": {"start_date": date(0), "end_date": date(DAYS - 1)},
        "dimensions": ["date", "app"],
        "metrics": ["impressions", "clicks", "revenue"],
    });
    let publishers = FACTS.map(|facts| ours.existing_publisher(&facts_publisher(facts)));
    let mut sides: Vec<_> = publishers
        .iter()
        .map(|publisher| {
            let query = &query;
            move || {
                // The key is issued before the measurement.
                let ask = publisher.prepare("application/json", query);
                let watch = Stopwatch::start();
                let answer = ask();
                let took_ms = watch.ms();
                answer.expect(200);
                took_ms
            }
        })
        .collect();
    let mut sides: Vec<&mut dyn FnMut() -> f64> = sides.iter_mut().map(|side| side as _).collect();
    let found = interleaved("reports", ROUNDS.min(bench.rounds), &mut sides);
    let mut row = row("report by date and app, ms", "facts", &FACTS, &found);
    let each = FACTS.iter().zip(&found).map(|(facts, rounds)| {
        let median = estimate(rounds).expect("rounds").median;
        format!("{:.2} µs", median * 1e3 / *facts as f64)
    });
    row.notes.push(format!("for each fact {}", each.collect::<Vec<_>>().join(", ")));
    row
}

fn row(work: &str, what: &str, sizes: &[usize], found: &[Vec<f64>]) -> Row {
    let medians = found.iter().map(|rounds| {
        let median = estimate(rounds).expect("rounds").median;
        format!("{median:.1}")
    });
    let sizes: Vec<_> = sizes.iter().map(|size| grouped(*size as f64)).collect();
    let (least, most) = (found.first().expect("sizes"), found.last().expect("sizes"));
    let ratio = estimate(&ratios(most, least)).expect("rounds");
    Row {
        work: format!("{work}, with {} {what}", sizes.join(" → ")),
        ours: medians.collect::<Vec<_>>().join(" → "),
        yardstick: "-".to_owned(),
        ratio: interval(&ratio, times),
        target: "-".to_owned(),
        verdict: Verdict::Reported,
        notes: Vec::new(),
    }
}

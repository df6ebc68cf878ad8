//! Compares this checkout with another one, such as a clone of the commit before a change: clicks, offers, reports and
//! conversions of both, in turn. `BEFORE=` names its folder, in which `make bench` has built. Yardsticks are left out.

use std::path::PathBuf;

use crate::{
    bench::Bench,
    click, conversions,
    harness::{Signpost, root},
    load::{Load, interleaved},
    offers, report,
    stats::{estimate, ratios},
    table::{Row, Verdict, interval, microseconds, ms, spread, times},
};

const CLICK_SECONDS: f64 = 4.0;
const OFFERS: usize = 20_000;
const APPS: usize = 5_000;

/// The other checkout's bench, if there is one.
pub fn checkout() -> Option<PathBuf> {
    let path = std::env::var("BEFORE").ok().filter(|path| !path.is_empty())?;
    Some(root().join(path))
}

/// This checkout and the other one.
fn both(bench: &Bench) -> [&Bench; 2] {
    [bench, bench.before.as_deref().expect("BEFORE")]
}

/// Measures both sides in turn. The row is missed if the whole interval says slower. Figures are times.
fn row(work: &str, bench: &Bench, format: fn(f64) -> String, sides: [&mut dyn FnMut() -> f64; 2]) -> Row {
    let [now, before] = sides;
    let found = interleaved(work, bench.rounds, &mut [now, before]);
    let ratio = estimate(&ratios(&found[0], &found[1])).expect("rounds");
    let row = Row {
        work: format!("{work}, against before"),
        ours: spread(&found[0], format),
        yardstick: spread(&found[1], format),
        ratio: interval(&ratio, times),
        target: "no slower".to_owned(),
        verdict: Verdict::of(ratio.low <= 1.0),
        notes: Vec::new(),
    };
    row.printed()
}

pub fn clicks(bench: &Bench) -> Vec<Row> {
    let both = both(bench);
    let paths = click::paths(OFFERS, APPS);
    let servers = both.map(|bench| bench.signpost(&bench.catalog(OFFERS, APPS)).start());
    let of = |work: &str, paths: &[String]| {
        let mut requests = both.map(|bench| click::requests(bench, paths).until_idle());
        let [now, before] = &mut requests;
        row(
            work,
            both[0],
            microseconds,
            [&mut || click::load(both[0], &servers[0], now, CLICK_SECONDS).cpu_us, &mut || {
                click::load(both[1], &servers[1], before, CLICK_SECONDS).cpu_us
            }],
        )
    };
    vec![of("click, one offer's", &paths[..1]), of("click, spread", &paths)]
}

pub fn pages(bench: &Bench) -> Vec<Row> {
    let both = both(bench);
    let catalogs = both.map(|bench| bench.catalog(OFFERS, APPS));
    let [now, before] = [0, 1].map(|side| both[side].signpost(&catalogs[side]).start());
    let cpu = |side: usize, server: &Signpost, requests: &mut _| offers::load(both[side], server, requests).cpu_us;
    let mut bodies = offers::unseen(offers::UNSEEN, OFFERS);
    let again = [bodies.remove(0)];
    let [mut our, mut their] = [0, 1].map(|side| offers::requests(both[side], &catalogs[side], &again));
    let (mut unseen, mut their_unseen) = (our.clone().once(bodies.clone()), their.clone().once(bodies));
    vec![
        row(
            "offers page in memory",
            both[0],
            microseconds,
            [&mut || cpu(0, &now, &mut our), &mut || cpu(1, &before, &mut their)],
        ),
        row(
            "offers page never seen before",
            both[0],
            microseconds,
            [&mut || cpu(0, &now, &mut unseen), &mut || cpu(1, &before, &mut their_unseen)],
        ),
    ]
}

pub fn reports(bench: &Bench) -> Vec<Row> {
    let both = both(bench);
    let [now, before] = both.map(|bench| bench.yardstick("bench_build").start());
    let [ours, theirs] = [report::with_facts(&now), report::with_facts(&before)];
    let works = report::works();
    let of = |work: &report::Work| {
        let body = work.query.to_string();
        row(
            &format!("report of 1,000,000 facts: {}", work.name),
            both[0],
            ms,
            [&mut || report::ms(&now, &ours, &body), &mut || report::ms(&before, &theirs, &body)],
        )
    };
    works.iter().map(of).collect()
}

pub fn conversions(bench: &Bench) -> Vec<Row> {
    let both = both(bench);
    let servers = both.map(|bench| bench.yardstick("signpost").start());
    let [now, before] = &servers;
    let of = |shards: u8| {
        let mut requests = servers.each_ref().map(|server| conversions::once_each(both[0], server, shards));
        let [our, their] = &mut requests;
        let us = |load: Load| 1e6 / load.per_second;
        row(
            &format!("conversion, outboxes: {shards}"),
            both[0],
            microseconds,
            [&mut || us(conversions::load(both[0], now, conversions::OURS, our)), &mut || {
                us(conversions::load(both[1], before, conversions::OURS, their))
            }],
        )
    };
    let mut rows = vec![of(1), of(8)];
    let walls = servers.each_ref().map(|server| server.sharded_offer_wall("speed-steady", "79000920", None, 8));
    servers.iter().for_each(|server| drop(server.refresh()));
    let [mut ours, mut theirs] = walls.each_ref().map(conversions::steadily);
    let work = "p99 of a conversion's answer, 200 a second";
    rows.push(row(work, both[0], ms, [&mut || ours()[1], &mut || theirs()[1]]));
    let [mut ours, mut theirs] = walls.each_ref().map(|wall| conversions::of_idle_outboxes(wall, 8));
    rows.push(row("first conversion of an idle outbox", both[0], ms, [&mut ours, &mut theirs]));
    rows
}

//! The first redirect of a fresh isolate, with a large catalog in KV.

use crate::{
    bench::Bench,
    click,
    harness::Signpost,
    load::interleaved,
    stats::{differences, estimate},
    table::{Row, Verdict, grouped, interval, ms, spread},
    time::Stopwatch,
};

const OFFERS: usize = 20_000;
const APPS: usize = 5_000;
const MORE_MS: f64 = 12.0;

struct First {
    /// From the request to its answer, on an open connection.
    redirect_ms: f64,
    /// From the start of the process to that answer.
    process_ms: f64,
}

pub fn rows(bench: &Bench) -> Vec<Row> {
    vec![first_redirect(bench, OFFERS, APPS)]
}

/// The row for a catalog of this size.
pub fn first_redirect(bench: &Bench, offers: usize, apps: usize) -> Row {
    let catalog = bench.catalog(offers, apps);
    let ours = bench.signpost(&catalog).start();
    let path = click::paths(offers, apps).remove(0);
    let location = ours.get(&path, &[]).expect(302).location().to_owned();
    let constant = bench.yardstick("redirect").var("LOCATION", &location).start();
    let found = interleaved(
        "first redirect",
        bench.rounds.max(10),
        &mut [&mut || first(&ours, &path), &mut || first(&constant, &path)],
    );
    let of = |side: usize, pick: fn(&First) -> f64| -> Vec<f64> { found[side].iter().map(pick).collect() };
    let [ours, theirs] = [0, 1].map(|side| of(side, |first| first.redirect_ms));
    let [ours_whole, theirs_whole] = [0, 1].map(|side| of(side, |first| first.process_ms));
    let more = estimate(&differences(&ours, &theirs)).expect("rounds");
    let row = Row {
        work: format!("first redirect of a fresh isolate, {} offers in KV", grouped(offers as f64)),
        ours: spread(&ours, ms),
        yardstick: spread(&theirs, ms),
        ratio: format!("{} more", interval(&more, ms)),
        target: format!("≤ {} more", ms(MORE_MS)),
        verdict: Verdict::of(more.median <= MORE_MS),
        notes: vec![format!(
            "from the start of the process: {} and {}",
            spread(&ours_whole, ms),
            spread(&theirs_whole, ms)
        )],
    };
    row.printed()
}

fn first(server: &Signpost, path: &str) -> First {
    let mut process = None;
    server.restart_after(|| process = Some(Stopwatch::start()));
    let process = process.expect("a start");
    let mut connection = server.raw();
    let redirect = Stopwatch::start();
    let answer = connection.get(path.as_bytes());
    let first = First { redirect_ms: redirect.ms(), process_ms: process.ms() };
    answer.expect(302);
    first
}

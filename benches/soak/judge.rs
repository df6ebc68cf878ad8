//! The soak's verdicts.

use std::{collections::BTreeMap, sync::atomic::Ordering, thread, time::Duration};

use serde_json::json;

use crate::{
    book::Sums,
    client::Client,
    harness::Publisher,
    large_catalog,
    load::{Light, Run},
    mix::Kind,
    watch::{Memory, Series, megabytes, metric},
    world::{DAYS, World, date},
};

/// How much more memory the last third of a run may take than the second: a share, or a number of bytes if that is
/// more. The first third fills caches. A third of ten minutes is about 300,000 requests, so a leak of 100 bytes a
/// request is found. A module's memory never shrinks and stays at its peak, which may come late.
const GROWTH: f64 = 0.10;
const SLACK: f64 = 8e6;
const SLACK_OF_MODULE: f64 = 16e6;
/// An isolate has 128 MB for everything.
const MODULE: f64 = 128e6;
/// A shed request waits only for its connection's turn, no connection waits for many turns, and nearly all clicks are
/// served. A turn of 1,000 connections takes about 0.6 s on one thread.
const SHED_P99_MS: f64 = 2_000.0;
const LATENCY_P999_MS: f64 = 10_000.0;
const CLICKS_SERVED: f64 = 0.99;
const GOODPUT: f64 = 0.5;
/// The time until all is served in time after the load, in seconds; and the limit of a latency, in milliseconds.
const RECOVERED_S: u32 = 10;
const IN_TIME_MS: f64 = 250.0;
/// The time until latencies are as before, in seconds. The callbacks of conversions during the load come first, six
/// at a time for each app, on the one thread that runs all objects and the edge here.
pub const AS_BEFORE_S: u32 = 300;

/// The longest wait for the last callbacks, in seconds: some are tried again after a minute.
const CALLBACKS_S: usize = 240;
/// The number of reports until all clicks are in them. A key may be used every two seconds.
const LOOKS: usize = 90;
const LOOK: Duration = Duration::from_millis(2_500);

pub struct Verdict {
    pub what: &'static str,
    pub met: bool,
    pub found: String,
}

fn verdict(what: &'static str, met: bool, found: String) -> Verdict {
    Verdict { what, met, found }
}

/// Verdicts on the minutes at the limit.
pub fn steady(runs: &[Run], clients: &[Client<'_>], memory: &Memory, from_s: f64, to_s: f64) -> Vec<Verdict> {
    let unanswered: u64 = runs.iter().map(|run| run.tally.unanswered()).sum();
    let wrong: Vec<&String> = clients.iter().flat_map(|client| &client.wrong).collect();
    let sent: u64 = runs.iter().map(|run| run.tally.sent()).sum();
    let shown = wrong.first().map_or(String::new(), |first| format!(": {first}"));
    let mut verdicts = vec![
        verdict(
            "every answer is documented for its route",
            wrong.is_empty() && unanswered == 0,
            format!("{sent} requests, {unanswered} not answered, {} others shown{shown}", wrong.len()),
        ),
        verdict(
            "the clients were not the limit",
            runs.iter().all(|run| run.busy >= 0.9 || run.generating < 0.9),
            runs.last().map_or_else(String::new, Run::summary),
        ),
    ];
    for (what, series, slack) in [
        ("memory of the process is flat", &memory.process, SLACK),
        ("memory of the module is flat", &memory.module, SLACK_OF_MODULE),
        ("memory of V8 is flat", &memory.heap, SLACK),
    ] {
        verdicts.push(flat(what, series, slack, from_s, to_s));
    }
    verdicts
}

fn flat(what: &'static str, series: &Series, slack: f64, from_s: f64, to_s: f64) -> Verdict {
    let [first, second, last] = series.thirds(from_s, to_s);
    let allowed = (second * GROWTH).max(slack);
    let found = format!("{} → {} → {}", megabytes(first), megabytes(second), megabytes(last));
    verdict(what, last > 0.0 && last <= second + allowed, found)
}

/// Verdicts on the load beyond the limit.
pub fn overload(limit: &[Run], run: &Run, clients: &[Client<'_>], memory: &Memory, from_s: f64) -> Vec<Verdict> {
    let tally = &run.tally;
    let of_limit = |kinds: &[Kind]| {
        let rate = |run: &Run| kinds.iter().map(|kind| run.tally.of(*kind).served()).sum::<u64>() as f64 / run.seconds;
        let before = limit.iter().map(rate).sum::<f64>() / limit.len().max(1) as f64;
        rate(run) / before.max(1e-9)
    };
    let served = |kind: Kind| tally.of(kind).served() as f64 / tally.of(kind).sent().max(1) as f64;
    let (all, conversions) = (of_limit(&Kind::ALL), of_limit(&[Kind::Conversion]));
    let shed_p99 = tally.shed_latencies().quantile(0.99);
    let latencies = tally.latencies();
    let module = memory.module.most(from_s);
    let process = memory.process.most(from_s);
    let before = memory.process.median(0.0, from_s).unwrap_or(0.0);
    vec![
        verdict(
            "every request is answered as documented, or with 429 or 503 and Retry-After",
            tally.unanswered() == 0 && clients.iter().all(|client| client.wrong.is_empty()),
            format!("{} sent, {} shed, {} not answered", tally.sent(), tally.shed(), tally.unanswered()),
        ),
        verdict("shed requests are answered soon", shed_p99 < SHED_P99_MS, format!("p99 {shed_p99:.1} ms")),
        verdict("no connection waits for long", latencies.quantile(0.999) < LATENCY_P999_MS, latencies.summary()),
        verdict(
            "requests are still served",
            all >= GOODPUT,
            format!("{:.0} % of the limit, {:.0} % of its conversions", all * 100.0, conversions * 100.0),
        ),
        verdict(
            "clicks are preferred",
            served(Kind::Click) >= CLICKS_SERVED && served(Kind::Click) >= served(Kind::Conversion),
            format!(
                "served {:.1} % of clicks, {:.1} % of conversions",
                served(Kind::Click) * 100.0,
                served(Kind::Conversion) * 100.0
            ),
        ),
        verdict(
            "memory is bounded",
            module > 0.0 && module < MODULE && process < before * 2.0,
            format!("process at most {}, module {}", megabytes(process), megabytes(module)),
        ),
    ]
}

/// The latencies of one client after the load, second by second.
pub struct Recovery {
    before: Light,
    backlog: u64,
    in_time_s: Option<u32>,
    as_before_s: Option<u32>,
}

impl Recovery {
    pub fn after(before: Light, backlog: u64) -> Self {
        Self { before, backlog, in_time_s: None, as_before_s: None }
    }

    /// Returns whether latencies are as before: median and p99 at most twice as high, plus 5 ms for the noise of a
    /// machine.
    pub fn record(&mut self, second: u32, now: Light) -> bool {
        let as_before = |now: f64, before: f64| now <= before * 2.0 + 5.0;
        if now.shed == 0 && now.p99_ms < IN_TIME_MS {
            self.in_time_s.get_or_insert(second);
        }
        if as_before(now.median_ms, self.before.median_ms) && as_before(now.p99_ms, self.before.p99_ms) {
            self.as_before_s = Some(second);
        }
        self.as_before_s.is_some()
    }

    pub fn verdicts(&self) -> [Verdict; 2] {
        let time =
            |second: Option<u32>| second.map_or_else(|| "not in time".to_owned(), |second| format!("after {second} s"));
        [
            verdict(
                "it recovers without help: nothing is shed, p99 below 250 ms",
                self.in_time_s.is_some_and(|second| second <= RECOVERED_S),
                time(self.in_time_s),
            ),
            verdict(
                "latencies are as before once callbacks have caught up",
                self.as_before_s.is_some(),
                format!("{}, with {} callbacks", time(self.as_before_s), self.backlog),
            ),
        ]
    }
}

/// The number of callbacks that are not delivered.
pub fn waiting(world: &World) -> u64 {
    let page = world.signpost.operator("GET", "callbacks", None).expect(200).json();
    let apps = page["callbacks"].as_array().expect("callbacks");
    apps.iter().map(|app| app["waiting"].as_u64().unwrap_or(1)).sum()
}

/// Verdicts on acknowledged work, once nothing is in flight.
pub fn acknowledged(world: &World, clients: &[Client<'_>], unknown: usize) -> Vec<Verdict> {
    let mut verdicts = vec![verdict(
        "the outcome of each conversion and upload is known",
        unknown == 0,
        format!("{unknown} not answered after five more tries"),
    )];
    let contradictions = world.book.contradictions.lock().expect("a book");
    verdicts.push(verdict(
        "a repeated conversion has the same id",
        contradictions.is_empty(),
        format!("{} others {:?}", contradictions.len(), contradictions.first()),
    ));
    verdicts.push(delivered(world));
    let paid = world.book.paid.lock().expect("a book");
    let (mut facts_off, mut paid_off, mut clicks_off) = (Vec::new(), Vec::new(), Vec::new());
    let (mut paid_micros, mut clicks) = (0, 0);
    for (n, seller) in world.sellers.iter().enumerate() {
        let publisher = world.signpost.existing_publisher(&seller.id);
        let own = clients.iter().enumerate().filter(|(number, _)| number % world.sellers.len() == n);
        let facts = own.fold(world.loaded, |sums, (_, client)| sums.plus(client.facts));
        let expected: i64 = paid.values().filter(|paid| paid.wall == n).map(|paid| paid.micros).sum();
        let found = reported(world, &publisher, &seller.id);
        paid_micros += expected;
        if found.facts != facts {
            facts_off.push(format!("{}: {:?} and not {facts:?}", seller.id, found.facts));
        }
        if found.offers.micros != expected {
            paid_off.push(format!("{}: {} and not {expected}", seller.id, found.offers.micros));
        }
        clicks += found.offers.clicks;
        clicks_off.extend(clicks_of(world, &seller.id, found.offers.clicks));
    }
    let planned = world.signpost.existing_publisher(large_catalog::PUBLISHER);
    let found = reported(world, &planned, large_catalog::PUBLISHER).offers.clicks;
    clicks += found;
    clicks_off.extend(clicks_of(world, large_catalog::PUBLISHER, found));
    let uncounted = metric(&world.signpost, "clicks_uncounted_total").unwrap_or(f64::NAN);
    verdicts.push(verdict(
        "reports contain the acknowledged facts",
        facts_off.is_empty(),
        format!("{} of {} publishers off {facts_off:?}", facts_off.len(), world.sellers.len()),
    ));
    verdicts.push(verdict(
        "reports contain the revenue of acknowledged conversions",
        paid_off.is_empty(),
        format!("{} conversions, {paid_micros} micro-USD, off: {paid_off:?}", paid.len()),
    ));
    verdicts.push(verdict(
        "the redirected clicks are counted",
        clicks_off.is_empty() && uncounted == 0.0,
        format!("{clicks} counted, {uncounted} given up, off: {clicks_off:?}"),
    ));
    verdicts
}

/// The verdict on answers after the load, and to the one client that runs alone.
pub fn afterwards(clients: &[Client<'_>]) -> Verdict {
    let wrong: Vec<&String> = clients.iter().flat_map(|client| &client.wrong).collect();
    verdict(
        "every answer before and after the load is documented",
        wrong.is_empty(),
        format!("{} {:?}", wrong.len(), wrong.first()),
    )
}

/// Without overload, no callback is sent again after a 2xx answer.
pub fn once(world: &World) -> Verdict {
    let deliveries = world.publishers.deliveries();
    let twice = deliveries.values().filter(|(acknowledged, _)| *acknowledged > 1).count();
    let found = format!("{twice} of {} acknowledged twice", deliveries.len());
    verdict("no acknowledged callback is sent again", twice == 0, found)
}

/// Each conversion that was answered 200 has a callback that was answered 2xx, and there are no others. Callbacks are
/// sent at least once: an attempt is repeated if the overloaded machine did not read its answer in time.
fn delivered(world: &World) -> Verdict {
    let mut left = 0;
    for _ in 0..CALLBACKS_S {
        left = waiting(world);
        if left == 0 {
            break;
        }
        thread::sleep(Duration::from_secs(1));
    }
    let (deliveries, paid) = (world.publishers.deliveries(), world.book.paid.lock().expect("a book"));
    let missing = paid.keys().filter(|id| deliveries.get(*id).is_none_or(|(acknowledged, _)| *acknowledged == 0));
    let foreign = deliveries.keys().filter(|id| !paid.contains_key(*id)).count();
    let twice = deliveries.values().filter(|(acknowledged, _)| *acknowledged > 1).count();
    let again = deliveries.values().filter(|(_, came)| *came > 1).count();
    let missing = missing.count();
    verdict(
        "each conversion is delivered, and no other",
        left == 0 && missing == 0 && foreign == 0,
        format!(
            "{} conversions, {missing} not delivered, {twice} twice, {foreign} unknown, {left} still waiting; {again} were \
             tried again after a failure",
            paid.len()
        ),
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Reported {
    facts: Sums,
    /// Sums that Signpost counted itself.
    offers: Sums,
}

/// The sums in a publisher's report once all its clicks and conversions are in it, or the last ones if time runs out.
fn reported(world: &World, publisher: &Publisher<'_>, id: &str) -> Reported {
    let redirected = i64::try_from(world.book.clicks[id].redirected.load(Ordering::Relaxed)).unwrap_or(0);
    let mut last = None;
    for _ in 0..LOOKS {
        let found = report(world, publisher);
        // Two equal reports with all the clicks: the sums of conversions arrive in batches of their own.
        if last == Some(found) && found.offers.clicks >= redirected {
            break;
        }
        last = Some(found);
        thread::sleep(LOOK);
    }
    last.unwrap_or_else(|| report(world, publisher))
}

fn report(world: &World, publisher: &Publisher<'_>) -> Reported {
    let rows = publisher.rows(&json!({
        "date_range": {"start_date": date(world.today, DAYS).to_string(), "end_date": world.today.minus(-1).to_string()},
        "dimensions": ["demand_source"], "metrics": ["impressions", "clicks", "revenue"],
    }));
    let mut found = BTreeMap::new();
    for row in rows {
        let whole = |name: &str| row[name].as_i64().unwrap_or(0);
        let sums = Sums {
            impressions: whole("impressions"),
            clicks: whole("clicks"),
            micros: (row["revenue"].as_f64().unwrap_or(0.0) * 1e6).round() as i64,
        };
        let is_own = row["demand_source"] == "offerwall";
        let entry: &mut Sums = found.entry(is_own).or_default();
        *entry = entry.plus(sums);
    }
    Reported {
        facts: found.get(&false).copied().unwrap_or_default(),
        offers: found.get(&true).copied().unwrap_or_default(),
    }
}

/// Returns an error if fewer clicks were counted than redirected, or more than sent.
fn clicks_of(world: &World, id: &str, counted: i64) -> Option<String> {
    let clicks = &world.book.clicks[id];
    let [redirected, sent] = [&clicks.redirected, &clicks.sent].map(|n| n.load(Ordering::Relaxed));
    let counted = u64::try_from(counted).unwrap_or(0);
    (!(redirected..=sent).contains(&counted)).then(|| format!("{id}: {counted}, {redirected} to {sent} redirected"))
}

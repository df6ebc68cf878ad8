//! Shared parts of the benches: rounds, files, states that are built once, and yardsticks.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::{Path, PathBuf},
    rc::Rc,
};

use tempfile::TempDir;

use crate::{
    harness::{OPERATOR_TOKEN, Setup, Signpost, copy_folder},
    large_catalog,
    load::Load,
    many_facts,
    stats::{estimate, ratios},
    table::{Row, Verdict, interval, microseconds, per_second, spread, times},
    time::Stopwatch,
};

/// The fewest rounds whose 95 % interval leaves out the best and the worst.
const ROUNDS: usize = 9;

/// Lines of a catalog in each import, so that no import exceeds the time limit of a request here. Each import is
/// published, which writes most shards of goals again.
const IMPORT_LINES: usize = 20_000;
/// Numbers of facts, one publisher each.
pub const FACTS: [usize; 3] = [10_000, 100_000, 1_000_000];

/// The publisher with this many of [`FACTS`].
pub fn facts_publisher(facts: usize) -> String {
    format!("facts-{facts}")
}

pub struct Bench {
    /// How often each pair is measured.
    pub rounds: usize,
    /// The bench of another checkout, with which this one is compared.
    pub before: Option<Box<Bench>>,
    /// The checkout whose Workers are measured.
    checkout: PathBuf,
    scratch: TempDir,
    catalogs: RefCell<BTreeMap<(usize, usize), Rc<Catalog>>>,
    facts: RefCell<BTreeMap<(usize, usize), Rc<TempDir>>>,
}

/// A state with a published catalog.
pub struct Catalog {
    pub state: TempDir,
    pub pub_key: String,
}

impl Bench {
    pub fn new(checkout: PathBuf) -> Self {
        let rounds = std::env::var("ROUNDS").ok().filter(|rounds| !rounds.is_empty());
        Self {
            rounds: rounds.map_or(ROUNDS, |rounds| rounds.parse().expect("ROUNDS is a number")),
            before: None,
            checkout,
            scratch: tempfile::tempdir().expect("a temporary folder"),
            catalogs: RefCell::default(),
            facts: RefCell::default(),
        }
    }

    /// A folder for the files of a run.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The machine's cores and memory.
    pub fn machine(&self) -> String {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kib = memory
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok())
            .unwrap_or(0.0_f64);
        let gib = kib / f64::from(1 << 20);
        format!("{cores} cores, {gib:.0} GiB of memory; medians of {} rounds", self.rounds)
    }

    /// The state with a generated catalog of this size, built on first use.
    pub fn catalog(&self, offers: usize, apps: usize) -> Rc<Catalog> {
        if let Some(known) = self.catalogs.borrow().get(&(offers, apps)) {
            return Rc::clone(known);
        }
        let watch = Stopwatch::start();
        let signpost = self.config("signpost").start();
        let catalog = large_catalog::catalog(offers, apps);
        let lines: Vec<&str> = catalog.lines().collect();
        for lines in lines.chunks(IMPORT_LINES) {
            signpost.import(&lines.join("\n")).expect(200);
        }
        let pub_key = signpost.issue_pub_key(large_catalog::PUBLISHER);
        publish(&signpost);
        let state = copy_state(&signpost);
        let catalog = Rc::new(Catalog { state, pub_key });
        eprintln!("  {offers} offers and {apps} apps loaded in {:.0} s", watch.seconds());
        let mut catalogs = self.catalogs.borrow_mut();
        Rc::clone(catalogs.entry((offers, apps)).or_insert(catalog))
    }

    /// The same state with [`FACTS`].
    pub fn facts(&self, offers: usize, apps: usize) -> Rc<TempDir> {
        if let Some(known) = self.facts.borrow().get(&(offers, apps)) {
            return Rc::clone(known);
        }
        let watch = Stopwatch::start();
        let signpost = self.signpost(&self.catalog(offers, apps)).start();
        for facts in FACTS {
            let publisher = signpost.publisher(&facts_publisher(facts));
            let rows = |day| many_facts::rows_of(facts, day);
            let csv = |day| many_facts::csv(day, rows(day));
            publisher.put_days(many_facts::DAYS, many_facts::date, csv, rows);
        }
        let state = Rc::new(copy_state(&signpost));
        eprintln!("  {FACTS:?} facts loaded in {:.0} s", watch.seconds());
        let mut all = self.facts.borrow_mut();
        Rc::clone(all.entry((offers, apps)).or_insert(state))
    }

    /// A Signpost on its own copy of this catalog's state. The offers rate limit is off, since it would refuse the
    /// load.
    pub fn signpost(&self, catalog: &Catalog) -> Setup {
        self.config("signpost").state(catalog.state.path()).var("OFFERS_RATE", "0")
    }

    /// The same in the build with the routes of `src/edge/bench.rs`.
    pub fn bench_build(&self, catalog: &Catalog) -> Setup {
        self.config("bench_build").state(catalog.state.path()).var("OFFERS_RATE", "0")
    }

    /// A yardstick by name. To the harness it is a workerd like any other.
    pub fn yardstick(&self, name: &str) -> Setup {
        self.config(name)
    }

    fn config(&self, name: &str) -> Setup {
        let file = self.checkout.join(format!("benches/yardsticks/{name}.capnp"));
        Setup::new().config(file.to_str().expect("a path of UTF-8")).without_api_check()
    }
}

/// Publishes everything. A large catalog takes longer than one request may here.
pub fn publish(signpost: &Signpost) {
    let authorization = format!("Bearer {OPERATOR_TOKEN}");
    let headers = [("Authorization", authorization.as_str())];
    let refresh = || signpost.try_send("POST", "/v1/operator/refresh", &headers, b"");
    let is_published = (0..20).any(|_| refresh().is_ok_and(|answer| answer.status == 200));
    assert!(is_published, "the catalog is not published");
}

/// Copies the state of a stopped Signpost.
fn copy_state(signpost: &Signpost) -> TempDir {
    let state = tempfile::tempdir().expect("a temporary folder");
    signpost.restart_after(|| copy_folder(signpost.state.path(), state.path()));
    state
}

/// A row of throughput. The target is a multiple of the yardstick's.
pub fn throughput(work: &str, target: Option<f64>, ours: &[Load], theirs: &[Load]) -> Row {
    let rates = |loads: &[Load]| -> Vec<f64> { loads.iter().map(|load| load.per_second).collect() };
    let found = estimate(&ratios(&rates(ours), &rates(theirs))).expect("rounds");
    let least_busy = |loads: &[Load]| loads.iter().map(|load| load.busy).fold(f64::INFINITY, f64::min);
    let most_generating = ours.iter().chain(theirs).map(|load| load.generating).fold(0.0, f64::max);
    let cpu_us = |loads: &[Load]| {
        let used: Vec<f64> = loads.iter().map(|load| load.cpu_us).collect();
        estimate(&used).expect("rounds").median
    };
    let server_is_limit = ours.iter().chain(theirs).all(Load::server_is_limit);
    let verdict = match target {
        None => Verdict::Reported,
        Some(_) if !server_is_limit => Verdict::Unproven,
        Some(target) => Verdict::of(found.median >= target),
    };
    Row {
        work: work.to_owned(),
        ours: spread(&rates(ours), per_second),
        yardstick: spread(&rates(theirs), per_second),
        ratio: interval(&found, times),
        target: target.map_or("-".to_owned(), |target| format!("≥ {}", times(target))),
        verdict,
        notes: vec![format!(
            "workerd's thread busy at least {:.0} % and {:.0} % of each run, the generator at most {:.0} %; {:.1} and {:.1} µs \
            of CPU for each request",
            least_busy(ours) * 100.0,
            least_busy(theirs) * 100.0,
            most_generating * 100.0,
            cpu_us(ours),
            cpu_us(theirs)
        )],
    }
}

/// A row of CPU time for each request. The target is a maximum, as a multiple of the yardstick's; the upper end of the
/// interval must not exceed it.
pub fn cpu(work: &str, target: Option<f64>, ours: &[Load], theirs: &[Load]) -> Row {
    let used = |loads: &[Load]| -> Vec<f64> { loads.iter().map(|load| load.cpu_us).collect() };
    let found = estimate(&ratios(&used(ours), &used(theirs))).expect("rounds");
    let rates = |loads: &[Load]| -> Vec<f64> { loads.iter().map(|load| load.per_second).collect() };
    Row {
        work: work.to_owned(),
        ours: spread(&used(ours), microseconds),
        yardstick: spread(&used(theirs), microseconds),
        ratio: interval(&found, times),
        target: target.map_or("-".to_owned(), |target| format!("≤ {}", times(target))),
        verdict: target.map_or(Verdict::Reported, |target| Verdict::of(found.high <= target)),
        notes: vec![format!(
            "CPU time of workerd for each request, until it is idle; {} and {}",
            spread(&rates(ours), per_second),
            spread(&rates(theirs), per_second)
        )],
    }
}

/// The number of requests of a kind that Signpost's own metrics count as answered well.
pub fn answered(signpost: &Signpost, what: &str) -> u64 {
    signpost.metric(&format!("signpost_isolate_answered_total{{what=\"{what}\"}}"))
}

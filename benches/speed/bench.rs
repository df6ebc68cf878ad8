//! What the parts have in common: how many rounds, where files go, states that are made once, and yardsticks.

use std::{cell::RefCell, collections::BTreeMap, path::Path, rc::Rc};

use tempfile::TempDir;

use crate::{
    harness::{Setup, Signpost, copy_folder, root},
    load::Load,
    many_facts, planned,
    stats::{estimate, ratios},
    table::{Row, Verdict, interval, per_second, spread, times},
    time::Stopwatch,
};

/// The fewest of which neither the best nor the worst has to be within the 95 % interval.
const ROUNDS: usize = 9;

/// Lines of a catalog that are imported at a time, so that none takes long.
const IMPORTED: usize = 2_000;
/// How many facts there are, of a publisher each.
pub const FACTS: [usize; 3] = [10_000, 100_000, 1_000_000];

/// The publisher with so many of [`FACTS`].
pub fn facts_publisher(facts: usize) -> String {
    format!("facts-{facts}")
}

pub struct Bench {
    /// How often each pair is measured.
    pub rounds: usize,
    scratch: TempDir,
    catalogs: RefCell<BTreeMap<(usize, usize), Rc<Catalog>>>,
    facts: RefCell<BTreeMap<(usize, usize), Rc<TempDir>>>,
}

/// A state with a catalog that is published.
pub struct Catalog {
    pub state: TempDir,
    pub pub_key: String,
}

impl Bench {
    pub fn new() -> Self {
        let rounds = std::env::var("ROUNDS").ok().filter(|rounds| !rounds.is_empty());
        Self {
            rounds: rounds.map_or(ROUNDS, |rounds| rounds.parse().expect("ROUNDS is a number")),
            scratch: tempfile::tempdir().expect("a temporary folder"),
            catalogs: RefCell::default(),
            facts: RefCell::default(),
        }
    }

    /// For files that go with the run.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The machine, by its cores and memory only.
    pub fn machine(&self) -> String {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kib = memory
            .lines()
            .find_map(|line| {
                line.strip_prefix("MemTotal:")?
                    .trim()
                    .strip_suffix(" kB")?
                    .parse()
                    .ok()
            })
            .unwrap_or(0.0_f64);
        let gib = kib / f64::from(1 << 20);
        format!(
            "{cores} cores, {gib:.0} GiB of memory; medians of {} rounds",
            self.rounds
        )
    }

    /// The state of a made-up catalog of this size, made the first time it is asked for.
    pub fn catalog(&self, offers: usize, apps: usize) -> Rc<Catalog> {
        if let Some(known) = self.catalogs.borrow().get(&(offers, apps)) {
            return Rc::clone(known);
        }
        let watch = Stopwatch::start();
        let signpost = Setup::new().start();
        let catalog = planned::catalog(offers, apps);
        let lines: Vec<&str> = catalog.lines().collect();
        for lines in lines.chunks(IMPORTED) {
            signpost.import(&lines.join("\n")).expect(200);
        }
        let pub_key = signpost.issue_pub_key(planned::PUBLISHER);
        signpost.refresh();
        let state = kept(&signpost);
        let catalog = Rc::new(Catalog { state, pub_key });
        eprintln!(
            "  {offers} offers and {apps} apps loaded in {:.0} s",
            watch.seconds()
        );
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
        let state = Rc::new(kept(&signpost));
        eprintln!("  {FACTS:?} facts loaded in {:.0} s", watch.seconds());
        let mut all = self.facts.borrow_mut();
        Rc::clone(all.entry((offers, apps)).or_insert(state))
    }

    /// A Signpost on a state of its own with this catalog. The offers interface's shield is off: it would refuse the load.
    pub fn signpost(&self, catalog: &Catalog) -> Setup {
        config("signpost")
            .state(catalog.state.path())
            .var("OFFERS_RATE", "0")
    }

    /// A yardstick by its name, which is a workerd as any other to the harness.
    pub fn yardstick(&self, name: &str) -> Setup {
        config(name).undocumented()
    }
}

/// A copy of the state of a Signpost, as it is while that is down.
fn kept(signpost: &Signpost) -> TempDir {
    let state = tempfile::tempdir().expect("a temporary folder");
    signpost.restart_after(|| copy_folder(signpost.state.path(), state.path()));
    state
}

fn config(name: &str) -> Setup {
    let file = root().join(format!("benches/yardsticks/{name}.capnp"));
    Setup::new().config(file.to_str().expect("a path of UTF-8"))
}

/// A row of throughput: ours must be so many times the yardstick's.
pub fn throughput(work: &str, target: Option<f64>, ours: &[Load], theirs: &[Load]) -> Row {
    let rates = |loads: &[Load]| -> Vec<f64> { loads.iter().map(|load| load.per_second).collect() };
    let found = estimate(&ratios(&rates(ours), &rates(theirs))).expect("rounds");
    let least_busy = |loads: &[Load]| loads.iter().map(|load| load.busy).fold(f64::INFINITY, f64::min);
    let most_generating = ours
        .iter()
        .chain(theirs)
        .map(|load| load.generating)
        .fold(0.0, f64::max);
    let cpu_us = |loads: &[Load]| {
        let used: Vec<f64> = loads.iter().map(|load| load.cpu_us).collect();
        estimate(&used).expect("rounds").median
    };
    let is_the_servers = ours.iter().chain(theirs).all(Load::is_the_servers);
    let verdict = match target {
        None => Verdict::Reported,
        Some(_) if !is_the_servers => Verdict::Unproven,
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

/// How many requests of a kind a Signpost has answered well, as it says itself.
pub fn answered(signpost: &Signpost, what: &str) -> u64 {
    signpost.metric(&format!("signpost_isolate_answered_total{{what=\"{what}\"}}"))
}

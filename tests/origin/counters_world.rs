//! One counters object as its shell runs it, clock, alarm and restarts included, with all the ledgers it tells.

use std::collections::BTreeMap;

use signpost::{
    origin::{
        counters::{self, Command},
        database::{Database, DatabaseError},
        forward::{self, Batch, LONGEST_WAIT_MS},
        ledger,
    },
    time::{DAY_MS, MINUTE_MS},
    tracking::batch::ClickSum,
};

use crate::{asked_until_answered, counters::NOON, dump, sqlite::Sqlite};

const SOURCE: &str = "counters-17";
/// By then every batch is due.
const EVER_MS: i64 = 1 << 50;

/// Ledger, and all that a click is reported by.
type Kind = (String, String);
pub type Totals = BTreeMap<Kind, u64>;

fn kind(ledger: &str, clicked: impl std::fmt::Debug) -> Kind {
    (ledger.to_owned(), format!("{clicked:?}"))
}

fn ledger_of(batch: &Batch) -> String {
    ledger::object_name(&counters::publisher(batch).unwrap())
}

/// Of each ledger.
fn clicks(totals: &Totals) -> BTreeMap<String, u64> {
    let mut clicks = BTreeMap::new();
    for ((ledger, _), more) in totals {
        *clicks.entry(ledger.clone()).or_default() += more;
    }
    clicks
}

/// What happens to a batch on its way.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    Told,
    /// It arrived, and the answer did not.
    Lost,
    Down,
    Refused,
}

/// All publishers' ledgers, as `ledger::Command` says they behave.
#[derive(Default)]
pub struct Ledgers {
    highest: BTreeMap<String, u64>,
    pub totals: Totals,
    arrived: Vec<(String, ledger::Command)>,
}

impl Ledgers {
    fn tell(&mut self, name: &str, command: &ledger::Command) {
        let ledger::Command::AddOffers {
            source,
            sequence,
            sums,
        } = command
        else {
            panic!("{command:?}");
        };
        assert_eq!(source, SOURCE);
        let highest = self.highest.entry(name.to_owned()).or_default();
        if sequence <= highest {
            return;
        }
        assert_eq!(*sequence, *highest + 1, "{name} missed a batch");
        *highest = *sequence;
        for sum in sums {
            let of_sum = (&sum.offer, sum.day, sum.app, sum.country, &sum.placement);
            *self.totals.entry(kind(name, of_sum)).or_default() += sum.clicks;
        }
        self.arrived.push((name.to_owned(), command.clone()));
    }
}

/// One alarm and what goes wrong in it.
#[derive(Clone, Debug, Default)]
pub struct Wake {
    /// One for each batch; those beyond the end are told.
    pub answers: Vec<Answer>,
    pub took_ms: i64,
    /// After so many steps the object ends, and all that it only remembers is gone.
    pub cut_off_after: Option<usize>,
    /// Answers come in another order than the batches went.
    pub reversed: bool,
    /// Counted while the ledgers are asked.
    pub meanwhile: Option<Flush>,
}

#[derive(Clone, Debug)]
pub struct Flush {
    pub isolate: usize,
    /// Sent a second time, by an isolate that lost the answer.
    pub repeated: bool,
    pub sums: Vec<ClickSum>,
    /// In so many places the first of them was clicked.
    pub spread: i64,
}

impl Flush {
    fn sums(&self) -> Vec<ClickSum> {
        let spread = (1..self.spread).flat_map(|n| {
            let first = self.sums.first().cloned();
            first.map(|sum| ClickSum {
                placement: Some(n.to_string()),
                ..sum
            })
        });
        self.sums.iter().cloned().chain(spread).collect()
    }
}

/// One object as its shell runs it, with the ledgers it tells.
pub struct World<'a> {
    db: &'a Sqlite,
    pub now_ms: i64,
    pub alarm_ms: Option<i64>,
    pub ledgers: Ledgers,
    sequences: BTreeMap<usize, u64>,
    flushed: Totals,
}

impl<'a> World<'a> {
    pub fn new(db: &'a Sqlite) -> Self {
        Self {
            db,
            now_ms: NOON,
            alarm_ms: None,
            ledgers: Ledgers::default(),
            sequences: BTreeMap::new(),
            flushed: Totals::new(),
        }
    }

    pub fn flush(&mut self, flush: &Flush) {
        let sequence = self.sequences.entry(flush.isolate).or_default();
        *sequence += 1;
        let command = Command::Flush {
            isolate: format!("i{}", flush.isolate),
            sequence: *sequence,
            sums: flush.sums(),
        };
        for _ in 0..=usize::from(flush.repeated) {
            asked_until_answered(|| counters::handle(self.db, self.now_ms, command.clone()));
            let at_ms = counters::alarm_after_command(self.db, self.now_ms)
                .unwrap()
                .unwrap();
            self.alarm_ms = Some(self.alarm_ms.map_or(at_ms, |set_ms| set_ms.min(at_ms)));
        }
        for sum in flush.sums() {
            let name = format!("ledger-{}", sum.publisher);
            let of_sum = (&sum.offer, sum.day, sum.app, sum.country, &sum.placement);
            *self.flushed.entry(kind(&name, of_sum)).or_default() += u64::from(sum.clicks);
        }
    }

    /// As `Shell::wake_async`: re-armed first, and once more when all went well.
    pub fn wake(&mut self, wake: &Wake) {
        self.alarm_ms = Some(self.now_ms + MINUTE_MS);
        if let Ok(Some(next_ms)) = self.work(wake) {
            self.alarm_ms = next_ms;
        }
    }

    /// As `Counters::work`; `None` if it was cut off.
    fn work(&mut self, wake: &Wake) -> Result<Option<Option<i64>>, DatabaseError> {
        let mut steps = 0;
        let mut cut_off = || {
            steps += 1;
            Some(steps) == wake.cut_off_after
        };
        let woken_ms = self.now_ms;
        let sweep_due_ms = counters::alarm(self.db, woken_ms);
        let more = forward::prepare(self.db, woken_ms);
        let mut batches = forward::outstanding(self.db, woken_ms)?;
        if wake.reversed {
            batches.reverse();
        }
        if cut_off() {
            return Ok(None);
        }
        if let Some(flush) = &wake.meanwhile {
            self.flush(flush);
        }
        let mut settled = Ok(());
        let answers = wake
            .answers
            .iter()
            .copied()
            .chain(std::iter::repeat(Answer::Told));
        for (batch, answer) in batches.iter().zip(answers) {
            if !matches!(answer, Answer::Down | Answer::Refused) {
                let command = batch.to_ledger(SOURCE).unwrap();
                self.ledgers.tell(&ledger_of(batch), &command);
            }
            self.now_ms += wake.took_ms;
            if cut_off() {
                return Ok(None);
            }
            settled = settled.and(self.settle(batch, answer));
        }
        settled?;
        if more? || sweep_due_ms?.is_some_and(|due_ms| due_ms <= woken_ms) {
            Ok(Some(Some(self.now_ms)))
        } else {
            counters::next_alarm(self.db, self.now_ms).map(Some)
        }
    }

    fn settle(&self, batch: &Batch, answer: Answer) -> Result<(), DatabaseError> {
        match answer {
            Answer::Told => forward::acknowledge(self.db, batch),
            Answer::Lost | Answer::Down => forward::failed(self.db, batch, self.now_ms),
            Answer::Refused => forward::refused(self.db, batch, self.now_ms),
        }
    }

    /// A batch arrives once more, from an attempt that was given up.
    pub fn straggle(&mut self, n: usize) {
        let count = self.ledgers.arrived.len().max(1);
        if let Some((name, command)) = self.ledgers.arrived.get(n % count).cloned() {
            self.ledgers.tell(&name, &command);
        }
    }

    /// What must hold after every step.
    pub fn check(&self) {
        let mut found = clicks(&self.ledgers.totals);
        let mut waits = false;
        let waiting = "SELECT 'ledger-' || destination, SUM(clicks) FROM traffic GROUP BY destination";
        for row in self.db.query(waiting, &[]).unwrap() {
            *found.entry(row.text(0).unwrap().to_owned()).or_default() +=
                u64::try_from(row.integer(1).unwrap()).unwrap();
            waits = true;
        }
        for batch in forward::outstanding(self.db, EVER_MS).unwrap() {
            waits = true;
            let ledger::Command::AddOffers { sequence, sums, .. } = batch.to_ledger(SOURCE).unwrap() else {
                panic!("not a batch");
            };
            let name = ledger_of(&batch);
            if sequence > self.ledgers.highest.get(&name).copied().unwrap_or(0) {
                *found.entry(name).or_default() += sums.iter().map(|sum| sum.clicks).sum::<u64>();
            }
        }
        assert_eq!(found, clicks(&self.flushed));
        if waits {
            let latest_ms = self.now_ms + LONGEST_WAIT_MS;
            assert!(
                self.alarm_ms.is_some_and(|at_ms| at_ms <= latest_ms),
                "{:?} at {}",
                self.alarm_ms,
                self.now_ms
            );
        }
    }

    /// All is well again: alarms as they are set, until only the sweep of another day is left to do.
    pub fn settle_down(&mut self) {
        for _ in 0..100 {
            match self.alarm_ms {
                Some(at_ms) if at_ms < self.now_ms + DAY_MS / 2 => {
                    self.now_ms = self.now_ms.max(at_ms);
                    self.wake(&Wake::default());
                    self.check();
                }
                _ => {
                    assert_eq!(dump(self.db, "traffic"), []);
                    assert_eq!(forward::outstanding(self.db, EVER_MS), Ok(vec![]));
                    assert_eq!(self.ledgers.totals, self.flushed);
                    return;
                }
            }
        }
        panic!("the alarms never end");
    }
}

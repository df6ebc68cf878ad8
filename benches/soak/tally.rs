//! Answers by kind: how often each status, and latencies in buckets that can be added up.

use std::{array, collections::BTreeMap, fmt::Write};

use crate::mix::Kind;

/// Buckets for each doubling of a microsecond. A reported latency is at most 1/16 too large.
const FINE: usize = 16;
const BUCKETS: usize = 28 * FINE;

/// A histogram of latencies.
#[derive(Clone)]
pub struct Times {
    buckets: Vec<u64>,
    max_us: u64,
}

impl Default for Times {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS], max_us: 0 }
    }
}

impl Times {
    pub fn record(&mut self, us: u64) {
        let us = us.max(FINE as u64);
        let doublings = us.ilog2() as usize;
        let fine = (us >> (doublings - 4)) as usize - FINE;
        self.buckets[((doublings - 4) * FINE + fine).min(BUCKETS - 1)] += 1;
        self.max_us = self.max_us.max(us);
    }

    fn add(&mut self, other: &Self) {
        for (own, other) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += other;
        }
        self.max_us = self.max_us.max(other.max_us);
    }

    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The latency in milliseconds within which this share was answered.
    pub fn quantile(&self, share: f64) -> f64 {
        let rank = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (at, n) in self.buckets.iter().enumerate() {
            seen += n;
            if seen >= rank.max(1) {
                let us = ((FINE + at % FINE + 1) << (at / FINE)) as f64;
                return us.min(self.max_us as f64) / 1e3;
            }
        }
        0.0
    }

    /// The usual quantiles as text.
    pub fn summary(&self) -> String {
        format!(
            "p50 {:.1} ms, p99 {:.1} ms, p99.9 {:.1} ms, max {:.1} ms",
            self.quantile(0.5),
            self.quantile(0.99),
            self.quantile(0.999),
            self.max()
        )
    }

    fn max(&self) -> f64 {
        self.max_us as f64 / 1e3
    }
}

/// The results of one kind of request.
#[derive(Clone, Default)]
pub struct Answers {
    pub times: Times,
    /// Latencies from the sending, whatever the answer. `times` counts from the scheduled time.
    pub latencies: Times,
    /// Latencies of requests that were shed with 429 or 503.
    pub shed_latencies: Times,
    /// Counts by status and code; status 0 means no answer.
    pub statuses: BTreeMap<(u16, String), u64>,
}

impl Answers {
    pub fn sent(&self) -> u64 {
        self.statuses.values().sum()
    }

    pub fn shed(&self) -> u64 {
        let shed = self.statuses.iter().filter(|((status, _), _)| is_shed(*status));
        shed.map(|(_, n)| n).sum()
    }

    pub fn unanswered(&self) -> u64 {
        let none = self.statuses.iter().filter(|((status, _), _)| *status == 0);
        none.map(|(_, n)| n).sum()
    }

    /// Requests with a documented answer, including documented refusals.
    pub fn served(&self) -> u64 {
        self.sent() - self.shed() - self.unanswered()
    }
}

pub fn is_shed(status: u16) -> bool {
    matches!(status, 429 | 503)
}

/// The results of all kinds.
#[derive(Clone)]
pub struct Tally([Answers; Kind::ALL.len()]);

impl Default for Tally {
    fn default() -> Self {
        Self(array::from_fn(|_| Answers::default()))
    }
}

impl Tally {
    /// Records an answer `latency_us` after the sending, which was `late_us` behind its schedule.
    pub fn record(&mut self, kind: Kind, status: u16, code: &str, latency_us: u64, late_us: u64) {
        let answers = &mut self.0[kind as usize];
        match answers.statuses.get_mut(&(status, code.to_owned())) {
            Some(n) => *n += 1,
            None => {
                answers.statuses.insert((status, code.to_owned()), 1);
            }
        }
        answers.latencies.record(latency_us);
        // A shed request counts from its sending, since Signpost could not answer it before.
        if is_shed(status) {
            answers.shed_latencies.record(latency_us);
        } else {
            answers.times.record(latency_us + late_us);
        }
    }

    pub fn add(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            own.times.add(&other.times);
            own.latencies.add(&other.latencies);
            own.shed_latencies.add(&other.shed_latencies);
            for (status, n) in &other.statuses {
                *own.statuses.entry(status.clone()).or_default() += n;
            }
        }
    }

    pub fn of(&self, kind: Kind) -> &Answers {
        &self.0[kind as usize]
    }

    pub fn sent(&self) -> u64 {
        self.0.iter().map(Answers::sent).sum()
    }

    pub fn served(&self) -> u64 {
        self.0.iter().map(Answers::served).sum()
    }

    pub fn shed(&self) -> u64 {
        self.0.iter().map(Answers::shed).sum()
    }

    pub fn unanswered(&self) -> u64 {
        self.0.iter().map(Answers::unanswered).sum()
    }

    /// The latencies of all kinds together.
    pub fn times(&self) -> Times {
        self.together(|answers| &answers.times)
    }

    pub fn latencies(&self) -> Times {
        self.together(|answers| &answers.latencies)
    }

    pub fn shed_latencies(&self) -> Times {
        self.together(|answers| &answers.shed_latencies)
    }

    fn together(&self, of: fn(&Answers) -> &Times) -> Times {
        let mut all = Times::default();
        self.0.iter().for_each(|answers| all.add(of(answers)));
        all
    }

    /// A table of a run of so many seconds.
    pub fn table(&self, seconds: f64) -> String {
        let mut text = "| kind | requests | a second | p50 ms | p99 | p99.9 | max | answers |\n|---|---|---|---|---|---|---|---|\n"
            .to_owned();
        let rows = Kind::ALL.iter().map(|kind| (kind.name(), self.of(*kind)));
        for (name, answers) in rows.filter(|(_, answers)| answers.sent() > 0) {
            let times = &answers.times;
            let statuses: Vec<_> = answers
                .statuses
                .iter()
                .map(|((status, code), n)| match status {
                    0 => format!("{n} × no answer ({code})"),
                    _ => format!("{n} × {status} {code}").trim_end().to_owned(),
                })
                .collect();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "| {name} | {} | {:.1} | {:.2} | {:.2} | {:.2} | {:.2} | {} |",
                answers.sent(),
                answers.sent() as f64 / seconds,
                times.quantile(0.5),
                times.quantile(0.99),
                times.quantile(0.999),
                times.max(),
                statuses.join(", ")
            );
        }
        text
    }
}

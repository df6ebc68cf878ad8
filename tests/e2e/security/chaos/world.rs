//! The shared state of all clients of the chaos test: the Signpost that is killed repeatedly, the times of its kills,
//! and counts of the outcomes of requests.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::harness::{Answer, OPERATOR_TOKEN, REPORT, Receiver, Signpost, now_ms};
use domain::model::time::SECOND_MS;

/// How long a client repeats a request in doubt, in milliseconds. Each attempt may be interrupted by the next kill.
const PATIENCE_MS: i64 = 60 * SECOND_MS;

/// The outcome of a request as its client knows it.
pub enum Outcome {
    Done(Answer),
    Refused(Answer),
    /// The request may or may not have been carried out.
    Doubt(String),
}

/// Counts of outcomes of one kind of request.
#[derive(Clone, Copy, Default)]
struct Tally {
    done: u64,
    refused: u64,
    lost: u64,
    unserved: u64,
}

/// A request's body, its media type and encoding, and one more header.
#[derive(Default)]
pub struct Sent<'r> {
    pub media_type: Option<&'r str>,
    pub header: Option<(&'r str, &'r str)>,
    pub gzip: bool,
    pub body: &'r [u8],
}

pub struct World<'s> {
    pub signpost: &'s Signpost,
    pub receiver: &'s Receiver,
    /// The number of the current life of workerd, from 0.
    life: AtomicUsize,
    stopped: AtomicBool,
    /// When each life ended, in milliseconds since 1970.
    ends: Mutex<Vec<i64>>,
    tallies: Mutex<BTreeMap<&'static str, Tally>>,
}

impl<'s> World<'s> {
    pub fn new(signpost: &'s Signpost, receiver: &'s Receiver) -> Self {
        Self {
            signpost,
            receiver,
            life: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            ends: Mutex::default(),
            tallies: Mutex::default(),
        }
    }

    pub fn kill(&self) {
        self.signpost.restart_after(|| self.ends.lock().unwrap().push(now_ms()));
        self.life.fetch_add(1, Ordering::SeqCst);
    }

    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    pub fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    pub fn life(&self) -> usize {
        self.life.load(Ordering::SeqCst)
    }

    /// When a life ended, or `None` for the current one.
    pub fn end_of(&self, life: usize) -> Option<i64> {
        self.ends.lock().unwrap().get(life).copied()
    }

    fn count(&self, kind: &'static str, count: impl FnOnce(&mut Tally)) {
        count(self.tallies.lock().unwrap().entry(kind).or_default());
    }

    /// Sends a request once.
    pub fn attempt(&self, kind: &'static str, method: &str, path: &str, sent: &Sent<'_>) -> Outcome {
        let authorization = format!("Bearer {OPERATOR_TOKEN}");
        let mut headers = Vec::new();
        if path.starts_with("/v1/operator/") {
            headers.push(("Authorization", authorization.as_str()));
        }
        headers.extend(sent.media_type.map(|media_type| ("Content-Type", media_type)));
        headers.extend(sent.header);
        if sent.gzip {
            headers.push(("Content-Encoding", "gzip"));
        }
        let outcome = loop {
            match self.signpost.try_send(method, path, &headers, sent.body) {
                // workerd did not receive the request, so it is not in doubt.
                Err(problem) if problem.contains("Connection refused") && !self.has_stopped() => {
                    thread::sleep(Duration::from_millis(5))
                }
                outcome => break outcome,
            }
        };
        match outcome {
            Err(problem) => {
                self.count(kind, |tally| tally.lost += 1);
                Outcome::Doubt(problem)
            }
            Ok(answer) if answer.status >= 500 => {
                self.count(kind, |tally| tally.unserved += 1);
                thread::sleep(Duration::from_millis(20));
                Outcome::Doubt(format!("{answer:?}"))
            }
            Ok(answer) if answer.status >= 400 => {
                self.count(kind, |tally| tally.refused += 1);
                Outcome::Refused(answer)
            }
            Ok(answer) => {
                self.count(kind, |tally| tally.done += 1);
                Outcome::Done(answer)
            }
        }
    }

    /// Sends a request until there is a conclusive answer.
    #[track_caller]
    pub fn until_answered(&self, kind: &'static str, method: &str, path: &str, sent: &Sent<'_>) -> Answer {
        let until_ms = now_ms() + PATIENCE_MS;
        loop {
            match self.attempt(kind, method, path, sent) {
                Outcome::Done(answer) | Outcome::Refused(answer) => return answer,
                Outcome::Doubt(problem) => assert!(now_ms() < until_ms, "still in doubt: {problem}"),
            }
        }
    }

    /// Calls `ask` until it returns a value. For use after the last kill.
    #[track_caller]
    pub fn until_known<T>(&self, ask: impl Fn() -> Option<T>) -> T {
        let until_ms = now_ms() + PATIENCE_MS;
        loop {
            if let Some(value) = ask() {
                return value;
            }
            assert!(now_ms() < until_ms, "no answer, although workerd was not killed");
        }
    }

    /// Reads a resource, or returns `None` if the answer was lost.
    pub fn read(&self, path: &str) -> Option<Answer> {
        match self.attempt("read back", "GET", path, &Sent::default()) {
            Outcome::Done(answer) | Outcome::Refused(answer) => Some(answer),
            Outcome::Doubt(_) => None,
        }
    }

    /// Requests a report once, or returns `None` if the answer was lost.
    pub fn report(&self, api_key: &str, query: &Value) -> Option<Answer> {
        let body = query.to_string();
        let sent = Sent {
            media_type: Some("application/json"),
            header: Some(("X-Api-Key", api_key)),
            body: body.as_bytes(),
            ..Sent::default()
        };
        match self.attempt("report", "POST", REPORT, &sent) {
            Outcome::Done(answer) | Outcome::Refused(answer) => Some(answer),
            Outcome::Doubt(_) => None,
        }
    }

    /// The outcomes of all requests, as a table.
    pub fn summary(&self) -> String {
        let mut text = format!("{:24}{:>14}{:>10}{:>10}{:>6}\n", "", "acknowledged", "refused", "in doubt", "5xx");
        for (kind, tally) in &*self.tallies.lock().unwrap() {
            let Tally { done, refused, lost, unserved } = tally;
            let _ = writeln!(text, "{kind:24}{done:>14}{refused:>10}{lost:>10}{unserved:>6}");
        }
        text
    }
}

/// A client that uses Signpost and records what was acknowledged.
pub trait Client: Send {
    /// Sends one request or a few.
    fn step(&mut self);

    /// Checks one acknowledged result right after a restart.
    fn look(&mut self) {}

    /// Checks everything that was acknowledged, after the last kill. Returns the number of promises checked, without
    /// requests that were refused or in doubt.
    fn verify(&mut self) -> usize;
}

/// Runs a client until the world stops.
pub fn run(world: &World<'_>, client: &mut dyn Client) {
    let mut life = world.life();
    while !world.has_stopped() {
        if world.life() != life {
            life = world.life();
            client.look();
        }
        client.step();
    }
}

//! What all clients of the chaos test have in common: the one Signpost that is killed again and again, how often it was,
//! and what became of each request.

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

/// How long a client repeats what is in doubt. Each repeat takes its chance with the next kill.
const PATIENCE_MS: i64 = 60 * SECOND_MS;

/// What a client knows of a request that it sent.
pub enum Outcome {
    Done(Answer),
    Refused(Answer),
    /// It may have been carried out, or not.
    Doubt(String),
}

/// What became of the requests of one kind.
#[derive(Clone, Copy, Default)]
struct Tally {
    done: u64,
    refused: u64,
    cut: u64,
    unserved: u64,
}

/// A request's body, its kind, and a header of its own.
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
    /// Counts the lives of workerd, from 0.
    life: AtomicUsize,
    stopped: AtomicBool,
    /// When each life ended.
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
        self.signpost
            .restart_after(|| self.ends.lock().unwrap().push(now_ms()));
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

    /// When a life ended; none of the one that goes on.
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
                // Nobody was there to receive it, so nothing of it is in doubt.
                Err(problem) if problem.contains("Connection refused") => {
                    thread::sleep(Duration::from_millis(5))
                }
                outcome => break outcome,
            }
        };
        match outcome {
            Err(problem) => {
                self.count(kind, |tally| tally.cut += 1);
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

    /// Sends it until there is an answer that says what became of it.
    #[track_caller]
    pub fn until_told(&self, kind: &'static str, method: &str, path: &str, sent: &Sent<'_>) -> Answer {
        let until_ms = now_ms() + PATIENCE_MS;
        loop {
            match self.attempt(kind, method, path, sent) {
                Outcome::Done(answer) | Outcome::Refused(answer) => return answer,
                Outcome::Doubt(problem) => assert!(now_ms() < until_ms, "no end of it: {problem}"),
            }
        }
    }

    /// Asks for something again until it is told, since nobody kills workerd any more.
    #[track_caller]
    pub fn until_known<T>(&self, ask: impl Fn() -> Option<T>) -> T {
        let until_ms = now_ms() + PATIENCE_MS;
        loop {
            if let Some(told) = ask() {
                return told;
            }
            assert!(now_ms() < until_ms, "nobody answers, although nobody is killed");
        }
    }

    /// Reads something, or not if the connection is cut.
    pub fn read(&self, path: &str) -> Option<Answer> {
        match self.attempt("read back", "GET", path, &Sent::default()) {
            Outcome::Done(answer) | Outcome::Refused(answer) => Some(answer),
            Outcome::Doubt(_) => None,
        }
    }

    /// Asks for a report once.
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

    /// What became of all requests, as a table.
    pub fn summary(&self) -> String {
        let mut text = format!(
            "{:24}{:>14}{:>10}{:>10}{:>6}\n",
            "", "acknowledged", "refused", "in doubt", "5xx"
        );
        for (kind, tally) in &*self.tallies.lock().unwrap() {
            let Tally {
                done,
                refused,
                cut,
                unserved,
            } = tally;
            let _ = writeln!(text, "{kind:24}{done:>14}{refused:>10}{cut:>10}{unserved:>6}");
        }
        text
    }
}

/// One who uses Signpost, and remembers what it was promised.
pub trait Client: Send {
    /// Sends something.
    fn step(&mut self);

    /// Looks, right after a restart, whether something that was promised still holds.
    fn look(&mut self) {}

    /// Checks all that was promised, when workerd is no longer killed. Returns how many promises that were: what was
    /// acknowledged and has to hold, and nothing that was refused or is in doubt.
    fn verify(&mut self) -> usize;
}

/// Sends until the world stops.
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

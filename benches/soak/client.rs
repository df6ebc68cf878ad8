//! A client with a connection of its own. It repeats requests without a known outcome, which were shed or not
//! answered, after the load.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use crate::{
    book::Sums,
    harness::{Answer, Raw, now_ms},
    mix::{About, Kind, Request},
    random::Random,
    requests,
    tally::{Tally, is_shed},
    time::Stopwatch,
    world::{self, DAYS, ROWS, WALLS, World},
};

/// The time between two requests with one report key, and between two refreshes by the operator.
const REST_MS: i64 = 2_050;
const REFRESH_MS: i64 = 10_000;

/// Whether a request may be shed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Load {
    Bearable,
    TooMuch,
}

/// A request whose outcome is unknown.
struct Unresolved {
    kind: Kind,
    request: Request,
    facts: Option<Upload>,
}

#[derive(Clone, Copy)]
struct Upload {
    replaces: bool,
    sums: Sums,
}

pub struct Client<'w> {
    world: &'w World,
    number: usize,
    random: Random,
    /// The kept connection, and since when it is idle.
    connection: Option<(Raw, Stopwatch)>,
    /// The answers since the last `take_tallies`.
    pub tally: Arc<Mutex<Tally>>,
    /// Undocumented answers, to be printed.
    pub wrong: Vec<String>,
    unresolved: Vec<Unresolved>,
    /// The acknowledged facts of the day that only this client loads.
    pub facts: Sums,
}

static REFRESHED_MS: AtomicI64 = AtomicI64::new(0);
static SEEDS: AtomicUsize = AtomicUsize::new(1_000);
/// How long an idle connection is kept, in seconds.
const IDLE_S: f64 = 3.0;
/// The number of kept connections that were found closed.
pub static CLOSED: AtomicUsize = AtomicUsize::new(0);
/// The number of wrong answers that a client stores.
const SHOWN: usize = 3;

impl<'w> Client<'w> {
    pub fn new(world: &'w World, number: usize) -> Self {
        // The facts that the day held before count as this client's.
        let facts = day_of(number).map_or_else(Sums::default, |(_, day)| world::csv(None, day, ROWS).1);
        Self {
            world,
            number,
            random: Random(number as u64),
            connection: None,
            tally: Arc::default(),
            wrong: Vec::new(),
            unresolved: Vec::new(),
            facts,
        }
    }

    /// Sends the next request. `late_us` is its delay in microseconds.
    pub fn step(&mut self, load: Load, late_us: u64) {
        let now = now_ms();
        let refreshed = REFRESHED_MS.load(Ordering::Relaxed);
        let is_first = || REFRESHED_MS.compare_exchange(refreshed, now, Ordering::Relaxed, Ordering::Relaxed);
        if now - refreshed > REFRESH_MS && is_first().is_ok() {
            return self.send(Kind::Refresh, load, late_us);
        }
        let kind = Kind::pick(&mut self.random);
        self.send(kind, load, late_us);
    }

    /// Sends a request of this kind.
    pub fn send(&mut self, kind: Kind, load: Load, late_us: u64) {
        match kind {
            Kind::Report => self.report(load, late_us),
            Kind::Facts => self.upload(load, late_us),
            kind => match requests::request(self.world, kind, &mut self.random) {
                Some(request) => self.perform(kind, request, None, load, late_us),
                None => self.send(Kind::Click, load, late_us),
            },
        }
    }

    fn report(&mut self, load: Load, late_us: u64) {
        let rested = self.world.report_keys.lock().expect("keys").pop_front();
        let Some((from_ms, key)) = rested else {
            return self.send(Kind::Click, load, late_us);
        };
        // A key used too early is refused, which is a documented answer too.
        if from_ms > now_ms() && !self.random.next().is_multiple_of(20) {
            self.world.report_keys.lock().expect("keys").push_front((from_ms, key));
            return self.send(Kind::Click, load, late_us);
        }
        let request = requests::report(self.world, &key.api_key, &mut self.random);
        self.perform(Kind::Report, request, None, load, late_us);
        let rested = (now_ms() + REST_MS, key);
        self.world.report_keys.lock().expect("keys").push_back(rested);
    }

    /// The first clients load a day each; the others add to a shared day that only grows.
    fn upload(&mut self, load: Load, late_us: u64) {
        // While the last upload is unresolved, another one would have an unknown effect.
        if let Some(at) = self.unresolved.iter().position(|unresolved| unresolved.facts.is_some()) {
            let Unresolved { kind, request, facts } = self.unresolved.swap_remove(at);
            return self.perform(kind, request, facts, load, late_us);
        }
        let own = day_of(self.number);
        let replaces = own.is_some() && self.random.below(2) == 0;
        let (seller, day) = own.unwrap_or((self.number % WALLS, DAYS));
        let seed = SEEDS.fetch_add(1, Ordering::Relaxed);
        let (request, sums) = requests::facts(self.world, seller, day, replaces, seed);
        self.perform(Kind::Facts, request, Some(Upload { replaces, sums }), load, late_us);
    }

    fn perform(&mut self, kind: Kind, request: Request, facts: Option<Upload>, load: Load, late_us: u64) {
        let watch = Stopwatch::start();
        let answered = self.exchange(&request);
        let latency_us = (watch.seconds() * 1e6) as u64;
        match answered {
            Ok(answer) => {
                let code = code_of(&answer);
                self.record(kind, answer.status, &code, latency_us, late_us);
                let stated = request.stated.contains(&(answer.status, &code));
                let shed = load == Load::TooMuch
                    && is_shed(answer.status)
                    && answer.header("Retry-After").is_some()
                    && matches!(code.as_str(), "unavailable" | "rate_limit_exceeded");
                if !stated && !shed && self.wrong.len() < SHOWN {
                    self.wrong.push(format!("{}: {answer:?}", kind.name()));
                }
                self.record_answer(kind, request, facts, &answer);
            }
            Err(error) => {
                self.record(kind, 0, &error, latency_us, late_us);
                if self.wrong.len() < SHOWN {
                    self.wrong.push(format!("{}: {error}", kind.name()));
                }
                if let About::Click(publisher) = &request.about {
                    self.world.book.clicked(publisher, false);
                }
                self.record_unresolved(kind, request, facts);
            }
        }
    }

    fn record(&self, kind: Kind, status: u16, code: &str, latency_us: u64, late_us: u64) {
        let mut tally = self.tally.lock().expect("a tally");
        tally.record(kind, status, code, latency_us, late_us);
    }

    /// Uses the kept connection, which checks each answer against `openapi.yaml`. workerd closes a connection that
    /// was idle for five seconds; a request that finds it closed is sent again on a new one, as HTTP clients do.
    fn exchange(&mut self, request: &Request) -> Result<Answer, String> {
        if let Some((mut idle, last)) = self.connection.take()
            && last.seconds() < IDLE_S
        {
            match idle.exchange(&request.text) {
                Ok(answer) => return Ok(self.keep(idle, answer)),
                Err(error) if !is_closed(&error) => return Err(error.to_string()),
                Err(_) => self.record_closed(&request.about),
            }
        }
        let connected = self.world.signpost.try_raw();
        let mut connection = connected.map_err(|error| format!("connecting: {error}"))?;
        let answer = connection.exchange(&request.text);
        let answer = answer.map_err(|error| error.to_string())?;
        Ok(self.keep(connection, answer))
    }

    /// Counts a closed connection. The request's outcome is unknown.
    fn record_closed(&self, about: &About) {
        CLOSED.fetch_add(1, Ordering::Relaxed);
        if let About::Click(publisher) = about {
            self.world.book.clicked(publisher, false);
        }
    }

    fn keep(&mut self, connection: Raw, answer: Answer) -> Answer {
        self.connection = Some((connection, Stopwatch::start()));
        answer
    }

    fn record_answer(&mut self, kind: Kind, request: Request, facts: Option<Upload>, answer: &Answer) {
        let book = &self.world.book;
        match (&request.about, answer.status) {
            (About::Click(publisher), 302) => book.clicked(publisher, true),
            (About::Conversion(paid), 200) => {
                let sent = String::from_utf8_lossy(&request.text);
                book.pay(&transaction(answer), *paid, &sent);
            }
            (About::Repeat(before), 200) if transaction(answer) != *before => {
                book.contradict(format!("{before} is now {answer:?}"));
            }
            (_, 200) => {
                if let Some(Upload { replaces, sums }) = facts {
                    self.facts = if replaces { sums } else { self.facts.plus(sums) };
                }
            }
            (_, status) if status >= 500 => self.record_unresolved(kind, request, facts),
            _ => {}
        }
    }

    /// Conversions and facts may have taken effect.
    fn record_unresolved(&mut self, kind: Kind, request: Request, facts: Option<Upload>) {
        if facts.is_some() || matches!(request.about, About::Conversion(_)) {
            self.unresolved.push(Unresolved { kind, request, facts });
        }
    }

    /// Repeats unresolved requests with pauses, and returns how many stay unresolved.
    pub fn settle(&mut self) -> usize {
        for _ in 0..5 {
            for Unresolved { kind, request, facts } in std::mem::take(&mut self.unresolved) {
                self.perform(kind, request, facts, Load::TooMuch, 0);
            }
            if self.unresolved.is_empty() {
                break;
            }
            thread::sleep(Duration::from_secs(1));
        }
        self.unresolved.len()
    }
}

/// The seller and the day that only this client loads.
fn day_of(number: usize) -> Option<(usize, usize)> {
    let day = number / WALLS;
    (day < DAYS / 2).then_some((number % WALLS, day))
}

/// Whether the peer closed the connection before it answered.
fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

fn transaction(answer: &Answer) -> String {
    answer.json()["transaction_id"].as_str().unwrap_or("none").to_owned()
}

/// The `code` of an error, found without parsing the whole body.
fn code_of(answer: &Answer) -> String {
    if answer.status < 400 {
        return String::new();
    }
    let code = answer.body.split_once("\"code\":\"");
    let code = code.and_then(|(_, rest)| rest.split_once('"'));
    code.map_or_else(|| "no code".to_owned(), |(code, _)| code.to_owned())
}

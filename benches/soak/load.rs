//! Load generation: clients that each wait for their answer, or arrivals at a fixed rate whether they are answered or
//! not.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use crate::{
    client::{Client, Load},
    mix::Kind,
    tally::Tally,
    threads::{Threads, own_ran_s},
    time::Stopwatch,
    world::World,
};

/// A client's thread needs almost no stack.
const STACK: usize = 512 << 10;
/// The delay from which an arrival counts as late, in seconds.
const LATE_S: f64 = 0.005;

/// The result of a run.
pub struct Run {
    pub tally: Tally,
    pub seconds: f64,
    /// Shares of one core: workerd's busiest thread running or ready to run, and all clients running.
    pub busy: f64,
    pub generating: f64,
    /// The CPU time of all workerd threads for each request, in microseconds.
    pub cpu_us: f64,
}

impl Run {
    pub fn per_second(&self) -> f64 {
        self.tally.served() as f64 / self.seconds
    }

    pub fn summary(&self) -> String {
        format!(
            "{:.0} requests a second, of which {:.0} served, for {:.0} µs of CPU each; workerd's thread busy {:.0} %, the \
             clients {:.0} % of a core",
            self.tally.sent() as f64 / self.seconds,
            self.per_second(),
            self.cpu_us,
            self.busy * 100.0,
            self.generating * 100.0
        )
    }
}

fn take_tallies(tallies: &[std::sync::Arc<Mutex<Tally>>]) -> Tally {
    let mut all = Tally::default();
    for tally in tallies {
        all.add(&std::mem::take(&mut *tally.lock().expect("a tally")));
    }
    all
}

/// Runs all clients in threads: each repeats `step` until it returns false.
fn run(world: &World, clients: &mut [Client<'_>], step: impl Fn(&mut Client<'_>, f64) -> bool + Sync) -> Run {
    let tallies: Vec<_> = clients.iter().map(|client| client.tally.clone()).collect();
    drop(take_tallies(&tallies));
    let (threads, ran_s) = (Threads::of(world.signpost.process()), own_ran_s());
    let (watch, step) = (Stopwatch::start(), &step);
    thread::scope(|scope| {
        for client in clients {
            let watch = &watch;
            let started = thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, move || while step(client, watch.seconds()) {});
            started.expect("a thread");
        }
    });
    // Includes the requests in flight at the end.
    let seconds = watch.seconds();
    let threads = Threads::of(world.signpost.process()).since(&threads);
    let tally = take_tallies(&tallies);
    Run {
        cpu_us: threads.ran_s() * 1e6 / tally.sent().max(1) as f64,
        tally,
        seconds,
        busy: threads.busiest_s() / seconds,
        generating: (own_ran_s() - ran_s) / seconds,
    }
}

/// Closed loop: each client sends its next request when it has its answer.
pub fn closed(world: &World, clients: &mut [Client<'_>], seconds: f64) -> Run {
    run(world, clients, |client, now| {
        client.step(Load::Bearable, 0);
        now < seconds
    })
}

/// Opens each client's connection before the overload, like a proxy that keeps its connections: a thousand
/// connections opened at once are not part of the test.
pub fn connect(world: &World, clients: &mut [Client<'_>]) {
    run(world, clients, |client, _| {
        client.send(Kind::Click, Load::TooMuch, 0);
        false
    });
}

/// Open loop: arrivals at a rate, each sent by the next free client. Also returns the share of late arrivals.
pub fn open(world: &World, clients: &mut [Client<'_>], per_second: f64, seconds: f64) -> (Run, f64) {
    let (next, late) = (AtomicU64::new(0), AtomicU64::new(0));
    let step = |client: &mut Client<'_>, now: f64| {
        let due = next.fetch_add(1, Ordering::Relaxed) as f64 / per_second;
        if due >= seconds {
            return false;
        }
        if now < due {
            thread::sleep(Duration::from_secs_f64(due - now));
        } else if now > due + LATE_S {
            late.fetch_add(1, Ordering::Relaxed);
        }
        let late_us = ((now - due).max(0.0) * 1e6) as u64;
        client.step(Load::TooMuch, late_us);
        true
    };
    let run = run(world, clients, step);
    let all = (per_second * seconds).max(1.0);
    (run, late.into_inner() as f64 / all)
}

/// The latencies of a single client, in milliseconds, and how many of its requests were shed.
#[derive(Clone, Copy)]
pub struct Light {
    pub median_ms: f64,
    pub p99_ms: f64,
    pub shed: u64,
}

/// Measures user-facing requests of a single client for some seconds.
pub fn light(client: &mut Client<'_>, seconds: f64) -> Light {
    let watch = Stopwatch::start();
    drop(take_tallies(std::slice::from_ref(&client.tally)));
    while watch.seconds() < seconds {
        for kind in [Kind::Click, Kind::NewPage, Kind::Conversion] {
            client.send(kind, Load::TooMuch, 0);
        }
        thread::sleep(Duration::from_millis(5));
    }
    let tally = take_tallies(std::slice::from_ref(&client.tally));
    let times = tally.times();
    Light { median_ms: times.quantile(0.5), p99_ms: times.quantile(0.99), shed: tally.shed() }
}

//! The load: as much as is answered by a number of clients that wait for each answer, or arrivals at a rate whether they are
//! answered or not.

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

/// A client's thread has next to nothing on its stack.
const STACK: usize = 512 << 10;
/// What an arrival may be late before it counts so.
const LATE_S: f64 = 0.005;

/// What a stretch of load came to.
pub struct Run {
    pub tally: Tally,
    pub seconds: f64,
    /// The share in which workerd's busiest thread ran or was ready to, and in which the clients ran, of one core.
    pub busy: f64,
    pub generating: f64,
    /// Of workerd, all threads, for each request.
    pub cpu_us: f64,
}

impl Run {
    pub fn per_second(&self) -> f64 {
        self.tally.served() as f64 / self.seconds
    }

    pub fn told(&self) -> String {
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

fn taken(tallies: &[std::sync::Arc<Mutex<Tally>>]) -> Tally {
    let mut all = Tally::default();
    for tally in tallies {
        all.add(&std::mem::take(&mut *tally.lock().expect("a tally")));
    }
    all
}

/// Sees a stretch of load through: `step` is what each client does again and again until it says that it is over.
fn run(world: &World, clients: &mut [Client<'_>], step: impl Fn(&mut Client<'_>, f64) -> bool + Sync) -> Run {
    let tallies: Vec<_> = clients.iter().map(|client| client.tally.clone()).collect();
    drop(taken(&tallies));
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
    // With what was still to be answered at the end.
    let seconds = watch.seconds();
    let threads = Threads::of(world.signpost.process()).since(&threads);
    let tally = taken(&tallies);
    Run {
        cpu_us: threads.ran_s() * 1e6 / tally.sent().max(1) as f64,
        tally,
        seconds,
        busy: threads.busiest_s() / seconds,
        generating: (own_ran_s() - ran_s) / seconds,
    }
}

/// Each client sends its next request as soon as it has its answer.
pub fn closed(world: &World, clients: &mut [Client<'_>], seconds: f64) -> Run {
    run(world, clients, |client, now| {
        client.step(Load::Bearable, 0);
        now < seconds
    })
}

/// Has each client open its connection before there is too much load, as behind a proxy that keeps its connections: a
/// thousand that come at once are not what is to be looked at.
pub fn connect(world: &World, clients: &mut [Client<'_>]) {
    run(world, clients, |client, _| {
        client.send(Kind::Click, Load::TooMuch, 0);
        false
    });
}

/// Arrivals at a rate, each taken by the next client that is free; and the share of them that found none in time.
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

/// What a single client was told, in milliseconds: the middle, the slowest of a hundred; and how many times it was shed.
#[derive(Clone, Copy)]
pub struct Light {
    pub median_ms: f64,
    pub p99_ms: f64,
    pub shed: u64,
}

/// A single client's requests of what users wait for, for so many seconds.
pub fn light(client: &mut Client<'_>, seconds: f64) -> Light {
    let watch = Stopwatch::start();
    drop(taken(std::slice::from_ref(&client.tally)));
    while watch.seconds() < seconds {
        for kind in [Kind::Click, Kind::NewPage, Kind::Conversion] {
            client.send(kind, Load::TooMuch, 0);
        }
        thread::sleep(Duration::from_millis(5));
    }
    let tally = taken(std::slice::from_ref(&client.tally));
    let times = tally.times();
    Light {
        median_ms: times.quantile(0.5),
        p99_ms: times.quantile(0.99),
        shed: tally.shed(),
    }
}

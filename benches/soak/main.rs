//! `make soak`: mixed traffic at the machine's limit for minutes, then twice as much, and at the end a check of
//! everything acknowledged. `MINUTES=` and `OVERLOAD_SECONDS=` set the times, `CLIENTS=` the number of clients at the
//! limit.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod book;
mod client;
#[expect(dead_code, unused_imports, reason = "the benches use less of it than the tests")]
#[path = "../../tests/e2e"]
mod e2e {
    pub mod harness;
}
#[expect(dead_code, reason = "`make bench` uses more of it")]
#[path = "../shared/inspector.rs"]
mod inspector;
mod judge;
#[path = "../../tests/support/large_catalog.rs"]
mod large_catalog;
mod load;
mod mix;
#[path = "../../tests/support/random.rs"]
mod random;
mod requests;
#[expect(dead_code, reason = "`make bench` uses more of it")]
#[path = "../shared/stats.rs"]
mod stats;
mod tally;
#[expect(dead_code, reason = "`make bench` starts its load generator")]
#[path = "../shared/threads.rs"]
mod threads;
#[expect(dead_code, reason = "`make bench` uses more of it")]
#[path = "../shared/time.rs"]
mod time;
mod watch;
mod world;

use std::{process::ExitCode, sync::atomic::Ordering, thread};

use client::Client;
use e2e::harness;
use judge::Verdict;
use load::Run;
use tally::Tally;
use watch::{Watch, disk, megabytes};
use world::World;

/// Clients in a closed loop: enough to keep workerd's one thread busy, and few enough that nothing is shed.
const CLIENTS: usize = 48;
/// Connections of the open loop.
const CONNECTIONS: usize = 1_000;
/// The overload as a multiple of the limit.
const TIMES: f64 = 2.0;

fn setting(name: &str, default: f64) -> f64 {
    let set = std::env::var(name).ok().filter(|value| !value.is_empty());
    set.map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn main() -> ExitCode {
    let seconds = setting("MINUTES", 10.0) * 60.0;
    let overload_s = setting("OVERLOAD_SECONDS", 60.0);
    let at_limit = setting("CLIENTS", CLIENTS as f64) as usize;
    let world = World::load();
    println!("loaded: {}", megabytes(disk(world.signpost.state.path())));
    let mut clients: Vec<_> = (0..CONNECTIONS.max(at_limit)).map(|number| Client::new(&world, number)).collect();
    let watch = Watch::start();
    let verdicts = thread::scope(|scope| {
        scope.spawn(|| watch.watch_process(&world.signpost));
        scope.spawn(|| watch.watch_module(&world.signpost));
        let verdicts = run_load(&world, &mut clients, &watch, at_limit, seconds, overload_s);
        watch.end();
        verdicts
    });
    println!("\n| what must be true | | found |\n|---|---|---|");
    for Verdict { what, met, found } in &verdicts {
        println!("| {what} | {} | {found} |", if *met { "yes" } else { "**no**" });
    }
    if verdicts.iter().all(|verdict| verdict.met) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_load(
    world: &World,
    clients: &mut Vec<Client<'_>>,
    watch: &Watch,
    at_limit: usize,
    seconds: f64,
    overload_s: f64,
) -> Vec<Verdict> {
    let mut probe = clients.pop().expect("a client");
    // The first requests of each kind are slow: code is compiled and caches are empty.
    load::light(&mut probe, 2.0);
    let before = load::light(&mut probe, 5.0);
    println!("one client alone: median {:.2} ms, p99 {:.2} ms", before.median_ms, before.p99_ms);

    let from_s = watch.now();
    let slice = (seconds / 3.0).min(60.0);
    let mut limit = Vec::new();
    watch.ask_v8(&world.signpost);
    for _ in 0..(seconds / slice).round() as usize {
        let run = load::closed(world, &mut clients[..at_limit], slice);
        watch.ask_v8(&world.signpost);
        println!(
            "\n{:.0} s: {}; {}; on disk {}\n",
            watch.now() - from_s,
            run.summary(),
            watch.samples().summary(),
            megabytes(disk(world.signpost.state.path()))
        );
        println!("{}", run.tally.table(run.seconds));
        limit.push(run);
    }
    let to_s = watch.now();
    let all = summed(&limit);
    println!("\ntotal, {at_limit} clients, {:.0} s\n\n{}", to_s - from_s, all.tally.table(all.seconds));
    let mut verdicts = judge::steady(&limit, clients, &watch.samples(), from_s, to_s);
    verdicts.push(judge::once(world));
    println!("waiting callbacks: {}", judge::waiting(world));

    if overload_s > 0.0 {
        // The first third fills caches and is not the limit.
        let warm = &limit[limit.len() / 3..];
        let rate = warm.iter().map(Run::per_second).sum::<f64>() / warm.len() as f64;
        println!("overload: {:.0} arrivals a second on {} connections", rate * TIMES, clients.len());
        clients.iter_mut().for_each(|client| client.wrong.clear());
        load::connect(world, clients);
        let from_s = watch.now();
        let (run, late) = load::open(world, clients, rate * TIMES, overload_s);
        println!("\n{}; {:.1} % of the arrivals found no client in time\n", run.summary(), late * 100.0);
        println!("{}", run.tally.table(run.seconds));
        println!("latencies: {}", run.tally.latencies().summary());
        println!("shed requests: {}", run.tally.shed_latencies().summary());
        verdicts.extend(judge::overload(warm, &run, clients, &watch.samples(), from_s));
        verdicts.extend(recovered(world, &mut probe, before));
    }
    // The answers under load have their verdict already.
    clients.iter_mut().for_each(|client| client.wrong.clear());
    clients.push(probe);
    let unknown = clients.iter_mut().map(Client::settle).sum();
    verdicts.push(judge::afterwards(clients));
    verdicts.extend(judge::acknowledged(world, clients, unknown));
    let closed = client::CLOSED.load(Ordering::Relaxed);
    println!("{closed} requests found their kept connection closed and were sent again on a new one");
    println!("at the end: {}; on disk {}", watch.samples().summary(), megabytes(disk(world.signpost.state.path())));
    verdicts
}

/// Watches the latencies of one client alone until they are as before the load.
fn recovered(world: &World, probe: &mut Client<'_>, before: load::Light) -> [Verdict; 2] {
    let backlog = judge::waiting(world);
    println!("the load has ended; waiting callbacks: {backlog}");
    let mut recovery = judge::Recovery::after(before, backlog);
    for second in 1..=judge::AS_BEFORE_S {
        let now = load::light(probe, 1.0);
        if recovery.record(second, now) {
            break;
        }
        if second.is_multiple_of(10) {
            println!("{second} s after: median {:.2} ms, p99 {:.2} ms", now.median_ms, now.p99_ms);
        }
    }
    recovery.verdicts()
}

fn summed(runs: &[Run]) -> Run {
    let mut tally = Tally::default();
    runs.iter().for_each(|run| tally.add(&run.tally));
    let seconds: f64 = runs.iter().map(|run| run.seconds).sum();
    let mean = |figure: fn(&Run) -> f64| runs.iter().map(|run| figure(run) * run.seconds).sum::<f64>() / seconds;
    Run {
        tally,
        seconds,
        busy: mean(|run| run.busy),
        generating: mean(|run| run.generating),
        cpu_us: mean(|run| run.cpu_us),
    }
}

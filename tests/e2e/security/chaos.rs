//! Kills workerd at random moments under mixed traffic, and checks that everything answered with 2xx is kept. `SEED`
//! and `KILLS` in the environment choose another run; `make chaos` makes a long one.

mod clicks;
mod conversions;
mod facts;
mod operator;
mod report_keys;
mod tokens;
mod world;

use std::{env, thread, time::Duration};

use self::{
    clicks::Clicks,
    conversions::Conversions,
    facts::Facts,
    operator::Operator,
    report_keys::ReportKeys,
    world::{Client, World, run},
};
use crate::{
    harness::{Receiver, Setup, now_ms},
    random::Random,
};

/// Kills in every run of the tests.
const KILLS: usize = 7;
/// How long workerd lives, in milliseconds: mostly short, but sometimes long enough for click batches to be flushed and
/// for alarms to run.
const LIFE_MS: [(u64, u64); 4] = [(0, 300), (100, 900), (300, 1_500), (500, 1_500)];
const LONG_LIFE_MS: u64 = 4_500;
const LONG_LIVES: usize = 7;

/// A number from the environment, or the default if it is unset or empty.
pub fn setting(name: &str, default: u64) -> u64 {
    let set = env::var(name).ok().filter(|text| !text.is_empty());
    set.map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|error| panic!("{name}={text}: {error}"))
    })
}

#[test]
fn acknowledged_writes_survive_random_kills_of_workerd_under_mixed_traffic() {
    let seed = setting("SEED", now_ms().unsigned_abs());
    let kills = usize::try_from(setting("KILLS", KILLS as u64)).unwrap();
    println!("SEED={seed} KILLS={kills}");
    let began_ms = now_ms();
    // An interrupted callback is retried once its lease has ended; a short timeout makes the lease short.
    let signpost = Setup::new().var("CALLBACK_TIMEOUT_MS", "1000").start();
    let receiver = Receiver::start();
    let world = World::new(&signpost, &receiver);
    let mut clients: Vec<Box<dyn Client + '_>> = vec![
        Box::new(Clicks::new(&world, "chaos-clicks-1", "79000701", seed ^ 1)),
        Box::new(Clicks::new(&world, "chaos-clicks-2", "79000702", seed ^ 2)),
        Box::new(Conversions::new(&world, "chaos-paid-1", "79000703", seed ^ 3)),
        Box::new(Conversions::new(&world, "chaos-paid-2", "79000704", seed ^ 4)),
        Box::new(Conversions::new(&world, "chaos-paid-3", "79000705", seed ^ 5)),
        Box::new(Facts::new(&world, "chaos-facts-1", seed ^ 6)),
        Box::new(Facts::new(&world, "chaos-facts-2", seed ^ 7)),
        Box::new(Operator::new(&world, seed ^ 8)),
        Box::new(ReportKeys::new(&world, "chaos-keys", seed ^ 9)),
    ];
    signpost.refresh();

    thread::scope(|scope| {
        let threads: Vec<_> = clients
            .iter_mut()
            .map(|client| scope.spawn(|| run(&world, client.as_mut())))
            .collect();
        let mut random = Random(seed);
        for kill in 0..kills {
            let (least, most) = LIFE_MS[random.below(LIFE_MS.len())];
            let life_ms = if kill % LONG_LIVES == LONG_LIVES / 2 {
                LONG_LIFE_MS
            } else {
                least + random.next() % (most - least)
            };
            thread::sleep(Duration::from_millis(life_ms));
            world.kill();
            // A client that found a broken promise has panicked: end the run here.
            if threads.iter().any(thread::ScopedJoinHandle::is_finished) {
                break;
            }
        }
        world.stop();
    });
    let sent_ms = now_ms() - began_ms;
    let promises: usize = clients.iter_mut().map(|client| client.verify()).sum();
    println!("{}", world.summary());
    println!(
        "SEED={seed}: {} kills in {sent_ms} ms, {promises} promises checked, lost 0, {} ms in all",
        world.life(),
        now_ms() - began_ms
    );
}

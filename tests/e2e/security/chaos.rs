//! Kills workerd at random moments under mixed traffic, and checks that everything answered with 2xx is kept. `SEED`
//! and `KILLS` in the environment choose another run; `make chaos` makes a long one.

pub mod clicks;
pub mod conversions;
pub mod facts;
mod files;
pub mod operator;
pub mod report_keys;
mod tokens;
mod visitors;
pub mod world;

use std::{env, thread, time::Duration};

use self::{
    clicks::Clicks,
    conversions::Conversions,
    facts::Facts,
    operator::Operator,
    report_keys::ReportKeys,
    world::{Client, Sent, World, run},
};
use crate::{
    harness::{Receiver, Setup, now_ms},
    random::Random,
};
use contract::{activity, attention, catalog, counters, ledger, outbox, postbacks};
use domain::model::{OfferId, PublisherId, time::rfc_3339};
use serde_json::json;

/// Kills in every run of the tests.
const KILLS: usize = 7;
/// Restores in every run of the tests.
const RESTORES: usize = 20;
/// How long workerd lives, in milliseconds: mostly short, but sometimes long enough for click batches to be flushed and
/// for alarms to run.
const LIFE_MS: [(u64, u64); 4] = [(0, 300), (100, 900), (300, 1_500), (500, 1_500)];
const LONG_LIFE_MS: u64 = 4_500;
const LONG_LIVES: usize = 7;

/// A number from the environment, or the default if it is unset or empty.
pub fn setting(name: &str, default: u64) -> u64 {
    let set = env::var(name).ok().filter(|text| !text.is_empty());
    set.map_or(default, |text| text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")))
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

    let mut random = Random(seed);
    run_until(&world, &mut clients, kills, |kill| {
        let (least, most) = LIFE_MS[random.below(LIFE_MS.len())];
        let life_ms =
            if kill % LONG_LIVES == LONG_LIVES / 2 { LONG_LIFE_MS } else { least + random.next() % (most - least) };
        thread::sleep(Duration::from_millis(life_ms));
        world.kill();
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

/// Runs all clients while an interruption comes so many times.
pub fn run_until(
    world: &World<'_>,
    clients: &mut [Box<dyn Client + '_>],
    times: usize,
    mut interrupt: impl FnMut(usize),
) {
    thread::scope(|scope| {
        // If an interruption panics, the clients must end, too.
        let _stop = Stop(world);
        let threads: Vec<_> = clients.iter_mut().map(|client| scope.spawn(|| run(world, client.as_mut()))).collect();
        for time in 0..times {
            interrupt(time);
            // A client that found a broken promise has panicked: end the run here.
            if threads.iter().any(thread::ScopedJoinHandle::is_finished) {
                break;
            }
        }
    });
}

/// Ends the clients' work.
struct Stop<'w, 's>(&'w World<'s>);

impl Drop for Stop<'_, '_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Objects go back to an earlier state while everything runs, every tenth time two at once. `recovery.js` stands in for
/// Cloudflare's recovery. Clicks are left out, because a restore loses their records and figures.
#[test]
fn acknowledged_writes_survive_restores_of_any_object_under_mixed_traffic() {
    let seed = setting("SEED", now_ms().unsigned_abs());
    let restores = usize::try_from(setting("RESTORES", RESTORES as u64)).unwrap();
    println!("SEED={seed} RESTORES={restores}");
    let signpost = Setup::new().var("CALLBACK_TIMEOUT_MS", "1000").config("recovery.capnp").start();
    let receiver = Receiver::start();
    let world = World::new(&signpost, &receiver);
    let mut clients: Vec<Box<dyn Client + '_>> = vec![
        Box::new(Conversions::new(&world, "restores-1", "79000751", seed ^ 1)),
        Box::new(Conversions::new(&world, "restores-2", "79000752", seed ^ 2)),
        Box::new(Operator::new(&world, seed ^ 3)),
        Box::new(ReportKeys::new(&world, "restores-keys", seed ^ 4)),
    ];
    signpost.refresh();
    let capped = ["restores-1-cap", "restores-2-cap"]
        .map(|offer| (counters::BINDING, counters::object_name(&OfferId::parse(offer).unwrap())));
    let of_apps = ["79000751", "79000752"].into_iter().flat_map(|app| {
        // One of eight, the last one, and the witness of each.
        [0, 1, 7].map(|number| (outbox::BINDING, format!("outbox-{app}-{number}")))
    });
    let of_publishers = ["restores-1", "restores-keys"].into_iter().flat_map(|id| {
        let id = PublisherId::parse(id).unwrap();
        [
            (ledger::BINDING, ledger::object_name(&id)),
            (activity::BINDING, activity::object_name(&id)),
            (activity::BINDING, format!("register-{}", ledger::object_name(&id))),
        ]
    });
    let objects: Vec<_> = [
        (catalog::BINDING, catalog::OBJECT_NAME.to_owned()),
        (activity::BINDING, attention::OBJECT_NAME.to_owned()),
        (activity::BINDING, "register-catalog".to_owned()),
        (postbacks::BINDING, "postbacks-restores-1".to_owned()),
    ]
    .into_iter()
    .chain(capped)
    .chain(of_apps)
    .chain(of_publishers)
    .collect();
    let mut random = Random(seed);
    run_until(&world, &mut clients, restores, |time| {
        let count = if time % 10 == 9 { 2 } else { 1 };
        let chosen: Vec<_> = (0..count).map(|_| &objects[random.below(objects.len())]).collect();
        for (namespace, object) in &chosen {
            let url = format!("{}/{namespace}/{object}", signpost.control());
            signpost.get(&url, &[]).expect(200);
        }
        thread::sleep(Duration::from_millis(1_000 + random.next() % 1_500));
        for (_, object) in &chosen {
            let body = json!({ "to": rfc_3339(now_ms()) }).to_string();
            let sent = Sent { media_type: Some("application/json"), body: body.as_bytes(), ..Sent::default() };
            let path = format!("/v1/operator/objects/{object}/restore");
            let answer = world.until_answered("restore", "POST", &path, &sent);
            assert_eq!(answer.status, 200, "{object}: {answer:?}");
        }
        if time + 1 == restores {
            // An outbox learns with its next batch, or at night, that the ledger was put back.
            thread::sleep(Duration::from_secs(8));
        }
    });
    let promises: usize = clients.iter_mut().map(|client| client.verify()).sum();
    println!("{}", world.summary());
    println!("SEED={seed}: {restores} restores, {promises} promises checked, lost 0");
}

//! Simulation of all services that count money and clicks, against each other: two outboxes of an app, two counters objects
//! and the publisher's ledger, each over SQLite with its alarm. It mixes postbacks, flushes of clicks and loads of days; calls
//! that are lost, late, doubled or unanswered, in any order; alarms that are late or doubled; receivers that fail; processes that
//! die within or after a step; and time that passes, over midnight and by days. `PROPTEST_CASES` sets the number of cases.
//!
//! Once all calls are answered and ten days have passed:
//! - Ledger and counters have exactly the clicks of the flushes and the payments of the outboxes' logs, by day and offer.
//! - Each click and goal was paid once, as answered, and each payment was delivered. No cap is exceeded.
//! - Each loaded day is final, each of its sources has vouched for it, and no item says that sums differ or are late.
//! - A restatement of any day would change nothing.
//!
//! After objects were put back to earlier copies, the ledger agrees with its sources, or an item names the source, the
//! day and the side that is behind.

mod calls;
mod checks;
mod edge;
mod objects;
mod ops;
mod restored;
mod steps;
mod world;

use std::fmt;

use proptest::{collection::vec, prelude::*, sample::select};

use self::{
    ops::{Clicks, Death, Op, Postback},
    world::{OBJECTS, World},
};
use crate::{
    outbox_simulation::{catalog::OFFERS, ops::Fate, receivers::Behaviour},
    simulations,
};
use domain::{
    conversions::state::Status,
    model::time::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS},
};

#[derive(Clone)]
struct Act {
    op: Op,
    death: Option<Death>,
}

/// Prints on one line, however long the list is.
impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{:?}, {:?}", self.op, self.death))
    }
}

fn postbacks() -> impl Strategy<Value = Postback> {
    let goal = prop_oneof![4 => Just(None), 1 => (0..2_usize).prop_map(Some)];
    let txn = proptest::option::weighted(0.2, 0..4_u8);
    let status = prop_oneof![
        6 => Just(Status::Approved),
        2 => Just(Status::Pending),
        1 => Just(Status::Rejected),
        2 => Just(Status::Reversed),
    ];
    (0..12_u8, goal, txn, status).prop_map(|(click, goal, txn, status)| Postback { click, goal, txn, status })
}

fn clicks(yesterday: f64) -> impl Strategy<Value = Vec<Clicks>> {
    let placement = proptest::option::of(0..3_u8);
    let clicks = (0..OFFERS.len(), prop::bool::weighted(yesterday), placement, 1..9_u32)
        .prop_map(|(offer, is_yesterday, placement, clicks)| Clicks { offer, is_yesterday, placement, clicks });
    vec(clicks, 1..4)
}

fn ops(yesterday: f64) -> impl Strategy<Value = Op> {
    let fate = prop_oneof![
        8 => Just(Fate::Succeeds),
        4 => select([Fate::Arrives, Fate::Lost, Fate::Fails, Fate::ArrivesLate].as_slice()),
    ];
    let time = || {
        prop_oneof![
            6 => 0..20 * SECOND_MS,
            3 => 0..2 * HOUR_MS,
            2 => 0..2 * DAY_MS,
            // Moves from noon to one second before midnight.
            1 => Just(12 * HOUR_MS - SECOND_MS),
        ]
    };
    prop_oneof![
        80 => postbacks().prop_map(Op::Convert),
        30 => (0..3_usize, 0..2_usize, clicks(yesterday))
            .prop_map(|(isolate, object, clicks)| Op::Flush(isolate, object, clicks)),
        4 => (0..3_i32).prop_map(Op::Load),
        80 => (0..12_usize, fate, prop::bool::weighted(0.1))
            .prop_map(|(nth, fate, again)| Op::Resolve(nth, fate, again)),
        40 => Just(Op::ResolveAll),
        12 => time().prop_map(Op::Pass),
        12 => time().prop_map(Op::Live),
        50 => (0..OBJECTS, prop_oneof![3 => Just(0), 1 => 0..MINUTE_MS]).prop_map(|(nth, late_ms)| Op::Alarm(nth, late_ms)),
        4 => (0..OBJECTS).prop_map(Op::AlarmAgain),
        4 => select([Behaviour::Working, Behaviour::Broken, Behaviour::Silent].as_slice()).prop_map(Op::Receivers),
        4 => (0..OBJECTS, prop::bool::weighted(0.6)).prop_map(|(nth, is_reached)| Op::Reach(nth, is_reached)),
        6 => (0..10_usize, prop::bool::weighted(0.2)).prop_map(|(nth, again)| Op::Straggler(nth, again)),
        4 => (0..OBJECTS).prop_map(Op::Die),
    ]
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let death = proptest::option::weighted(0.06, (0..OBJECTS, 1..6_usize, any::<bool>()));
    vec((ops(0.3), death).prop_map(|(op, death)| Act { op, death }), 1..120)
}

/// The same, and objects are copied and put back.
fn restores() -> impl Strategy<Value = Vec<Act>> {
    let restore = prop_oneof![
        (0..OBJECTS).prop_map(Op::Copy),
        (0..OBJECTS, any::<bool>()).prop_map(|(nth, is_told)| Op::Restore(nth, is_told)),
    ];
    let op = prop_oneof![20 => ops(0.3), 1 => restore];
    vec(op.prop_map(|op| Act { op, death: None }), 1..120)
}

fn simulate(acts: &[Act], seed: u64) {
    let mut world = World::new(seed);
    for Act { op, death } in acts {
        world.carry_out(op, *death);
    }
    world.settle();
    world.check_sums();
    world.live(world.now_ms() + 9 * DAY_MS);
    world.check();
}

proptest! {
    #![proptest_config(simulations(24))]

    #[test]
    fn money_and_clicks_agree_after_any_failure(acts in acts(), seed in any::<u64>()) {
        simulate(&acts, seed);
    }

    #[test]
    fn money_agrees_or_is_an_open_item_after_objects_were_put_back(acts in restores(), seed in any::<u64>()) {
        let mut world = World::new(seed);
        for Act { op, .. } in &acts {
            world.carry_out(op, None);
        }
        world.settle();
        world.live(world.now_ms() + 9 * DAY_MS);
        world.check_restored();
    }
}

/// A copy that lacks nothing, put back amid calls: the process and the alarm that the runtime knew are lost.
#[test]
fn an_object_that_is_put_back_as_it_was_changes_nothing() {
    for nth in 0..OBJECTS {
        let postback = |click, status| Op::Convert(Postback { click, goal: None, txn: Some(click), status });
        let clicks = vec![Clicks { offer: 0, is_yesterday: true, placement: None, clicks: 3 }];
        let ops = [
            postback(0, Status::Approved),
            postback(2, Status::Approved),
            postback(3, Status::Pending),
            Op::Flush(0, 0, clicks.clone()),
            Op::ResolveAll,
            postback(2, Status::Reversed),
            Op::Live(20 * SECOND_MS),
            Op::Flush(1, 1, clicks),
            postback(3, Status::Approved),
            Op::Copy(nth),
            Op::Restore(nth, false),
            Op::ResolveAll,
        ];
        let acts = ops.map(|op| Act { op, death: None });
        simulate(&acts, 7);
    }
}

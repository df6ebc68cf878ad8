//! Simulation of the outbox service over the real SQL of outbox, counters and ledger. It mixes conversions that repeat,
//! run concurrently, follow their reversals, cross midnight or miss their window; alarms that are late, doubled or
//! missing; processes that die within or after a step; failing writes; peers that do not answer, lose the answer or
//! apply a request long after; receivers of every behaviour; and an operator who changes caps, payouts, limits
//! and callbacks, approves, rejects, reverses, replays, enables and erases. `PROPTEST_CASES` sets the number of cases.
//!
//! These invariants are checked after each committed step or each operation:
//! - A conversion answered 2xx `approved` is waiting, delivered or dead. Its repeats get the same id, and only one
//!   answer is not a duplicate. An approved conversion is never refused later, and a refused one is never paid.
//! - Of all clicks of the app, whatever outbox keeps them, only the one that has claimed a txn is paid for it, and of a
//!   user's clicks only one for a goal, unless the operator approves another.
//! - A transaction id always has the same content. A click and goal have one reward and at most one reversal, its exact
//!   negative, which is sent only after its reward was delivered or is dead.
//! - A paid conversion of a capped offer was taken, and each take is paid or reserved. Takes never exceed the highest
//!   cap of their day and those by force.
//! - The payments in the log equal the sums that ledger and counters received or will receive; at the end, by day.
//! - While work waits, an alarm is set for its due time or for the 15 s safety net.
//! - Due callbacks within the concurrency limit start with the commit or with the end of another attempt.
//! - An ended or early callback is sent only after a replay or release. A disabled endpoint is not called, and only its
//!   own answer disables it. The log holds no answer that the receiver did not give.
//! - While the outbox has nothing to report, the publisher's activity object has its newest entries as they are, and its
//!   counts. A report that arrives twice, or long after, changes nothing there.
//! - The outbox has an item for the operator's attention for each held and capped conversion, each dead callback and an
//!   endpoint that is not well, and no other. While it has nothing to report, `attention` lists the same.
//! - No row names an erased user once none of the user's callbacks waits.
//!
//! Not guaranteed: how often a receiver gets a callback (at least once), the order of callbacks, which of several
//! conversions gets the last of a cap, and that each take is used where writes fail or copies of a conversion cross.

pub mod accounts;
mod activity;
mod attention;
pub mod catalog;
mod checks;
mod found;
pub mod model;
pub mod ops;
mod peers;
pub mod receivers;
mod restored;
pub mod runtime;
mod shards;
mod txns;
pub mod world;

use std::fmt;

use proptest::{collection::vec, prelude::*, sample::select};

use self::{
    ops::{Change, Death, Fate, Op, Postback},
    receivers::behaviours,
    world::World,
};
use crate::{
    simulations,
    sqlite::{Fault, Faults},
};
use contract::rewards::RewardDelivery;
use domain::{
    conversions::{state::Status, table::Action},
    model::time::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS},
};

#[derive(Clone)]
struct Act {
    op: Op,
    death: Option<Death>,
    faults: Vec<Option<Fault>>,
}

/// Prints on one line, however long the list is.
impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, death, faults } = self;
        f.write_str(&format!("{op:?}"))?;
        if let Some(death) = death {
            f.write_str(&format!(", death {death:?}"))?;
        }
        if faults.iter().any(Option::is_some) {
            f.write_str(&format!(", faults {faults:?}"))?;
        }
        Ok(())
    }
}

fn postbacks() -> impl Strategy<Value = Postback> {
    let age_ms = prop_oneof![
        6 => Just(MINUTE_MS),
        1 => Just(30 * DAY_MS - MINUTE_MS),
        1 => Just(31 * DAY_MS),
    ];
    let goal = prop_oneof![3 => Just(None), 4 => (0..4_usize).prop_map(Some), 1 => Just(Some(9))];
    let txn = proptest::option::weighted(0.3, 0..4_u8);
    let status = prop_oneof![
        6 => Just(Status::Approved),
        2 => Just(Status::Pending),
        1 => Just(Status::Rejected),
        2 => Just(Status::Reversed),
    ];
    let is_own = prop::bool::weighted(0.95);
    (0..12_u8, age_ms, goal, txn, status, is_own).prop_map(|(click, age_ms, goal, txn, status, is_own)| Postback {
        click,
        age_ms,
        goal,
        txn,
        status,
        is_own,
    })
}

fn changes() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (0..6_u32, any::<bool>()).prop_map(|(cap, push)| Change::Cap(0, Some(cap), push)),
        2 => (proptest::option::of(0..6_u32), any::<bool>()).prop_map(|(cap, push)| Change::Cap(1, cap, push)),
        2 => (0..2_usize, 0..2_000_000_i64).prop_map(|(goal, payout)| Change::Payout(goal, payout)),
        1 => (1..4_u8).prop_map(Change::Goals),
        1 => Just(Change::OfferSince),
        1 => Just(Change::AppSince),
        6 => Just(Change::Publish),
        1 => (1..200_000_000_i64).prop_map(Change::Rate),
        5 => (prop::bool::weighted(0.8), any::<bool>()).prop_map(|(set, push)| Change::Callback(set, push)),
        2 => (proptest::option::of(30..90_u32), proptest::option::of(1..4_u32))
            .prop_map(|(seconds, rewards)| Change::Holds(seconds, rewards)),
    ]
}

/// Actions of the operator, most of them on the newest conversions.
fn settlements() -> impl Strategy<Value = Op> {
    let action = prop_oneof![4 => Just(Action::Approve), 1 => Just(Action::Reject), 1 => Just(Action::Reverse)];
    (0..12_usize, action, any::<bool>()).prop_map(|(nth, action, despite)| Op::Settle(nth, action, despite))
}

fn ops() -> impl Strategy<Value = Op> {
    let fate = prop_oneof![
        8 => Just(Fate::Succeeds),
        4 => select([Fate::Arrives, Fate::Lost, Fate::Fails, Fate::ArrivesLate].as_slice()),
    ];
    let pass = prop_oneof![
        6 => 0..20 * SECOND_MS,
        3 => 0..2 * HOUR_MS,
        2 => 0..2 * DAY_MS,
        // Moves from noon to one second before midnight.
        1 => Just(12 * HOUR_MS - SECOND_MS),
    ];
    let long = select([40 * DAY_MS, 95 * DAY_MS, 410 * DAY_MS].as_slice());
    prop_oneof![
        200 => postbacks().prop_map(Op::Convert),
        200 => (0..8_usize, fate).prop_map(|(nth, fate)| Op::Resolve(nth, fate)),
        80 => Just(Op::ResolveAll),
        60 => pass.prop_map(Op::Pass),
        2 => long.prop_map(Op::Pass),
        80 => prop_oneof![3 => Just(0), 1 => 0..MINUTE_MS].prop_map(Op::Alarm),
        10 => Just(Op::AlarmAgain),
        50 => behaviours().prop_map(Op::Receivers),
        40 => changes().prop_map(Op::Change),
        30 => settlements(),
        20 => (0..100_usize).prop_map(Op::Replay),
        10 => (0..4_u8, 0..2_usize).prop_map(|(txn, goal)| Op::ClaimElsewhere(txn, goal)),
        10 => select([RewardDelivery::Dead, RewardDelivery::Delivered, RewardDelivery::Waiting].as_slice()).prop_map(Op::ReplayMany),
        20 => Just(Op::Enable),
        10 => (0..3_u8).prop_map(Op::Erase),
        10 => (0..10_usize).prop_map(Op::Straggler),
        15 => Just(Op::Die),
    ]
}

/// Operations on two clicks of the capped offer, whose copies, caps and alarms cross.
fn crossing_ops() -> impl Strategy<Value = Op> {
    let fate = prop_oneof![
        4 => Just(Fate::Succeeds),
        4 => Just(Fate::Arrives),
        2 => select([Fate::Lost, Fate::Fails, Fate::ArrivesLate].as_slice()),
    ];
    let pass = prop_oneof![
        6 => 0..20 * SECOND_MS,
        1 => Just(12 * HOUR_MS - SECOND_MS),
    ];
    prop_oneof![
        20 => postbacks().prop_map(|postback| Op::Convert(Postback {
            click: postback.click % 2 * 2,
            goal: None,
            age_ms: 0,
            ..postback
        })),
        40 => (0..8_usize, fate).prop_map(|(nth, fate)| Op::Resolve(nth, fate)),
        6 => pass.prop_map(Op::Pass),
        8 => Just(Op::Alarm(0)),
        6 => settlements(),
        6 => (0..3_u32, any::<bool>()).prop_map(|(cap, push)| Op::Change(Change::Cap(0, Some(cap), push))),
        2 => (0..2_000_000_i64).prop_map(|payout| Op::Change(Change::Payout(1, payout))),
        2 => (0..10_usize).prop_map(Op::Straggler),
    ]
}

fn acts(ops: impl Strategy<Value = Op>, with_faults: bool) -> impl Strategy<Value = Vec<Act>> {
    let death = proptest::option::weighted(0.08, (1..6_usize, any::<bool>()));
    let fault = prop_oneof![12 => Just(None), 1 => Just(Some(Fault::Before)), 1 => Just(Some(Fault::After))];
    let faults = vec(fault, if with_faults { 0..12 } else { 0..1 });
    let act = (ops, death, faults).prop_map(move |(op, death, faults)| Act {
        op,
        death,
        faults: if with_faults { faults } else { vec![] },
    });
    vec(act, 1..250)
}

fn simulate(acts: Vec<Act>, locks: bool, seed: u64, faults: bool) {
    let mut world = World::new(locks, seed);
    world.model.faults = faults;
    world.model.locks = locks;
    for act in acts {
        world.carry_out(act.op, act.death, Faults::script(act.faults));
    }
    world.settle_down();
}

proptest! {
    #![proptest_config(simulations(48))]

    #[test]
    fn every_reward_arrives_once_after_any_process_death(acts in acts(ops(), false), locks in any::<bool>(), seed in any::<u64>()) {
        simulate(acts, locks, seed, false);
    }

    #[test]
    fn concurrent_copies_are_paid_once(acts in acts(crossing_ops(), false), locks in any::<bool>(), seed in any::<u64>()) {
        simulate(acts, locks, seed, false);
    }

    #[test]
    fn every_reward_arrives_once_after_any_failed_write(acts in acts(ops(), true), locks in any::<bool>(), seed in any::<u64>()) {
        simulate(acts, locks, seed, true);
    }
}

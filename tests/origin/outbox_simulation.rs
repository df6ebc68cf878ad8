//! The outbox under everything that can go wrong, over the real SQL of the outbox, the counters and a ledger:
//! conversions that come again, at once and after their reversals, over midnight and after their window; alarms that
//! come late, twice or not for long; processes that die in a step or after it, writes that break; other objects that do
//! not answer, or take effect and lose the answer, or take effect long after; receivers of every manner; and an operator
//! who meanwhile changes caps, payouts, tokens and callbacks, replays, enables and erases. `SIMULATIONS` says how many.
//!
//! Must hold, and is checked after each committed step or each operation:
//! - a conversion answered 2xx with `approved` is delivered, waiting or dead; a repeat is told the same id, and only one
//!   is told that it was the first; nothing that was approved is refused later; what is refused is not paid;
//! - a transaction id says one thing; a click and a goal have one reward and at most one reversal, its exact negative,
//!   which is not sent before its reward was delivered or given up;
//! - what is paid of a capped offer was taken; what was taken is paid or waits to be; takes never exceed the highest cap
//!   that governed on their day;
//! - what the log says was paid is what ledger and counters were told and will be, by day in the end;
//! - while work waits, an alarm is set in time for it, or for the net of 15 s under it;
//! - what is due and has room begins with the commit, or with the end of another try;
//! - nothing is sent that has ended or whose time has not come, unless it was replayed or released; an endpoint that
//!   wants no more is left alone, and only it can say so; the log claims no answer that the receiver did not give;
//! - who was erased is named nowhere once nothing of him waits.
//!
//! Need not hold: how often a receiver sees a callback (at least once), in which order callbacks arrive, which of several
//! conversions gets the last of a cap; that a take was not for nothing where writes break, or where a copy that was told no
//! crosses one that is told yes.

mod accounts;
mod catalog;
mod checks;
mod found;
mod model;
mod ops;
mod receivers;
mod runtime;
mod world;

use std::fmt;

use proptest::{collection::vec, prelude::*, sample::select};

use self::{
    ops::{Change, Death, Op, Postback, Way},
    receivers::manners,
    world::World,
};
use crate::sqlite::{Fault, Faults};
use domain::{
    conversions::state::Status,
    model::time::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS},
};

#[derive(Clone)]
struct Act {
    op: Op,
    death: Option<Death>,
    faults: Vec<Option<Fault>>,
}

/// On one line, however long the list.
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
    let token = prop_oneof![9 => Just(1_u8), 1 => 0..3_u8];
    (0..12_u8, age_ms, goal, txn, status, token).prop_map(|(click, age_ms, goal, txn, status, token)| {
        Postback {
            click,
            age_ms,
            goal,
            txn,
            status,
            token,
        }
    })
}

fn changes() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (0..6_u32, any::<bool>()).prop_map(|(cap, told)| Change::Cap(0, Some(cap), told)),
        2 => (proptest::option::of(0..6_u32), any::<bool>()).prop_map(|(cap, told)| Change::Cap(1, cap, told)),
        2 => (0..2_usize, 0..2_000_000_i64).prop_map(|(goal, payout)| Change::Payout(goal, payout)),
        1 => (0..2_usize, any::<bool>()).prop_map(|(goal, retired)| Change::Retire(goal, retired)),
        1 => Just(Change::Rotate),
        1 => (1..200_000_000_i64).prop_map(Change::Rate),
        5 => (prop::bool::weighted(0.8), any::<bool>()).prop_map(|(set, told)| Change::Callback(set, told)),
    ]
}

fn ops() -> impl Strategy<Value = Op> {
    let way = prop_oneof![
        8 => Just(Way::Well),
        4 => select([Way::Arrives, Way::Lost, Way::Fails, Way::Straggles].as_slice()),
    ];
    let pass = prop_oneof![
        6 => 0..20 * SECOND_MS,
        3 => 0..2 * HOUR_MS,
        2 => 0..2 * DAY_MS,
        // From noon to the eve of a midnight, sooner or later.
        1 => Just(12 * HOUR_MS - SECOND_MS),
    ];
    let long = select([40 * DAY_MS, 95 * DAY_MS, 410 * DAY_MS].as_slice());
    prop_oneof![
        200 => postbacks().prop_map(Op::Convert),
        200 => (0..8_usize, way).prop_map(|(nth, way)| Op::Resolve(nth, way)),
        80 => Just(Op::ResolveAll),
        60 => pass.prop_map(Op::Pass),
        2 => long.prop_map(Op::Pass),
        80 => prop_oneof![3 => Just(0), 1 => 0..MINUTE_MS].prop_map(Op::Alarm),
        10 => Just(Op::AlarmAgain),
        50 => manners().prop_map(Op::Receivers),
        40 => changes().prop_map(Op::Change),
        20 => (0..100_usize).prop_map(Op::Replay),
        10 => select(["dead", "delivered", "waiting"].as_slice()).prop_map(Op::ReplayMany),
        20 => Just(Op::Enable),
        10 => (0..3_u8).prop_map(Op::Erase),
        10 => (0..10_usize).prop_map(Op::Straggler),
        15 => Just(Op::Die),
    ]
}

/// Of two clicks on the capped offer, whose copies, caps and alarms cross.
fn crossing_ops() -> impl Strategy<Value = Op> {
    let way = prop_oneof![
        4 => Just(Way::Well),
        4 => Just(Way::Arrives),
        2 => select([Way::Lost, Way::Fails, Way::Straggles].as_slice()),
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
        40 => (0..8_usize, way).prop_map(|(nth, way)| Op::Resolve(nth, way)),
        6 => pass.prop_map(Op::Pass),
        8 => Just(Op::Alarm(0)),
        6 => (0..3_u32, any::<bool>()).prop_map(|(cap, told)| Op::Change(Change::Cap(0, Some(cap), told))),
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

fn simulations() -> ProptestConfig {
    let cases = std::env::var("SIMULATIONS")
        .ok()
        .and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: cases.unwrap_or(48),
        max_shrink_iters: 4_000,
        ..ProptestConfig::default()
    }
}

fn simulate(acts: Vec<Act>, in_turns: bool, seed: u64, faults: bool) {
    let mut world = World::new(in_turns, seed);
    world.model.faults = faults;
    for act in acts {
        world.carry_out(act.op, act.death, Faults::script(act.faults));
    }
    world.settle_down();
}

proptest! {
    #![proptest_config(simulations())]

    #[test]
    fn every_reward_arrives_once_whatever_dies(acts in acts(ops(), false), in_turns in any::<bool>(), seed in any::<u64>()) {
        simulate(acts, in_turns, seed, false);
    }

    #[test]
    fn copies_that_cross_are_paid_once(acts in acts(crossing_ops(), false), in_turns in any::<bool>(), seed in any::<u64>()) {
        simulate(acts, in_turns, seed, false);
    }

    #[test]
    fn every_reward_arrives_once_whatever_write_breaks(acts in acts(ops(), true), in_turns in any::<bool>(), seed in any::<u64>()) {
        simulate(acts, in_turns, seed, true);
    }
}

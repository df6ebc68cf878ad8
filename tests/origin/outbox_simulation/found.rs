//! What the simulation has found, each as the few operations that it comes down to. The checks are the simulation's.

use super::{
    ops::{Change, Op, Postback, Way},
    receivers::Manner,
    world::World,
};
use crate::sqlite::Faults;
use domain::{
    conversions::state::Status,
    model::time::{DAY_MS, MINUTE_MS},
};

fn carry_out(ops: impl IntoIterator<Item = Op>) {
    let mut world = World::new(true, 0);
    for op in ops {
        world.carry_out(op, None, Faults::none());
    }
    world.settle_down();
}

fn postback(click: u8, status: Status) -> Op {
    Op::Convert(Postback {
        click,
        age_ms: MINUTE_MS,
        goal: None,
        txn: None,
        status,
        token: 1,
    })
}

#[test]
fn a_reversal_that_is_replayed_waits_for_its_reward_all_the_same() {
    for replay in [Op::Replay(1), Op::ReplayMany("waiting")] {
        carry_out([
            Op::Receivers(Manner::Broken),
            postback(0, Status::Approved),
            Op::ResolveAll,
            postback(0, Status::Reversed),
            Op::ResolveAll,
            replay,
        ]);
    }
}

#[test]
fn an_endpoint_that_was_replaced_disables_only_itself() {
    for manner in [Manner::Gone, Manner::Disabling] {
        carry_out([
            Op::Receivers(manner),
            postback(1, Status::Approved),
            Op::Resolve(0, Way::Well),
            Op::Change(Change::Callback(true, true)),
            Op::ResolveAll,
        ]);
    }
}

#[test]
fn an_answer_that_comes_after_its_user_was_erased_names_nobody() {
    carry_out([
        postback(1, Status::Approved),
        Op::Resolve(0, Way::Well),
        Op::Replay(0),
        Op::Erase(1),
        Op::ResolveAll,
    ]);
}

#[test]
fn a_recent_answer_of_an_old_callback_names_nobody_once_its_user_is_forgotten() {
    carry_out([
        Op::Receivers(Manner::Broken),
        postback(1, Status::Approved),
        Op::ResolveAll,
        Op::Receivers(Manner::Well),
        Op::Pass(401 * DAY_MS),
        // Whatever is asked starts what is due, and the sweep comes after it.
        postback(1, Status::Approved),
        Op::ResolveAll,
        Op::Alarm(0),
    ]);
}

#[test]
fn a_reversal_that_waits_for_its_reward_again_has_its_whole_schedule_too() {
    carry_out([
        postback(0, Status::Approved),
        Op::ResolveAll,
        Op::Receivers(Manner::Broken),
        postback(0, Status::Reversed),
        Op::ResolveAll,
        Op::Replay(0),
        Op::Enable,
    ]);
}

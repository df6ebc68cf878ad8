//! Regressions: each failure that the simulation found, reduced to a few operations. The simulation's checks apply.

use super::{
    ops::{Change, Fate, Op, Postback},
    receivers::Behaviour,
    world::World,
};
use crate::sqlite::{Fault, Faults};
use contract::rewards::RewardDelivery;
use domain::{
    conversions::{state::Status, table::Action},
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
    Op::Convert(Postback { click, age_ms: MINUTE_MS, goal: None, txn: None, status, is_own: true })
}

#[test]
fn a_replayed_reversal_still_waits_for_its_undelivered_reward() {
    for replay in [Op::Replay(1), Op::ReplayMany(RewardDelivery::Waiting)] {
        carry_out([
            Op::Receivers(Behaviour::Broken),
            postback(0, Status::Approved),
            Op::ResolveAll,
            postback(0, Status::Reversed),
            Op::ResolveAll,
            replay,
        ]);
    }
}

#[test]
fn a_replaced_endpoint_cannot_disable_its_successor() {
    for behaviour in [Behaviour::Gone, Behaviour::Disabling] {
        carry_out([
            Op::Receivers(behaviour),
            postback(1, Status::Approved),
            Op::Resolve(0, Fate::Succeeds),
            Op::Change(Change::Callback(true, true)),
            Op::ResolveAll,
        ]);
    }
}

#[test]
fn an_endpoint_that_was_switched_on_again_is_not_disabled_by_an_attempt_from_before() {
    for behaviour in [Behaviour::Gone, Behaviour::Disabling] {
        carry_out([
            Op::Receivers(behaviour),
            postback(1, Status::Approved),
            postback(2, Status::Approved),
            Op::Resolve(0, Fate::Succeeds),
            Op::Receivers(Behaviour::Working),
            Op::Enable,
            Op::ResolveAll,
        ]);
    }
}

#[test]
fn an_answer_after_erasure_does_not_store_the_user() {
    carry_out([
        postback(1, Status::Approved),
        Op::Resolve(0, Fate::Succeeds),
        Op::Replay(0),
        Op::Erase(1),
        Op::ResolveAll,
    ]);
}

#[test]
fn retention_also_clears_recent_answers_of_old_callbacks() {
    carry_out([
        Op::Receivers(Behaviour::Broken),
        postback(1, Status::Approved),
        Op::ResolveAll,
        Op::Receivers(Behaviour::Working),
        Op::Pass(401 * DAY_MS),
        // Any request starts due callbacks, and the sweep runs after it.
        postback(1, Status::Approved),
        Op::ResolveAll,
        Op::Alarm(0),
    ]);
}

#[test]
fn a_reversal_that_waits_for_its_reward_again_gets_a_new_schedule() {
    carry_out([
        postback(0, Status::Approved),
        Op::ResolveAll,
        Op::Receivers(Behaviour::Broken),
        postback(0, Status::Reversed),
        Op::ResolveAll,
        Op::Replay(0),
        Op::Enable,
    ]);
}

#[test]
fn a_reversal_of_an_erased_user_that_crosses_the_approval_is_refused() {
    carry_out([
        postback(1, Status::Pending),
        Op::ResolveAll,
        Op::Erase(1),
        Op::ResolveAll,
        Op::Settle(0, Action::Reverse, false),
        postback(1, Status::Approved),
        Op::Settle(0, Action::Reverse, false),
        Op::ResolveAll,
    ]);
}

/// Carries these out once a notice that no receiver took is old enough to leave with its conversion.
fn after_an_old_notice(ops: impl IntoIterator<Item = Op>) {
    let notice = [
        Op::Change(Change::Callback(true, false)),
        Op::Receivers(Behaviour::Broken),
        postback(0, Status::Pending),
        Op::ResolveAll,
        Op::Pass(410 * DAY_MS),
    ];
    carry_out(notice.into_iter().chain(ops));
}

#[test]
fn a_notice_may_leave_during_its_attempt() {
    after_an_old_notice([postback(0, Status::Approved), Op::Alarm(0)]);
}

#[test]
fn a_notice_may_leave_before_its_user_is_erased() {
    after_an_old_notice([Op::Erase(0), Op::Alarm(0), Op::ResolveAll, Op::Alarm(0)]);
}

#[test]
fn new_settings_do_not_concern_a_notice_that_has_left() {
    after_an_old_notice([Op::Alarm(0), Op::ResolveAll, Op::Alarm(0), Op::Change(Change::Callback(true, true))]);
}

/// The settings that an outbox asks for are stored by a write that reports an error and happened.
#[test]
fn stored_settings_are_told_though_their_write_reported_an_error() {
    let mut world = World::new(false, 0);
    world.model.faults = true;
    let stranger = Op::Convert(Postback {
        click: 0,
        age_ms: MINUTE_MS,
        goal: None,
        txn: None,
        status: Status::Approved,
        is_own: false,
    });
    for op in [stranger, Op::Pass(10_000), Op::Alarm(0), Op::Resolve(0, Fate::Succeeds), Op::Alarm(0)] {
        world.carry_out(op, None, Faults::none());
    }
    let commit = [None, None, None, Some(Fault::After)];
    world.carry_out(Op::Resolve(0, Fate::Succeeds), None, Faults::script(commit));
    world.settle_down();
}

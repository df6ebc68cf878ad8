//! What may happen.

use super::receivers::Manner;
use domain::conversions::state::Status;

#[derive(Clone, Debug)]
pub struct Postback {
    pub click: u8,
    /// How old the click is, in milliseconds, if it was not seen before.
    pub age_ms: i64,
    /// Of `GOALS`; beyond them an unknown one.
    pub goal: Option<usize>,
    pub txn: Option<u8>,
    pub status: Status,
    /// 0 and 1 are the advertiser's valid tokens, as long as it has not rotated them.
    pub token: u8,
}

/// What becomes of a call to another object or to a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Well,
    /// It arrives, and its answer is under way.
    Arrives,
    /// It takes effect and the answer is lost.
    Lost,
    Fails,
    /// It arrives long after its sender has given up.
    Straggles,
}

/// What the operator changes in the catalog.
#[derive(Clone, Debug)]
pub enum Change {
    /// Of an offer; whether the counters are told by the catalog.
    Cap(usize, Option<u32>, bool),
    Payout(usize, i64),
    Retire(usize, bool),
    Rotate,
    Rate(i64),
    /// Sets, changes or removes the callback; whether the outbox is told by the catalog.
    Callback(bool, bool),
}

#[derive(Clone, Debug)]
pub enum Op {
    Convert(Postback),
    Resolve(usize, Way),
    ResolveAll,
    Pass(i64),
    /// The alarm, so late.
    Alarm(i64),
    /// An alarm that was not set: the runtime may run one twice.
    AlarmAgain,
    Receivers(Manner),
    Change(Change),
    /// Of the callbacks in the log.
    Replay(usize),
    ReplayMany(&'static str),
    Enable,
    Erase(u8),
    Straggler(usize),
    Die,
}

/// A death in the so-manieth step from now; whether that step was committed before.
pub type Death = (usize, bool);

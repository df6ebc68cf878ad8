//! Operations of the simulation.

use super::receivers::Behaviour;
use contract::rewards::RewardDelivery;
use domain::conversions::{state::Status, table::Action};

#[derive(Clone, Debug)]
pub struct Postback {
    pub click: u8,
    /// The click's age in milliseconds, used for its first postback.
    pub age_ms: i64,
    /// An index into `GOALS`; beyond the end it means an unknown goal.
    pub goal: Option<usize>,
    pub txn: Option<u8>,
    pub status: Status,
    /// Whether the advertiser of the clicked offer sends it.
    pub is_own: bool,
}

/// The outcome of a call to another object or to a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Succeeds,
    /// It takes effect, and its answer is still under way.
    Arrives,
    /// It takes effect, and the answer is lost.
    Lost,
    Fails,
    /// It takes effect long after its sender gave up.
    ArrivesLate,
}

/// A change that the operator makes in the catalog.
#[derive(Clone, Debug)]
pub enum Change {
    /// The cap of an offer; whether the catalog pushes it to the counters.
    Cap(usize, Option<u32>, bool),
    Payout(usize, i64),
    /// The goals that the offers have, as bits.
    Goals(u8),
    Rate(i64),
    /// Pays clicks made before now by the current terms: of the offers, or of the app.
    OfferSince,
    AppSince,
    /// Publishes everything to the edge.
    Publish,
    /// Sets, changes or removes the callback; whether the catalog pushes it to the outbox.
    Callback(bool, bool),
    /// The limits beyond which conversions are held: seconds to convert, and rewards of a user on a day.
    Holds(Option<u32>, Option<u32>),
}

#[derive(Clone, Debug)]
pub enum Op {
    Convert(Postback),
    Resolve(usize, Fate),
    ResolveAll,
    Pass(i64),
    /// The alarm, so many milliseconds late.
    Alarm(i64),
    /// An alarm that was not set: the runtime may run one twice.
    AlarmAgain,
    Receivers(Behaviour),
    Change(Change),
    /// An index into the log's conversions; whether the operator overrides every reason.
    Settle(usize, Action, bool),
    /// An index into the log's callbacks.
    Replay(usize),
    /// A click of another outbox claims a txn for a goal.
    ClaimElsewhere(u8, usize),
    ReplayMany(RewardDelivery),
    Enable,
    Erase(u8),
    Straggler(usize),
    Die,
}

/// The process dies in the n-th step from now; whether that step was committed before.
pub type Death = (usize, bool);

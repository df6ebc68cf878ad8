//! Operations of the simulation.

use crate::outbox_simulation::{ops::Fate, receivers::Behaviour};
use domain::conversions::state::Status;

#[derive(Clone, Debug)]
pub struct Postback {
    pub click: u8,
    /// An index into `GOALS`; none means the click's goal.
    pub goal: Option<usize>,
    pub txn: Option<u8>,
    pub status: Status,
}

/// Clicks that an isolate has counted.
#[derive(Clone, Debug)]
pub struct Clicks {
    /// An index into `OFFERS`.
    pub offer: usize,
    pub is_yesterday: bool,
    pub placement: Option<u8>,
    pub clicks: u32,
}

#[derive(Clone, Debug)]
pub enum Op {
    Convert(Postback),
    /// An isolate, and the counters object that it flushes to.
    Flush(usize, usize, Vec<Clicks>),
    /// The operator says that the day so many days ago has nothing to load.
    Load(i32),
    /// An index into the open calls; whether the call arrives once more, long after.
    Resolve(usize, Fate, bool),
    ResolveAll,
    Pass(i64),
    /// The same, while each call is answered and each alarm runs on time.
    Live(i64),
    /// An object's alarm, so many milliseconds late.
    Alarm(usize, i64),
    /// An alarm that was not set: the runtime may run one twice.
    AlarmAgain(usize),
    Receivers(Behaviour),
    /// Whether an object can be reached.
    Reach(usize, bool),
    /// An index into the calls whose senders gave up; whether it arrives once more.
    Straggler(usize, bool),
    Die(usize),
    /// Copies an object's storage.
    Copy(usize),
    /// Puts the copy back, if there is one; whether the object is told.
    Restore(usize, bool),
}

/// An object's process dies in the n-th step from now; whether that step was committed before.
pub type Death = (usize, usize, bool);

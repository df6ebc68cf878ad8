//! The numbers under which states of conversions are stored.

use domain::conversions::state::{Reason, State};
use platform::{DatabaseError, DbResult};

/// Returns the stored number of a state. Numbers must not change, or stored conversions would change their states.
/// Statements use these numbers: 0 is pending, 1 is approved, 10 to 19 are refused, and 20 and above are held. A notice
/// is stored with the number of its state.
pub fn state_number(state: State) -> i64 {
    match state {
        State::Pending => 0,
        State::Approved => 1,
        State::Rejected => 2,
        State::Reversed => 3,
        State::Tombstone => 4,
        State::Refused(reason) => 10 + reason_number(reason),
        State::Held(reason) => 20 + reason_number(reason),
    }
}

fn reason_number(reason: Reason) -> i64 {
    match reason {
        Reason::WindowClosed => 0,
        Reason::DuplicateTxn => 1,
        Reason::AlreadyRewarded => 2,
        Reason::TooFast => 3,
        Reason::TooManyToday => 4,
        Reason::Capped => 5,
        Reason::Suspended => 6,
        Reason::AfterRestore => 7,
    }
}

pub fn state_of(number: i64) -> DbResult<State> {
    let plain = [State::Pending, State::Approved, State::Rejected, State::Reversed, State::Tombstone];
    let with_reason = Reason::ALL.into_iter().flat_map(|reason| [State::Refused(reason), State::Held(reason)]);
    plain
        .into_iter()
        .chain(with_reason)
        .find(|state| state_number(*state) == number)
        .ok_or_else(|| DatabaseError(format!("{number} is not a state of a conversion")))
}

//! The table of states: what each event does to a conversion in each state. Only this table decides when money moves, so
//! that it moves once, however often and in whatever order the events come.

use serde::{Deserialize, Serialize};

use super::state::{Movement, Reason, State, Status};
use crate::model::ApiError;

/// The answer for [`Transition::Missing`].
pub const UNKNOWN_CONVERSION: ApiError = ApiError::new(404, "not_found", "there is no such conversion");
/// The answer for [`Transition::Conflict`].
pub const WRONG_STATE: ApiError = ApiError::new(
    409,
    "wrong_state",
    "the state of the conversion does not allow the action",
);
/// The answer to an action that would pay or take back the reward of an erased user.
pub const USER_ERASED: ApiError = ApiError::new(
    409,
    "user_erased",
    "the user's identifiers are gone, so the publisher could not be told whose reward it is",
);

/// Something that happens to a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The advertiser's postback.
    Postback(Status),
    /// The operator's action.
    Action(Action),
    /// The suspension for which it is held has ended.
    Release,
}

crate::named_values! {
    /// An action of the operator, with its name in JSON.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Action {
        /// Pays a conversion that is not paid.
        Approve = "approve",
        /// Ends a conversion that was not paid.
        Reject = "reject",
        /// Takes a paid reward back.
        Reverse = "reverse",
    }
}

/// The effect of an event on a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transition {
    /// Pays it. A hold that stands against it holds it; another reason refuses it.
    Judge,
    /// Makes it pending. A reason that stands against it refuses it.
    Await,
    /// Pays what is pending. A hold that stands against it holds it; another reason leaves it pending, with an error.
    Confirm,
    /// Pays what was held for a reason that has passed. A hold that stands against it holds it again; another reason
    /// refuses it.
    Release,
    /// Pays it on the operator's word, whatever its own reason is. Another reason must be overridden by name, and the cap
    /// is taken by force.
    Force,
    /// Ends it. It was not paid.
    Reject,
    /// Leaves a tombstone: notes the reversal of a conversion that was not paid, so that its approval is not paid if it
    /// arrives later.
    LeaveTombstone,
    /// Takes the reward back.
    TakeBack,
    /// Changes nothing. The sender gets the first postback's transaction id and `duplicate: true`.
    Repeat,
    /// There is no such conversion.
    Missing,
    /// The operator cannot do this to a conversion in this state.
    Conflict,
}

/// The step of an event for a conversion in a state; `None` is a conversion that is not known.
pub fn step(state: Option<State>, event: Event) -> Transition {
    use Transition::*;
    let [approved, pending, rejected, reversed, approve, reject, reverse] = match state {
        //                           postbacks: approved, pending, rejected, reversed | actions: approve, reject, reverse
        None => [Judge, Await, Reject, LeaveTombstone, Missing, Missing, Missing],
        Some(State::Refused(_)) => [Judge, Await, Reject, LeaveTombstone, Force, Reject, Conflict],
        Some(State::Pending) => [Confirm, Repeat, Reject, Reject, Force, Reject, Conflict],
        Some(State::Held(_)) => [Repeat, Repeat, Reject, Reject, Force, Reject, Conflict],
        Some(State::Approved) => [Repeat, Repeat, TakeBack, TakeBack, Repeat, Conflict, TakeBack],
        Some(State::Rejected) => [Repeat, Repeat, Repeat, Repeat, Conflict, Repeat, Conflict],
        Some(State::Reversed) => [Repeat, Repeat, Repeat, Repeat, Conflict, Conflict, Repeat],
        Some(State::Tombstone) => [Repeat, Repeat, Repeat, Repeat, Conflict, Conflict, Conflict],
    };
    match event {
        Event::Release if matches!(state, Some(State::Held(reason)) if reason.passes()) => Release,
        Event::Release => Repeat,
        Event::Postback(Status::Approved) => approved,
        Event::Postback(Status::Pending) => pending,
        Event::Postback(Status::Rejected) => rejected,
        Event::Postback(Status::Reversed) => reversed,
        Event::Action(Action::Approve) => approve,
        Event::Action(Action::Reject) => reject,
        Event::Action(Action::Reverse) => reverse,
    }
}

impl Transition {
    /// Whether a reason is judged before the step is taken. The cap is taken last, and only if nothing else stands
    /// against the conversion.
    pub fn judges(self, reason: Reason) -> bool {
        match self {
            Self::Judge => true,
            Self::Await => !reason.holds() && reason != Reason::Capped,
            // The window was open when the conversion became known.
            Self::Confirm | Self::Release => reason != Reason::WindowClosed,
            // Nor does the cap stand against the operator's word, which only counts there.
            Self::Force => reason != Reason::WindowClosed && reason != Reason::Capped,
            _ => false,
        }
    }

    /// Whether the operator's word sets a reason aside: that of the conversion's own state, and those that it names.
    pub fn overrides(self, reason: Reason, state: Option<State>, despite: &[Reason]) -> bool {
        let own = state.and_then(State::reason);
        self == Self::Force && (own == Some(reason) || despite.contains(&reason))
    }

    /// The state after it if nothing stands against it, and the money that moves; `None` if it changes nothing.
    pub fn outcome(self) -> Option<(State, Option<Movement>)> {
        Some(match self {
            Self::Judge | Self::Confirm | Self::Release | Self::Force => {
                (State::Approved, Some(Movement::Reward))
            }
            Self::Await => (State::Pending, None),
            Self::Reject => (State::Rejected, None),
            Self::LeaveTombstone => (State::Tombstone, None),
            Self::TakeBack => (State::Reversed, Some(Movement::Reversal)),
            Self::Repeat | Self::Missing | Self::Conflict => return None,
        })
    }

    /// Whether it pays the conversion if nothing stands against it.
    pub fn pays(self) -> bool {
        self.outcome() == Some((State::Approved, Some(Movement::Reward)))
    }

    /// The state of a conversion against which a reason stands; `None` if it stays as it is.
    pub fn objected(self, reason: Reason) -> Option<State> {
        match self {
            Self::Judge | Self::Confirm | Self::Release if reason.holds() => Some(State::Held(reason)),
            Self::Judge | Self::Await | Self::Release => Some(State::Refused(reason)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;

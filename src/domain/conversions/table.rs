//! The table of states: the effect of each event on a conversion in each state. Only this table decides when money
//! moves, so that each movement happens once, however often and in whatever order the events arrive.

use serde::{Deserialize, Serialize};

use super::state::{Movement, Reason, State, Status};
use crate::model::ApiError;

/// The answer for [`Transition::Missing`].
pub const UNKNOWN_CONVERSION: ApiError = ApiError::new(404, "not_found", "no conversion has this transaction_id");
/// The answer for [`Transition::Conflict`].
pub const WRONG_STATE: ApiError =
    ApiError::new(409, "wrong_state", "the state of the conversion does not allow the action");
/// The answer to an action that would pay or take back the reward of an erased user.
pub const USER_ERASED: ApiError =
    ApiError::new(409, "user_erased", "the user's identifiers are erased, so a callback could not name the user");

/// An event for a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The advertiser's postback.
    Postback(Status),
    /// The operator's action.
    Action(Action),
    /// The reason for which the conversion is held has ended by itself ([`Reason::passes`]).
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
    /// Pays the conversion. If a reason applies that calls for a hold ([`Reason::holds`]), the conversion is held
    /// instead; if any other reason applies, it is refused.
    Judge,
    /// Makes the conversion pending, or refuses it if a reason applies that calls for a refusal. Reasons that call for
    /// a hold, and the cap, are not checked until a later event approves the conversion.
    Await,
    /// Pays a pending conversion. If a reason applies that calls for a hold, the conversion is held instead. If any
    /// other reason applies, the conversion stays pending, and the sender gets an error.
    Confirm,
    /// Pays a conversion whose hold has ended. If another reason applies that calls for a hold, the conversion is held
    /// again; if any other reason applies, it is refused.
    Release,
    /// Pays the conversion by the operator's decision, and ignores the reason for which it was held or refused. To
    /// override any other reason, the operator must name that reason. The conversion counts in the cap even if the cap
    /// is used up.
    Force,
    /// Ends a conversion that was not paid.
    Reject,
    /// Leaves a tombstone: records the reversal of an unpaid conversion, so that a later approval is not paid.
    LeaveTombstone,
    /// Reverses the reward.
    TakeBack,
    /// Changes nothing. The sender gets the first postback's transaction id and `duplicate: true`.
    Repeat,
    /// The operator's action names an unknown conversion.
    Missing,
    /// The state of the conversion does not allow the operator's action.
    Conflict,
}

/// Returns the effect of an event on a conversion in a state. `state` is `None` if the conversion is unknown.
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
    /// True if a reason is checked before the transition. The cap is taken last, and only if no other reason applies.
    pub fn judges(self, reason: Reason) -> bool {
        match self {
            Self::Judge => true,
            Self::Await => !reason.holds() && reason != Reason::Capped,
            // The window was open when the conversion was first reported.
            Self::Confirm | Self::Release => reason != Reason::WindowClosed,
            // The operator may pay despite a closed window or a used-up cap. The cap only counts the conversion.
            Self::Force => reason != Reason::WindowClosed && reason != Reason::Capped,
            _ => false,
        }
    }

    /// True if the operator's decision overrides `reason`: either the conversion was held or refused for this reason,
    /// or the operator named it in `despite`.
    pub fn overrides(self, reason: Reason, state: Option<State>, despite: &[Reason]) -> bool {
        let own = state.and_then(State::reason);
        self == Self::Force && (own == Some(reason) || despite.contains(&reason))
    }

    /// The new state and the money that moves, if no reason applies; `None` if the transition changes nothing.
    pub fn outcome(self) -> Option<(State, Option<Movement>)> {
        Some(match self {
            Self::Judge | Self::Confirm | Self::Release | Self::Force => (State::Approved, Some(Movement::Reward)),
            Self::Await => (State::Pending, None),
            Self::Reject => (State::Rejected, None),
            Self::LeaveTombstone => (State::Tombstone, None),
            Self::TakeBack => (State::Reversed, Some(Movement::Reversal)),
            Self::Repeat | Self::Missing | Self::Conflict => return None,
        })
    }

    /// True if the transition pays the conversion when no reason applies.
    pub fn pays(self) -> bool {
        self.outcome() == Some((State::Approved, Some(Movement::Reward)))
    }

    /// The new state of a conversion if this reason applies; `None` if the state does not change.
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

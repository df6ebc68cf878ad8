//! The states of a conversion and its transitions by postbacks. A row is one click reaching one goal. Only this table
//! decides when money moves, so that it moves once, however often and in whatever order postbacks come.

use serde::{Deserialize, Serialize};

use crate::model::api_error::ApiError;

pub const CONVERSION_CAPPED: ApiError = ApiError::new(
    409,
    "conversion_capped",
    "the offer has reached its conversion cap for this UTC day",
);
pub const CONVERSION_WINDOW_CLOSED: ApiError = ApiError::new(
    410,
    "conversion_window_closed",
    "the click is older than the offer's conversion window",
);
pub const DUPLICATE_TXN: ApiError = ApiError::new(
    409,
    "duplicate_txn",
    "txn was already used for another conversion of this goal",
);

pub const ALREADY_REWARDED: ApiError = ApiError::new(
    409,
    "already_rewarded",
    "the user was already rewarded for this goal by another click",
);

/// The status that a postback reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    #[default]
    Approved,
    Pending,
    Rejected,
    Reversed,
}

impl Status {
    pub const ALL: [Self; 4] = [Self::Approved, Self::Pending, Self::Rejected, Self::Reversed];

    /// Parses one of the four names in any case. Numbers are refused, because networks disagree on what 1 and 2 mean.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str().eq_ignore_ascii_case(text))
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Pending => "pending",
            Self::Rejected => "rejected",
            Self::Reversed => "reversed",
        }
    }
}

/// The state of a row after a postback is committed. (A row may also be `reserving`, on its way to one of these states;
/// repeated postbacks wait for it.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    Pending,
    /// Paid.
    Approved,
    /// Never paid. Final.
    Rejected,
    /// Paid, and taken back. Final.
    Reversed,
    /// Reversed before any other postback came, so never paid. Final.
    Tombstone,
    /// Kept for the log only. A repeated postback is checked afresh.
    Refused(Reason),
}

/// The reason for refusing a well-formed conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    Capped,
    WindowClosed,
    DuplicateTxn,
    AlreadyRewarded,
}

impl Reason {
    pub const ALL: [Self; 4] = [
        Self::Capped,
        Self::WindowClosed,
        Self::DuplicateTxn,
        Self::AlreadyRewarded,
    ];

    pub fn refusal(self) -> ApiError {
        match self {
            Self::Capped => CONVERSION_CAPPED,
            Self::WindowClosed => CONVERSION_WINDOW_CLOSED,
            Self::DuplicateTxn => DUPLICATE_TXN,
            Self::AlreadyRewarded => ALREADY_REWARDED,
        }
    }
}

impl State {
    /// The answer to the sender: the `status` of a 200, or the error.
    pub fn answer(self) -> Result<Status, ApiError> {
        match self {
            Self::Pending => Ok(Status::Pending),
            Self::Approved => Ok(Status::Approved),
            Self::Rejected => Ok(Status::Rejected),
            Self::Reversed | Self::Tombstone => Ok(Status::Reversed),
            Self::Refused(reason) => Err(reason.refusal()),
        }
    }
}

/// A movement of money, which sends a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Movement {
    /// Takes from the cap, pays the goal and calls the publisher.
    Reward,
    /// Calls the publisher again with the exact negative of the amounts paid.
    Reversal,
}

/// The result of applying a postback to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub state: State,
    /// Nothing changes. The sender gets the first postback's transaction id and `duplicate: true`.
    pub duplicate: bool,
    pub movement: Option<Movement>,
}

/// The outcome of a postback for a row in state `current`, which is `None` without a row. If [`is_judged`] requires
/// checks, they must have passed; otherwise the row becomes [`State::Refused`] without a look at this table.
pub fn next(current: Option<State>, status: Status) -> Outcome {
    use {State as S, Status as E};
    match (current, status) {
        (None | Some(S::Refused(_)), E::Approved) => paid(),
        (None | Some(S::Refused(_)), E::Pending) => becomes(S::Pending),
        (None | Some(S::Refused(_)), E::Rejected) => becomes(S::Rejected),
        // Stops the approval if it arrives after its reversal.
        (None | Some(S::Refused(_)), E::Reversed) => becomes(S::Tombstone),

        (Some(S::Pending), E::Approved) => paid(),
        (Some(S::Pending), E::Pending) => stays(S::Pending),
        // Nothing was paid yet, so there is nothing to take back.
        (Some(S::Pending), E::Rejected | E::Reversed) => becomes(S::Rejected),

        // `pending` arrives after the approval, late or repeated.
        (Some(S::Approved), E::Approved | E::Pending) => stays(S::Approved),
        (Some(S::Approved), E::Rejected | E::Reversed) => Outcome {
            movement: Some(Movement::Reversal),
            ..becomes(S::Reversed)
        },

        (
            Some(last @ (S::Rejected | S::Reversed | S::Tombstone)),
            E::Approved | E::Pending | E::Rejected | E::Reversed,
        ) => stays(last),
    }
}

/// Whether a postback needs checks of the window, of the uniqueness of `txn` and, for an approval, of the cap. It does
/// if it may lead to a reward and the conversion is not known yet. A rejection or a reversal costs nobody anything and
/// is always recorded.
pub fn is_judged(current: Option<State>, status: Status) -> bool {
    matches!(current, None | Some(State::Refused(_))) && matches!(status, Status::Approved | Status::Pending)
}

const fn becomes(state: State) -> Outcome {
    Outcome {
        state,
        duplicate: false,
        movement: None,
    }
}

const fn paid() -> Outcome {
    Outcome {
        state: State::Approved,
        duplicate: false,
        movement: Some(Movement::Reward),
    }
}

const fn stays(state: State) -> Outcome {
    Outcome {
        state,
        duplicate: true,
        movement: None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::{Movement::*, State::*, *};

    const REFUSED: [State; 4] = [
        Refused(Reason::Capped),
        Refused(Reason::WindowClosed),
        Refused(Reason::DuplicateTxn),
        Refused(Reason::AlreadyRewarded),
    ];

    #[test]
    fn every_status_of_every_row_has_its_outcome() {
        type Row = (Option<State>, [(State, bool, Option<Movement>); 4]);
        let (reward, reversal) = ((Approved, false, Some(Reward)), (Reversed, false, Some(Reversal)));
        let new = |state| (state, false, None);
        let same = |state| (state, true, None);
        let fresh = [reward, new(Pending), new(Rejected), new(Tombstone)];
        // In the order of `Status::ALL`: approved, pending, rejected, reversed.
        let mut table: Vec<Row> = vec![
            (None, fresh),
            (
                Some(Pending),
                [reward, same(Pending), new(Rejected), new(Rejected)],
            ),
            (
                Some(Approved),
                [same(Approved), same(Approved), reversal, reversal],
            ),
            (Some(Rejected), [same(Rejected); 4]),
            (Some(Reversed), [same(Reversed); 4]),
            (Some(Tombstone), [same(Tombstone); 4]),
        ];
        table.extend(REFUSED.map(|refused| (Some(refused), fresh)));
        for (current, outcomes) in table {
            for (status, (state, duplicate, movement)) in Status::ALL.into_iter().zip(outcomes) {
                let expected = Outcome {
                    state,
                    duplicate,
                    movement,
                };
                assert_eq!(next(current, status), expected, "{current:?} {status:?}");
            }
        }
    }

    #[test]
    fn only_an_unknown_conversion_that_may_be_paid_is_judged() {
        for status in Status::ALL {
            let payable = matches!(status, Status::Approved | Status::Pending);
            for unknown in [None].into_iter().chain(REFUSED.map(Some)) {
                assert_eq!(is_judged(unknown, status), payable, "{unknown:?} {status:?}");
            }
            for known in [Pending, Approved, Rejected, Reversed, Tombstone] {
                assert!(!is_judged(Some(known), status), "{known:?} {status:?}");
            }
        }
    }

    #[test]
    fn a_status_is_one_of_four_names_in_any_case() {
        for status in Status::ALL {
            for name in [status.as_str(), &status.as_str().to_uppercase()] {
                assert_eq!(Status::parse(name), Some(status), "{name}");
            }
        }
        assert_eq!(Status::parse("Approved"), Some(Status::Approved));
        for other in [
            "",
            "1",
            "2",
            "0",
            "approve",
            "approved ",
            "declined",
            "chargeback",
        ] {
            assert_eq!(Status::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_state_is_answered_with_its_status_or_its_error() {
        let text =
            [Pending, Approved, Rejected, Reversed, Tombstone].map(|state| state.answer().unwrap().as_str());
        assert_eq!(text, ["pending", "approved", "rejected", "reversed", "reversed"]);
        let refused = Reason::ALL.map(|reason| {
            let refusal = Refused(reason).answer().unwrap_err();
            (refusal.status, refusal.code)
        });
        assert_eq!(
            refused,
            [
                (409, "conversion_capped"),
                (410, "conversion_window_closed"),
                (409, "duplicate_txn"),
                (409, "already_rewarded")
            ]
        );
    }

    /// The positions in a history at which money moves: the first approval, unless a rejection or a reversal came
    /// before it, and the first rejection or reversal after it.
    fn naive_movements(history: &[Status]) -> Vec<(usize, Movement)> {
        let refusals = |status: &Status| matches!(status, Status::Rejected | Status::Reversed);
        let Some(reward) = history.iter().position(|status| *status == Status::Approved) else {
            return Vec::new();
        };
        if history[..reward].iter().any(refusals) {
            return Vec::new();
        }
        let reversal = history[reward..].iter().position(refusals);
        let reversal = reversal.map(|after| (reward + after, Reversal));
        [(reward, Reward)].into_iter().chain(reversal).collect()
    }

    proptest! {
        #[test]
        fn a_conversion_is_paid_and_reversed_at_most_once(
            history in vec((select(Status::ALL.as_slice()), proptest::option::weighted(0.3, select(Reason::ALL.as_slice()))), 0..12),
        ) {
            let mut current = None;
            let mut movements = Vec::new();
            // A refused postback counts as never sent.
            let mut accepted = Vec::new();
            for (status, reason) in history {
                if let Some(reason) = reason.filter(|_| is_judged(current, status)) {
                    current = Some(Refused(reason));
                    continue;
                }
                let outcome = next(current, status);
                prop_assert_eq!(outcome.duplicate, current == Some(outcome.state));
                prop_assert!(!outcome.duplicate || outcome.movement.is_none());
                if matches!(current, Some(Rejected | Reversed | Tombstone)) {
                    prop_assert_eq!(current, Some(outcome.state), "a final state changed");
                }
                if let Some(movement) = outcome.movement {
                    movements.push((accepted.len(), movement));
                }
                accepted.push(status);
                current = Some(outcome.state);
            }
            prop_assert!(movements.len() <= 2);
            prop_assert_eq!(movements, naive_movements(&accepted));
        }
    }
}

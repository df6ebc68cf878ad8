//! The states of a conversion, and the reasons for which a conversion is not paid. A row stands for one click that
//! reached one goal.

use serde::{Deserialize, Serialize};

use crate::model::ApiError;

/// The answer for [`Reason::WindowClosed`], and to a postback of a click past its life.
pub const CONVERSION_WINDOW_CLOSED: ApiError =
    ApiError::new(410, "conversion_window_closed", "the click is older than the offer's conversion window");
/// The refusal for [`Reason::Suspended`]. Senders are told `pending` instead, since the reason holds the conversion.
pub const SUSPENDED: ApiError = ApiError::new(409, "suspended", "the publisher of the app is suspended");

crate::named_values! {
    /// The status that a postback reports, with its text in postbacks, answers and the log.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Status {
        /// The goal was reached and is to be paid.
        #[default]
        Approved = "approved",
        /// The goal was reached and may be paid later.
        Pending = "pending",
        /// The goal is not to be paid.
        Rejected = "rejected",
        /// A paid conversion is to be taken back.
        Reversed = "reversed",
    }
}

impl Status {
    /// Parses one of the four names in any case. Numbers are refused, because networks disagree on what 1 and 2 mean.
    pub fn parse_any_case(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(text))
    }
}

/// The state of a row after an event is committed. In storage, a row may also be `reserving`: on its way to one of
/// these states. Further events wait until the row has reached that state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Reported as pending, and not paid yet.
    Pending,
    /// Earned, but not paid until the operator approves it. The advertiser and the publisher are told that it is
    /// pending.
    Held(Reason),
    /// Paid.
    Approved,
    /// Never paid. Final.
    Rejected,
    /// Paid, and taken back. Final.
    Reversed,
    /// Reversed before any other postback arrived, so never paid. Final.
    Tombstone,
    /// Refused for this reason and not paid. The row is kept only for the log: if the sender resends the postback, all
    /// reasons are checked again.
    Refused(Reason),
}

/// The reasons for which a well-formed conversion is not paid, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Reason {
    /// The click is older than the offer's conversion window.
    WindowClosed,
    /// Another click already reached this goal with the sender's `txn`.
    DuplicateTxn,
    /// Another click paid the user for this goal, which the offer pays once for each user.
    AlreadyRewarded,
    /// The outbox was restored from a copy, and may have paid this conversion after the copy was made. Holds for 72
    /// hours.
    AfterRestore,
    /// The publisher is suspended. Holds until the suspension ends.
    Suspended,
    /// The conversion came sooner after its click than the offer allows. Holds.
    TooFast,
    /// The user has as many rewards on this UTC day as the app allows. Holds.
    TooManyToday,
    /// The offer's conversion cap for this UTC day is used up.
    Capped,
}

impl Reason {
    /// Every reason, in the order of the checks.
    pub const ALL: [Self; 8] = [
        Self::WindowClosed,
        Self::DuplicateTxn,
        Self::AlreadyRewarded,
        Self::AfterRestore,
        Self::Suspended,
        Self::TooFast,
        Self::TooManyToday,
        Self::Capped,
    ];

    /// The answer to the sender of a conversion that this reason refuses. For a reason that [holds](Self::holds), the
    /// sender is told `pending` instead.
    pub fn refusal(self) -> ApiError {
        match self {
            Self::WindowClosed => CONVERSION_WINDOW_CLOSED,
            Self::DuplicateTxn => {
                ApiError::new(409, "duplicate_txn", "txn was already used for another conversion of this goal")
            }
            Self::AlreadyRewarded => {
                ApiError::new(409, "already_rewarded", "the user was already rewarded for this goal by another click")
            }
            Self::AfterRestore => {
                ApiError::new(409, "after_restore", "the conversion may have been paid before the outbox was restored")
            }
            Self::Suspended => SUSPENDED,
            Self::TooFast => {
                ApiError::new(409, "too_fast", "the conversion came sooner after its click than the offer allows")
            }
            Self::TooManyToday => {
                ApiError::new(409, "too_many_today", "the user has as many rewards on this UTC day as the app allows")
            }
            Self::Capped => {
                ApiError::new(409, "conversion_capped", "the offer has reached its conversion cap for this UTC day")
            }
        }
    }

    /// The code of [`Self::refusal`], which also names the reason in JSON and in storage.
    pub fn code(self) -> &'static str {
        self.refusal().code
    }

    /// The reason with this code; `None` for any other text.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// True if the reason holds a conversion, which the operator may then approve. Any other reason refuses the
    /// conversion.
    pub fn holds(self) -> bool {
        matches!(self, Self::AfterRestore | Self::Suspended | Self::TooFast | Self::TooManyToday)
    }

    /// True if the reason ends by itself. The conversions that it held are then re-evaluated.
    pub fn passes(self) -> bool {
        matches!(self, Self::AfterRestore | Self::Suspended)
    }
}

impl From<Reason> for &'static str {
    fn from(reason: Reason) -> Self {
        reason.code()
    }
}

impl TryFrom<String> for Reason {
    type Error = String;

    fn try_from(code: String) -> Result<Self, String> {
        Self::parse(&code).ok_or_else(|| format!("{code} is not the code of a reason"))
    }
}

impl State {
    /// The answer to the sender: the `status` of a 200, or the error.
    pub fn answer(self) -> Result<Status, ApiError> {
        match self {
            Self::Pending | Self::Held(_) => Ok(Status::Pending),
            Self::Approved => Ok(Status::Approved),
            Self::Rejected => Ok(Status::Rejected),
            Self::Reversed | Self::Tombstone => Ok(Status::Reversed),
            Self::Refused(reason) => Err(reason.refusal()),
        }
    }

    /// The reason for which the conversion is held or was refused.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Self::Held(reason) | Self::Refused(reason) => Some(reason),
            _ => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_one_of_four_names_in_any_case() {
        for status in Status::ALL {
            for name in [status.as_str(), &status.as_str().to_uppercase()] {
                assert_eq!(Status::parse_any_case(name), Some(status), "{name}");
            }
        }
        assert_eq!(Status::parse_any_case("Approved"), Some(Status::Approved));
        for other in ["", "1", "2", "0", "approve", "approved ", "declined", "chargeback"] {
            assert_eq!(Status::parse_any_case(other), None, "{other}");
        }
    }

    #[test]
    fn a_state_is_answered_with_its_status_or_its_error() {
        use State::*;
        let told = [Pending, Held(Reason::TooFast), Approved, Rejected, Reversed, Tombstone];
        let told = told.map(|state| state.answer().unwrap().as_str());
        assert_eq!(told, ["pending", "pending", "approved", "rejected", "reversed", "reversed"]);
        let refused = Reason::ALL.map(|reason| {
            let refusal = Refused(reason).answer().unwrap_err();
            (refusal.status, refusal.code)
        });
        assert_eq!(
            refused,
            [
                (410, "conversion_window_closed"),
                (409, "duplicate_txn"),
                (409, "already_rewarded"),
                (409, "after_restore"),
                (409, "suspended"),
                (409, "too_fast"),
                (409, "too_many_today"),
                (409, "conversion_capped"),
            ]
        );
    }

    #[test]
    fn four_reasons_hold_and_the_others_refuse() {
        let holding: Vec<_> = Reason::ALL.into_iter().filter(|reason| reason.holds()).collect();
        assert_eq!(holding, [Reason::AfterRestore, Reason::Suspended, Reason::TooFast, Reason::TooManyToday]);
        assert_eq!(State::Held(Reason::TooFast).reason(), Some(Reason::TooFast));
        assert_eq!(State::Refused(Reason::Capped).reason(), Some(Reason::Capped));
        assert_eq!(State::Pending.reason(), None);
    }

    #[test]
    fn a_reason_is_read_by_its_code() {
        for reason in Reason::ALL {
            assert_eq!(Reason::parse(reason.code()), Some(reason));
            let json = serde_json::to_string(&reason).unwrap();
            assert_eq!(json, format!("\"{}\"", reason.code()));
            assert_eq!(serde_json::from_str::<Reason>(&json).unwrap(), reason);
        }
        assert_eq!(Reason::parse("capped"), None);
        assert!(serde_json::from_str::<Reason>("\"capped\"").is_err());
    }
}

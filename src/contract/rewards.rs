//! Rewards as their publisher sees them: the states, and the conditions of a list or a replay.

use serde::{Deserialize, Serialize};

use crate::stored_names::stored_names;
use domain::model::time::LATEST_S;

/// The conditions that rewards must meet. `None` is no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewardFilter {
    /// The state of the reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<RewardState>,
    /// The state of the callback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<RewardDelivery>,
    /// The status of the last attempt's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// The start of the range of conversion times, in UNIX seconds, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    /// The end of the range of conversion times, in UNIX seconds, exclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// The id of a reward, a reversal or a notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    /// The id of a user of the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
}

impl RewardFilter {
    /// The first included second, in UNIX seconds.
    pub fn first_s(&self) -> i64 {
        self.from.unwrap_or(0)
    }

    /// The second after the last included one, in UNIX seconds.
    pub fn end_s(&self) -> i64 {
        self.until.unwrap_or(LATEST_S)
    }
}

/// The kind of an entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RewardKind {
    /// A conversion, paid or not.
    Reward,
    /// The reversal of a paid reward.
    Reversal,
    /// A notice to the publisher that a conversion is pending or was rejected.
    Notice,
}

stored_names! {
    /// The state of a reward as the publisher sees it. The outbox's SQL statements contain the numbers.
    RewardState {
        /// The advertiser has not decided yet.
        Pending = 0 "pending",
        /// It was paid.
        Approved = 1 "approved",
        /// It was never paid: the advertiser rejected it, or reversed it before any other event.
        Rejected = 2 "rejected",
        /// It was paid and then reversed.
        Reversed = 3 "reversed",
        /// It waits for the operator's decision.
        Held = 4 "held",
        /// It was refused for a reason, such as a cap that is used up.
        Refused = 5 "refused",
    }

    /// The state of a callback. The outbox stores the same numbers, except the last one.
    RewardDelivery {
        /// It will be sent or retried.
        Waiting = 0 "waiting",
        /// It was answered 2xx.
        Delivered = 1 "delivered",
        /// Its schedule ended without success.
        Dead = 2 "dead",
        /// The app does not want callbacks of this kind.
        NotWanted = 3 "not_wanted",
        /// The callback waits, but the app has no endpoint. Readers derive this from the endpoint's state; an outbox
        /// never reports it.
        NoEndpoint = 4 "no_endpoint",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back_to_their_states() {
        for state in RewardState::ALL {
            assert_eq!(RewardState::from_number(state.number()), Some(state));
            assert_eq!(RewardState::parse(state.as_str()), Some(state));
        }
        for delivery in RewardDelivery::ALL {
            assert_eq!(RewardDelivery::from_number(delivery.number()), Some(delivery));
            assert_eq!(RewardDelivery::parse(delivery.as_str()), Some(delivery));
        }
        assert_eq!(RewardState::parse("paid"), None);
        assert_eq!(RewardDelivery::from_number(9), None);
    }
}

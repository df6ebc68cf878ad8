//! Calls about a reward, a click or a user of an app. For a publisher's call, the outbox checks that the publisher owns
//! the app.

use serde::{Deserialize, Serialize};

use crate::{
    operation::Bytes,
    rewards::{RewardFilter, RewardState},
};
use domain::model::PublisherId;

/// `GET …/rewards/{transaction_id}`: the history of a reward.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadReward {
    /// The publisher that asks.
    pub publisher: PublisherId,
    /// The id of the reward, of its reversal, or of a notice about it.
    pub transaction_id: String,
    /// True if the reader may see only an analyst's fields.
    pub is_analyst: bool,
}

/// `POST …/erase_user`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erase {
    /// The user's id in the publisher's app.
    pub user_id: String,
    /// True to erase only in the journals that the outbox keeps for others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_witness: bool,
}

/// Reads the conversions of a click.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadClick {
    /// The nonce of the click id.
    pub nonce: Bytes,
    /// The click's user, and the click's time in milliseconds; `None` if the click's record was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<(String, i64)>,
}

/// The conversions of a click.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClickOutcome {
    /// The conversions; empty if none arrived.
    pub rewards: Vec<ClickReward>,
    /// True if the user was erased after the click. Nothing about the click may then be shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_erased: bool,
}

/// A conversion of a click, one for each goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClickReward {
    /// The id of the reward.
    pub transaction_id: String,
    /// The goal that was reached.
    pub goal_id: String,
    /// The state as the publisher sees it.
    pub state: RewardState,
}

/// `POST …/rewards/{transaction_id}/replay`. Each call resends the callback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayReward {
    /// The publisher that asks.
    pub publisher: PublisherId,
    /// The id of a reward, a reversal or a notice.
    pub transaction_id: String,
}

/// Replays or counts one part of many callbacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayRewards {
    /// The publisher of the replay.
    pub publisher: PublisherId,
    /// The filter, the same in every part.
    pub filter: RewardFilter,
    /// Only entries after this number.
    pub after: i64,
    /// Maximum callbacks to send. With 0, the matching callbacks are counted and none is sent.
    pub limit: u32,
    /// The name of the part. If the part has already sent callbacks, a retry gets the same answer and sends none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}

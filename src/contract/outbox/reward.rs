//! Calls about a reward, a click or a user of an app. Where a publisher calls, the outbox checks that the app is the publisher's.

use serde::{Deserialize, Serialize};

use crate::{
    operation::Bytes,
    rewards::{RewardFilter, RewardState},
};
use domain::model::PublisherId;

/// `GET …/rewards/{transaction_id}`: the story of a reward, by its id or that of its reversal or of a notice about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadReward {
    /// The publisher that asks.
    pub publisher: PublisherId,
    /// The id of the reward, or of its reversal or a notice.
    pub transaction_id: String,
    /// Whether the reader may see an analyst's fields only.
    pub is_analyst: bool,
}

/// `POST …/erase_user`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erase {
    /// The user's id in the publisher's app.
    pub user_id: String,
    /// Only from the journals that the outbox keeps for others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_witness: bool,
}

/// Reads what became of a click.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadClick {
    /// The nonce of the click id.
    pub nonce: Bytes,
    /// The user of the click and its time in milliseconds; none if its record has left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<(String, i64)>,
}

/// What became of a click.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClickOutcome {
    /// Empty if no conversion came.
    pub rewards: Vec<ClickReward>,
    /// Whether the user was erased after the click, so that nothing of it may be shown.
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
    /// As the publisher sees it.
    pub state: RewardState,
}

/// `POST …/rewards/{transaction_id}/replay`. Each call sends the callback again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayReward {
    /// The publisher that asks.
    pub publisher: PublisherId,
    /// The id of a reward, a reversal or a notice.
    pub transaction_id: String,
}

/// A step of a replay of many callbacks, or of its count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayRewards {
    /// The publisher of the replay.
    pub publisher: PublisherId,
    /// The same in every step.
    pub filter: RewardFilter,
    /// Only later entries.
    pub after: i64,
    /// Callbacks at most; 0 counts them and sends none.
    pub limit: u32,
    /// The step's name. One that sent callbacks is answered a second time without sending them again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}

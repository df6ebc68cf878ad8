//! A publisher's calls about one of its rewards. The outbox checks that its app is the publisher's.

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

/// Reads what became of a click.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadClick {
    /// The nonce of the click id.
    pub nonce: Bytes,
}

/// What became of a click.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClickOutcome {
    /// Empty if no conversion came.
    pub rewards: Vec<ClickReward>,
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

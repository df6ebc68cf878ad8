//! `GET /v1/core/rewards`: the rewards of an outbox in the order of their newest changes.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use domain::model::PublisherId;

/// Reads the rewards whose newest change is in a range of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadChanges {
    /// The publisher that asks.
    pub publisher: PublisherId,
    /// Only numbers of the log after this one.
    pub after: i64,
    /// Only numbers up to this one.
    pub through: i64,
    /// Maximum rewards.
    pub limit: u32,
}

/// The answer to [`ReadChanges`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ChangedRewards {
    /// The rewards, in the order of their numbers.
    pub rewards: Vec<ChangedReward>,
    /// The number up to which the answer is complete: `through`, or a lower one if there is more to read or if the
    /// outbox could still write a number before `through`.
    pub through: i64,
}

/// A reward that changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChangedReward {
    /// The number of its newest change.
    pub number: i64,
    /// The reward as its publisher reads it.
    pub reward: Box<RawValue>,
}

//! Replays of many callbacks of an app. The activity object carries them out in the background, some at a time.

use serde::{Deserialize, Serialize};

use super::{RewardDelivery, RewardState};
use domain::model::{AppId, PublisherId};

/// The callbacks of a replay: the conditions of [`RewardFilter`](super::RewardFilter) for one app and until a time. Each
/// narrows it. A reward without a callback matches none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayFilter {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<RewardState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<RewardDelivery>,
    /// The answer to the last try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// The time of the conversion in UNIX seconds: the first one, and the one after the last.
    pub from: i64,
    pub until: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
}

/// Counts the callbacks that a replay would send again now. 400 `count_too_long` if that takes too long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountReplay {
    pub publisher: PublisherId,
    pub app: AppId,
    pub filter: ReplayFilter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub count: i64,
}

/// Starts a replay, once for a key. 409 `replay_running` while the app has another, and `idempotency_key_reused` for a key that
/// has started one with another filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartReplay {
    pub publisher: PublisherId,
    pub app: AppId,
    pub filter: ReplayFilter,
    pub key: String,
    /// The most callbacks that it sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
}

/// Reads how far a replay is. 404 if there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadReplay {
    pub app: AppId,
    pub replay_id: String,
}

/// Ends a replay. What it has sent again stays so. The answer is 204, or 200 if it was over. 404 if there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelReplay {
    pub app: AppId,
    pub replay_id: String,
}

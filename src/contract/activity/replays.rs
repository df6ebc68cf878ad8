//! Replays of many callbacks of an app. The activity object carries them out in the background, some at a time.

use serde::{Deserialize, Serialize};

use super::{RewardDelivery, RewardState};
use domain::model::{AppId, PublisherId};

/// The callbacks of a replay: the conditions of [`RewardFilter`](super::RewardFilter) for one app and until a time. Each
/// narrows it. A reward without a callback matches none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayFilter {
    /// `None` matches any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<RewardState>,
    /// The callback's delivery; any if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<RewardDelivery>,
    /// The answer to the last try; any if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// The first conversion time, in UNIX seconds.
    pub from: i64,
    /// The conversion time after the last, in UNIX seconds.
    pub until: i64,
    /// The id of a reward, a reversal or a notice; any if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    /// The user's id in the publisher's app; any if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
}

/// Counts the callbacks that a replay would send again now. 400 `count_too_long` if that takes too long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountReplay {
    /// The publisher of this object.
    pub publisher: PublisherId,
    /// An app of the publisher. Each outbox checks that.
    pub app: AppId,
    /// The callbacks to count, over all outboxes of the app.
    pub filter: ReplayFilter,
}

/// The answer to [`CountReplay`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Callbacks that match now.
    pub count: i64,
}

/// Starts a replay, once for a key. 409 `replay_running` while the app has another, and `idempotency_key_reused` for a key that
/// has started one with another filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartReplay {
    /// The publisher of this object.
    pub publisher: PublisherId,
    /// An app of the publisher. Each outbox checks that.
    pub app: AppId,
    /// The callbacks to send again.
    pub filter: ReplayFilter,
    /// The `Idempotency-Key`, of this app alone.
    pub key: String,
    /// The most callbacks that it sends; no limit if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
}

/// Reads how far a replay is. 404 if there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadReplay {
    /// The replay's app. Its replay under another app is not found.
    pub app: AppId,
    /// The id in the answer to [`StartReplay`].
    pub replay_id: String,
}

/// Ends a replay. What it has sent again stays so. The answer is 204, or 200 if it was over. 404 if there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelReplay {
    /// The replay's app. Its replay under another app is not found.
    pub app: AppId,
    /// The id in the answer to [`StartReplay`].
    pub replay_id: String,
}

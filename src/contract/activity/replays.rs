//! Replays of many callbacks of an app. The activity object sends them in the background, a few at a time.

use serde::{Deserialize, Serialize};

use crate::rewards::RewardFilter;
use domain::model::{AppId, PublisherId};

/// Counts the callbacks that a replay would resend now. Returns 400 `count_too_long` if counting takes too long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountReplay {
    /// The publisher of this object.
    pub publisher: PublisherId,
    /// An app of the publisher. Each outbox checks this.
    pub app: AppId,
    /// The callbacks to count, over all outboxes of the app.
    pub filter: RewardFilter,
}

/// The answer to [`CountReplay`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// The number of callbacks that match now.
    pub count: i64,
}

/// Starts a replay, once for each key. Returns 409 `replay_running` while another replay of the app runs, and 409
/// `idempotency_key_reused` if the key has started a replay with another filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartReplay {
    /// The publisher of this object.
    pub publisher: PublisherId,
    /// An app of the publisher. Each outbox checks this.
    pub app: AppId,
    /// The callbacks to resend.
    pub filter: RewardFilter,
    /// The `Idempotency-Key`, which is valid within this app.
    pub key: String,
    /// Maximum callbacks that the replay sends; no limit if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
}

/// Reads a replay's progress; 404 if it does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadReplay {
    /// The replay's app. A replay of another app is not found.
    pub app: AppId,
    /// The id in the answer to [`StartReplay`].
    pub replay_id: String,
}

/// Ends a replay. Callbacks that the replay has already resent are not taken back. Returns 204, or 200 if the replay
/// was already over, or 404 if it is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelReplay {
    /// The replay's app. A replay of another app is not found.
    pub app: AppId,
    /// The id in the answer to [`StartReplay`].
    pub replay_id: String,
}

/// Cancels the replays of a user's callbacks, because the user is erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndReplaysOf {
    /// The erased user.
    pub user_id: String,
    /// Only in this app; in all apps if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<AppId>,
}

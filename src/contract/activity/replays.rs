//! Replays of many callbacks of an app. The activity object carries them out in the background, some at a time.

use serde::{Deserialize, Serialize};

use domain::model::{AppId, PublisherId};

/// The callbacks of a replay, by their state of delivery and the time of their conversion in UNIX seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayFilter {
    pub delivery: ReplayedDelivery,
    pub from: i64,
    /// The second after the last.
    pub until: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplayedDelivery {
    #[default]
    Dead,
    Delivered,
    Waiting,
}

/// Counts the callbacks that a replay would send again now.
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

/// Starts a replay, once for a key. 409 `replay_running` while the app has another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartReplay {
    pub publisher: PublisherId,
    pub app: AppId,
    pub filter: ReplayFilter,
    pub key: String,
}

/// Reads how far a replay is. 404 if there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadReplay {
    pub app: AppId,
    pub replay_id: String,
}

/// Ends a replay. What it has sent again stays so. 404 if there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelReplay {
    pub app: AppId,
    pub replay_id: String,
}

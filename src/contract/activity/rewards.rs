//! The list of rewards: a page of the newest entries of all logs, or the changes since a page was read.

use serde::{Deserialize, Serialize};

use super::RewardDetails;
use crate::rewards::{RewardDelivery, RewardFilter, RewardState};
use domain::model::AppId;

/// Reads a page of rewards. If `after` is set, reads the changes since that version instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRewards {
    /// Only this app; all apps of the publisher if `None`.
    pub app: Option<AppId>,
    /// The conditions that the listed rewards must meet.
    pub filter: RewardFilter,
    /// Maximum rewards, up to 200.
    pub limit: u32,
    /// Only entries older than the one at this place.
    pub before: Option<Place>,
    /// Only entries that changed after this version, the earliest change first.
    pub after: Option<i64>,
    /// True for an analyst, who may see only transaction id, offer, goal, state, amounts, times and HTTP status.
    pub is_analyst: bool,
}

/// The place of an entry in the order of all logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The entry's number. It increases with time.
    pub entry: i64,
    /// The app, since entries of two apps may have the same number.
    pub app: AppId,
}

/// The answer to [`ListRewards`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewardPage {
    /// Lag in milliseconds: age of the oldest change that an outbox announced but has not sent, or the time
    /// since a promised batch was due. 0 if nothing is missing.
    pub behind_ms: i64,
    /// The rewards, newest first; with `after`, in the order of their changes.
    pub rewards: Vec<ListedReward>,
    /// With `after`, the transaction ids of entries that have changed since and no longer match the filter.
    pub unmatched: Vec<String>,
    /// The place of the last entry, if there are more.
    pub next: Option<Place>,
    /// The version for the next request of changes.
    pub version: i64,
    /// True if there are more changes than the list has.
    pub has_more_changes: bool,
}

/// An entry of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedReward {
    /// The app in which the reward was earned.
    pub app: AppId,
    /// The id of the reward, the reversal or the notice.
    pub transaction_id: String,
    /// The state of the reward; for a reversal or a notice, the state that it reports.
    pub state: RewardState,
    /// The state of the callback; `None` if there is none.
    pub delivery: Option<RewardDelivery>,
    /// The status of the last attempt's answer; `None` before the first attempt and without an answer.
    pub http_status: Option<u16>,
    /// The user; `None` for an analyst, and once the user is erased.
    pub user_id: Option<String>,
    /// The time of the conversion, in UNIX seconds.
    pub conversion_ts: i64,
    /// The time when the callback was answered 2xx, in milliseconds.
    pub delivered_ms: Option<i64>,
    /// The details of the reward. For an analyst, `code` is `None`.
    pub details: RewardDetails,
}

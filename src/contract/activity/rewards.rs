//! The list of rewards: a page of the newest entries of all logs, or what has changed since a page was read.

use serde::{Deserialize, Serialize};

use super::RewardDetails;
use crate::rewards::{RewardDelivery, RewardFilter, RewardState};
use domain::model::AppId;

/// Reads a page of rewards, or with `after` the changes since a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRewards {
    /// One app alone; `None` is all of the publisher.
    pub app: Option<AppId>,
    /// Applies to a page and to changes.
    pub filter: RewardFilter,
    /// Rewards at most, up to 200.
    pub limit: u32,
    /// Only older entries than that at this place.
    pub before: Option<Place>,
    /// Only entries that changed after this version, the earliest change first.
    pub after: Option<i64>,
    /// Whether the reader may see an analyst's columns only: transaction id, offer, goal, state, amounts, times, HTTP status.
    pub is_analyst: bool,
}

/// The place of an entry in the order of all logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The entry's number. It rises with the time.
    pub entry: i64,
    /// Entries of two apps may have the same number.
    pub app: AppId,
}

/// The answer to [`ListRewards`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewardPage {
    /// Lag in milliseconds: age of the oldest change that an outbox announced but has not sent, or the time
    /// since a promised batch was due. 0 if nothing is missing.
    pub behind_ms: i64,
    /// The newest first; with `after`, in the order of their changes.
    pub rewards: Vec<ListedReward>,
    /// Of a list after a version, the entries that changed and do not match the filter.
    pub unmatched: Vec<String>,
    /// The place of the last entry, if there are more.
    pub next: Option<Place>,
    /// The version to ask for changes after.
    pub version: i64,
    /// Whether more has changed than the list has.
    pub has_more_changes: bool,
}

/// An entry of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedReward {
    /// The app that the reward is earned in.
    pub app: AppId,
    /// The id of the reward, the reversal or the notice.
    pub transaction_id: String,
    /// The state of a reward; of a reversal or a notice, the state that it tells of.
    pub state: RewardState,
    /// `None` if there is no callback.
    pub delivery: Option<RewardDelivery>,
    /// The answer to the last try; `None` before the first and without an answer.
    pub http_status: Option<u16>,
    /// `None` for an analyst, and once the user is erased.
    pub user_id: Option<String>,
    /// Time of the conversion, in UNIX seconds.
    pub conversion_ts: i64,
    /// When the callback was answered 2xx, in milliseconds.
    pub delivered_ms: Option<i64>,
    /// Its `code` is `None` for an analyst.
    pub details: RewardDetails,
}

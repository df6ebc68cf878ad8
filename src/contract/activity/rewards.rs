//! The list of rewards: a page of the newest entries of all logs, or what has changed since a page was read.

use serde::{Deserialize, Serialize};

use super::{RewardDelivery, RewardDetails, RewardState};
use domain::model::AppId;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRewards {
    pub filter: RewardFilter,
    pub limit: u32,
    /// Only older entries than that at this place.
    pub before: Option<Place>,
    /// Only entries that changed after this version, the earliest change first.
    pub after: Option<i64>,
    /// Whether the reader may see an analyst's columns only: transaction id, offer, goal, state, amounts, times, HTTP status.
    pub is_analyst: bool,
}

/// Each condition narrows the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewardFilter {
    pub app: Option<AppId>,
    pub state: Option<RewardState>,
    pub delivery: Option<RewardDelivery>,
    pub http_status: Option<u16>,
    /// UNIX seconds: the first one, and the one after the last.
    pub from: Option<i64>,
    pub to: Option<i64>,
    pub transaction_id: Option<String>,
    /// Refused to an analyst.
    pub user_id: Option<String>,
}

/// The place of an entry in the order of all logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub entry: i64,
    pub app: AppId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewardPage {
    /// How far the object is behind its outboxes, by what they have told it: for how long a change may have been waiting that
    /// an outbox told of and has not reported, or for how long an outbox is silent that had promised to report.
    pub behind_ms: i64,
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedReward {
    pub app: AppId,
    pub transaction_id: String,
    pub state: RewardState,
    pub delivery: Option<RewardDelivery>,
    pub http_status: Option<u16>,
    pub user_id: Option<String>,
    pub conversion_ts: i64,
    pub delivered_ms: Option<i64>,
    pub details: RewardDetails,
}

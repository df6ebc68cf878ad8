//! A batch of an outbox: what has changed in it since its last one. Everything in it is absolute, so a batch that is
//! applied twice changes nothing, and one that was lost is made up for by the next.

use serde::{Deserialize, Serialize};

use crate::{
    outbox::{EndpointState, OutboxShard},
    rewards::{RewardDelivery, RewardKind, RewardState},
};
use domain::model::{AppId, UtcDay};

/// A batch of one outbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedBatch {
    /// The outbox's app.
    pub app: AppId,
    /// The number of the outbox.
    pub shard: u8,
    /// Rises with each batch of the outbox. A batch that is not above the last one is ignored.
    pub sequence: i64,
    /// The number of the last batch that the outbox knows to be applied.
    #[serde(default)]
    pub confirmed: i64,
    /// Whether the outbox tells all again from this batch on.
    #[serde(default)]
    pub restarts: bool,
    /// When it was made, in milliseconds.
    pub at_ms: i64,
    /// When the oldest change happened that the outbox has and has not reported yet, at the earliest; none if the batch has
    /// all.
    pub owes_since_ms: Option<i64>,
    /// When the next batch comes at the latest, whatever happens; none if the outbox reports again only after a change.
    pub next_by_ms: Option<i64>,
    /// The endpoint's standing, changed or not.
    pub endpoint: EndpointStanding,
    /// The counts that changed.
    pub counts: Vec<RewardCount>,
    /// The entries of the log that changed.
    pub entries: Vec<FeedEntry>,
}

impl FeedBatch {
    /// Returns the outbox that sent it.
    pub fn outbox(&self) -> OutboxShard {
        OutboxShard::new(self.app, self.shard)
    }
}

/// The standing of the app's endpoint with an outbox, or with all of them: then the worst state, and sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointStanding {
    /// Of all of them, the worst.
    pub state: EndpointState,
    /// When the endpoint disabled itself, in milliseconds; `None` if it is not disabled.
    pub disabled_ms: Option<i64>,
    /// Callbacks that wait to be sent, at most [`EndpointStanding::MAX`].
    pub waiting: i64,
    /// Callbacks whose schedule ended without success, at most [`EndpointStanding::MAX`].
    pub dead: i64,
}

impl EndpointStanding {
    /// Callbacks that are counted at most: 2 ms, in which the outbox answers no other request.
    pub const MAX: i64 = 20_000;
}

/// All rewards of an outbox in a state on a UTC day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewardCount {
    /// The day on which the rewards reached the state.
    pub day: UtcDay,
    /// The state that is counted.
    pub state: RewardState,
    /// Number of rewards.
    pub rewards: i64,
    /// The sum of their payouts, in micro-USD; negative for reversals.
    pub payout_micro_usd: i64,
}

/// An entry of the log as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedEntry {
    /// Its number, which is unique over the outboxes of the app and rises with the time.
    pub entry: i64,
    /// The id of the reward, the reversal or the notice.
    pub transaction_id: String,
    /// The state of a reward; of a reversal or a notice, the state that it tells of.
    pub state: RewardState,
    /// None if there is no callback.
    pub delivery: Option<RewardDelivery>,
    /// The answer to the last attempt.
    pub http_status: Option<u16>,
    /// None once the user is erased.
    pub user_id: Option<String>,
    /// UNIX seconds.
    pub conversion_ts: i64,
    /// When the callback was answered 2xx, in milliseconds.
    pub delivered_ms: Option<i64>,
    /// Stored by the receiver as one JSON text.
    pub details: RewardDetails,
}

/// The part of an entry that is only shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewardDetails {
    /// Distinguishes the three kinds of entries.
    pub kind: RewardKind,
    /// Of a reversal or a notice, the reward's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_transaction_id: Option<String>,
    /// The code of the reason for which a conversion is held or was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The offer of the click.
    pub offer_id: String,
    /// The goal that was reached.
    pub goal_id: String,
    /// A decimal number in the app's currency. If nothing is paid, the amount that would have been paid.
    pub value: String,
    /// The same in USD.
    pub payout: String,
    /// The name of the app's currency.
    pub currency: String,
    /// UNIX seconds.
    pub click_ts: i64,
    /// Attempts in the current schedule.
    pub attempts: u32,
}

//! A batch of an outbox: its changes since the last batch. All values are absolute, so applying a batch twice changes
//! nothing, and the next batch makes up for a lost one.

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
    /// The sequence of the last batch that, as far as the outbox knows, was applied.
    #[serde(default)]
    pub confirmed: i64,
    /// True if the outbox reports everything again, beginning with this batch.
    #[serde(default)]
    pub restarts: bool,
    /// The time when the batch was made, in milliseconds.
    pub at_ms: i64,
    /// The earliest possible time of the oldest change that the outbox has not reported yet; `None` if the batch has
    /// all changes.
    pub owes_since_ms: Option<i64>,
    /// The time by which the next batch is sent even if nothing changes; `None` if the outbox sends one only after a
    /// change.
    pub next_by_ms: Option<i64>,
    /// The endpoint's state, even if it has not changed.
    pub endpoint: EndpointStanding,
    /// The counts that changed.
    pub counts: Vec<RewardCount>,
    /// The entries of the log that changed.
    pub entries: Vec<FeedEntry>,
}

impl FeedBatch {
    /// Returns the outbox that sent the batch.
    pub fn outbox(&self) -> OutboxShard {
        OutboxShard::new(self.app, self.shard)
    }
}

/// The state of the app's endpoint for one outbox or for all of them. For all outboxes it has the worst state, and the
/// sums of the counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointStanding {
    /// The state; for all outboxes, the worst.
    pub state: EndpointState,
    /// The time when the endpoint disabled itself, in milliseconds; `None` if it is not disabled.
    pub disabled_ms: Option<i64>,
    /// The number of callbacks that wait to be sent, at most [`EndpointStanding::MAX`].
    pub waiting: i64,
    /// The number of callbacks whose schedule ended without success, at most [`EndpointStanding::MAX`].
    pub dead: i64,
}

impl EndpointStanding {
    /// Maximum callbacks that are counted. Counting that many takes 2 ms, during which the outbox answers no other
    /// request.
    pub const MAX: i64 = 20_000;
}

/// The rewards of an outbox in a state on a UTC day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewardCount {
    /// The day on which the rewards reached the state.
    pub day: UtcDay,
    /// The counted state.
    pub state: RewardState,
    /// The number of rewards.
    pub rewards: i64,
    /// The sum of their payouts, in micro-USD; negative for reversals.
    pub payout_micro_usd: i64,
}

/// The current form of an entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedEntry {
    /// The entry's number, which is unique over the outboxes of the app and increases with time.
    pub entry: i64,
    /// The id of the reward, the reversal or the notice.
    pub transaction_id: String,
    /// The state of the reward; for a reversal or a notice, the state that it reports.
    pub state: RewardState,
    /// The state of the callback; `None` if there is none.
    pub delivery: Option<RewardDelivery>,
    /// The status of the answer to the last attempt; `None` before the first attempt and without an answer.
    pub http_status: Option<u16>,
    /// The user; `None` once the user is erased.
    pub user_id: Option<String>,
    /// The time of the conversion, in UNIX seconds.
    pub conversion_ts: i64,
    /// The time when the callback was answered 2xx, in milliseconds.
    pub delivered_ms: Option<i64>,
    /// The details. The receiver stores them as one JSON text.
    pub details: RewardDetails,
}

/// The part of an entry that is only displayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewardDetails {
    /// The kind of entry.
    pub kind: RewardKind,
    /// The reward's id, for a reversal or a notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_transaction_id: Option<String>,
    /// The code of the reason for which a conversion is held or was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The offer of the click.
    pub offer_id: String,
    /// The goal that was reached.
    pub goal_id: String,
    /// The paid amount as a decimal number in the app's currency. For an unpaid conversion, the amount that would have
    /// been paid.
    pub value: String,
    /// The same amount in USD.
    pub payout: String,
    /// The name of the app's currency.
    pub currency: String,
    /// The time of the click, in UNIX seconds.
    pub click_ts: i64,
    /// The number of attempts in the current schedule.
    pub attempts: u32,
}

//! The activity of a publisher: one object for each, which its apps' outboxes tell what happens. It has counts by app, day
//! and state, the endpoints' standing, and the newest entries of all logs, so that the dashboard reads them in one call.
//! It owns nothing: everything in it can be told again.

mod feed;
mod replays;
mod rewards;

pub use feed::{EndpointStanding, FeedBatch, FeedEntry, RewardCount, RewardDetails};
pub use replays::{CancelReplay, CountReplay, Counted, EndReplaysOf, ReadReplay, StartReplay};
pub use rewards::{ListRewards, ListedReward, Place, RewardPage};

use serde::{Deserialize, Serialize};

use crate::{
    alarms::{RaiseAlarms, ReadAlarmAddress, SetAlarmAddress, TestAlarms},
    attention::{self, AttentionBatch, DeclinedItems, EndItem, ListAttention, ObjectSize, Restored},
    isolates::{IsolateMetrics, ReadIsolateMetrics},
    operation::{self, Done, Mark, ObjectAddress, Operation, Repeat},
    operations,
    register::{AddEntries, Announce, ReadRegister, RegisterPart},
    rewards::RewardState,
};
use domain::model::{AppId, DAY_MS, PublisherId, UtcDay};

/// The namespace's binding.
pub const BINDING: &str = attention::BINDING;

/// The newest entries that an object keeps. They take 6 MB, and a list that matches none of them reads all in 20 ms.
pub const KEPT_ENTRIES: i64 = 10_000;
/// How long the object keeps a replay that is over, and the outboxes the answers of its steps.
pub const REPLAY_RETENTION_MS: i64 = 30 * DAY_MS;

/// The name of a publisher's object. With another name, its rows and counts would be lost.
pub fn object_name(publisher: &PublisherId) -> String {
    format!("activity-{publisher}")
}

/// The address of a publisher's object.
pub fn address(publisher: &PublisherId) -> ObjectAddress {
    ObjectAddress::of(BINDING, object_name(publisher))
}

operations! {
    pub enum Command {
        /// The changes of an outbox. Idempotent by source and sequence.
        Feed(Box<FeedBatch>) -> FeedAnswer, Idempotent;
        Read(ReadActivity) -> Activity, Idempotent;
        List(Box<ListRewards>) -> RewardPage, Idempotent;
        Find(FindOutbox) -> Found, Idempotent;
        CountReplay(CountReplay) -> Counted, Idempotent;
        StartReplay(StartReplay) -> operation::OperatorReply, Idempotent;
        ReadReplay(ReadReplay) -> operation::OperatorReply, Idempotent;
        CancelReplay(CancelReplay) -> operation::OperatorReply, Idempotent;
        EndReplaysOf(EndReplaysOf) -> Done, Idempotent;
        /// Items of an object, for the operator. Idempotent by source and sequence.
        Attention(Box<AttentionBatch>) -> DeclinedItems, Idempotent;
        /// The size of an object. A size that is older than the last one is ignored.
        Size(ObjectSize) -> Done, Idempotent;
        ListAttention(ListAttention) -> operation::OperatorReply, Idempotent;
        Restored(Restored) -> Done, Idempotent;
        EndItem(EndItem) -> operation::OperatorReply, Idempotent;
        /// The figures of an isolate.
        Isolate(IsolateMetrics) -> Done, Idempotent;
        ReadIsolateMetrics(ReadIsolateMetrics) -> operation::OperatorReply, Idempotent;
        /// Entries of the object that this is the register of.
        AddEntries(AddEntries) -> Mark, Idempotent;
        ReadRegister(ReadRegister) -> RegisterPart, Idempotent;
        Announce(Announce) -> Done, Idempotent;
        RaiseAlarms(RaiseAlarms) -> Done, Idempotent;
        SetAlarmAddress(SetAlarmAddress) -> operation::OperatorReply, Once;
        ReadAlarmAddress(ReadAlarmAddress) -> operation::OperatorReply, Idempotent;
        TestAlarms(TestAlarms) -> operation::OperatorReply, Once;
    }
    pub enum Reply {
        FeedAnswer(FeedAnswer),
        Activity(Activity),
        Page(RewardPage),
        Found(Found),
        Counted(Counted),
        /// The answer to a call about a replay, or the list for the operator.
        Operator(operation::OperatorReply),
        Declined(DeclinedItems),
        Mark(Mark),
        Register(RegisterPart),
        Done(Done),
    }
}

/// The answer to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedAnswer {
    /// False for a repeat.
    pub applied: bool,
    /// Whether the object lacks a batch that was confirmed, because it was lost or restored. It says so until a batch restarts.
    #[serde(default)]
    pub is_incomplete: bool,
}

/// The counts of the newest days, and the endpoints' standing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadActivity {
    /// The first day of the counts.
    pub from: UtcDay,
}

/// The answer to [`ReadActivity`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// See [`RewardPage::behind_ms`].
    pub behind_ms: i64,
    /// The days on which something happened, the oldest first.
    pub days: Vec<DayCounts>,
    /// The apps with an outbox that has reported, by their ids.
    pub apps: Vec<AppActivity>,
    /// When the first conversion came, in milliseconds; `None` before.
    pub first_conversion_ms: Option<i64>,
    /// When the first callback was answered 2xx, in milliseconds; `None` before.
    pub first_callback_ms: Option<i64>,
}

/// The rewards that were approved, taken back or left unpaid on a UTC day, or on all of the days. A reward that was taken back
/// counts as approved on its day, and as reversed on that of its reversal, as in the publisher's reports. The dashboard's API has
/// these fields as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rewards that are waiting for the advertiser's decision.
    pub pending: i64,
    /// Rewards that were paid, those taken back later among them.
    pub approved: i64,
    /// Rewards that were never paid: rejected, or reversed before anything else came.
    pub rejected: i64,
    /// Rewards that were taken back, on the day of the reversal.
    pub reversed: i64,
    /// Rewards that wait for the operator.
    pub held: i64,
    /// Rewards that were refused for a reason, such as a spent cap.
    pub refused: i64,
    /// The payouts of the approved ones, in micro-USD.
    pub approved_micro_usd: i64,
    /// The payouts that were taken back, in micro-USD. It is negative.
    pub reversed_micro_usd: i64,
}

impl Counts {
    /// Adds the rewards of a state.
    pub fn add(&mut self, state: RewardState, rewards: i64, payout_micro_usd: i64) {
        let count = match state {
            RewardState::Pending => &mut self.pending,
            RewardState::Approved => &mut self.approved,
            RewardState::Rejected => &mut self.rejected,
            RewardState::Reversed => &mut self.reversed,
            RewardState::Held => &mut self.held,
            RewardState::Refused => &mut self.refused,
        };
        *count = count.saturating_add(rewards);
        match state {
            RewardState::Approved => {
                self.approved_micro_usd = self.approved_micro_usd.saturating_add(payout_micro_usd);
            }
            RewardState::Reversed => {
                self.reversed_micro_usd = self.reversed_micro_usd.saturating_add(payout_micro_usd);
            }
            _ => {}
        }
    }
}

/// The counts of one day, over all apps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayCounts {
    /// The UTC day.
    pub day: UtcDay,
    /// Flattened into the same JSON object.
    #[serde(flatten)]
    pub counts: Counts,
}

/// The counts and the endpoint of one app.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppActivity {
    /// An app with an outbox that has reported.
    pub app: AppId,
    /// Over all days that were asked for.
    #[serde(flatten)]
    pub counts: Counts,
    /// The endpoint over all outboxes of the app.
    pub endpoint: EndpointStanding,
}

/// Asks whether an outbox has reported to this object. Then its app is the publisher's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindOutbox {
    /// An app, perhaps of another publisher.
    pub app: AppId,
    /// Any of the app's if `None`.
    pub shard: Option<u8>,
}

/// The answer to [`FindOutbox`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// True if such an outbox has reported.
    pub found: bool,
}

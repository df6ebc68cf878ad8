//! The activity of publishers. Each publisher has one object, to which the outboxes of its apps report. The object has
//! the counts by app, day and state, the endpoints' states, and the newest entries of all logs, so that the dashboard
//! reads them in one call. It owns nothing: the outboxes can report all of this again.

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

/// The number of newest entries that an object keeps. They take 6 MB. A list without a match reads them all, in 20 ms.
pub const KEPT_ENTRIES: i64 = 10_000;
/// The time for which the object keeps a finished replay and the outboxes keep the answers of the replay's steps, in
/// milliseconds.
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
        /// The changes of an outbox. Idempotent by outbox and sequence.
        Feed(Box<FeedBatch>) -> FeedAnswer, Idempotent;
        Read(ReadActivity) -> Activity, Idempotent;
        List(Box<ListRewards>) -> RewardPage, Idempotent;
        Find(FindOutbox) -> Found, Idempotent;
        CountReplay(CountReplay) -> Counted, Idempotent;
        StartReplay(StartReplay) -> operation::OperatorReply, Idempotent;
        ReadReplay(ReadReplay) -> operation::OperatorReply, Idempotent;
        CancelReplay(CancelReplay) -> operation::OperatorReply, Idempotent;
        EndReplaysOf(EndReplaysOf) -> Done, Idempotent;
        /// Items of an object that need the operator. Idempotent by source and sequence.
        Attention(Box<AttentionBatch>) -> DeclinedItems, Idempotent;
        /// The size of an object. A size that is older than the last reported one is ignored.
        Size(ObjectSize) -> Done, Idempotent;
        ListAttention(ListAttention) -> operation::OperatorReply, Idempotent;
        Restored(Restored) -> Done, Idempotent;
        EndItem(EndItem) -> operation::OperatorReply, Idempotent;
        /// The figures of an isolate.
        Isolate(IsolateMetrics) -> Done, Idempotent;
        ReadIsolateMetrics(ReadIsolateMetrics) -> operation::OperatorReply, Idempotent;
        /// Entries of another object, whose register this object is.
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
        /// The answer to a call about replays, alarms, the operator's items or isolates' figures.
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
    /// False for a repeat, which is ignored.
    pub applied: bool,
    /// True if the object lacks a confirmed batch, which was lost or undone by a restore. Stays true until a batch with
    /// `restarts` arrives.
    #[serde(default)]
    pub is_incomplete: bool,
}

/// Reads the counts of the newest days, and the endpoints' states.
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
    /// The counts of the days with any event, oldest first.
    pub days: Vec<DayCounts>,
    /// The apps with an outbox that has reported, in the order of their ids.
    pub apps: Vec<AppActivity>,
    /// The time of the first conversion, in milliseconds; `None` before the first conversion.
    pub first_conversion_ms: Option<i64>,
    /// The time when a callback was first answered 2xx, in milliseconds; `None` if none was.
    pub first_callback_ms: Option<i64>,
}

/// The rewards in each state, on a UTC day or in total. A reversed reward counts as approved on its day and as reversed
/// on the day of its reversal, as in the publisher's reports. The dashboard's API exposes these fields unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rewards that wait for the advertiser's decision.
    pub pending: i64,
    /// Rewards that were paid, including those reversed later.
    pub approved: i64,
    /// Rewards that were never paid: the advertiser rejected them, or reversed them before any other event.
    pub rejected: i64,
    /// Rewards that were reversed, counted on the day of the reversal.
    pub reversed: i64,
    /// Rewards that wait for the operator.
    pub held: i64,
    /// Rewards that were refused for a reason, such as a cap that is used up.
    pub refused: i64,
    /// The payouts of approved rewards, in micro-USD.
    pub approved_micro_usd: i64,
    /// The reversed payouts, in micro-USD. Negative.
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
    /// The counts, flattened into the same JSON object.
    #[serde(flatten)]
    pub counts: Counts,
}

/// The counts and the endpoint of one app.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppActivity {
    /// An app with an outbox that has reported.
    pub app: AppId,
    /// The counts over all requested days.
    #[serde(flatten)]
    pub counts: Counts,
    /// The endpoint's state over all outboxes of the app.
    pub endpoint: EndpointStanding,
}

/// Asks whether an outbox has reported to this object. If so, the outbox's app belongs to the publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindOutbox {
    /// An app, perhaps of another publisher.
    pub app: AppId,
    /// The number of the outbox; any outbox of the app if `None`.
    pub shard: Option<u8>,
}

/// The answer to [`FindOutbox`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// True if such an outbox has reported.
    pub found: bool,
}

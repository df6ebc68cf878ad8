//! The days of a ledger: sources confirm their sums, a day becomes final, and it can be restated from its sources.

use serde::{Deserialize, Serialize};

use super::OfferSum;
use crate::stored_names::stored_names;
use domain::{model::UtcDay, reporting::metric::Sums};

stored_names! {
    /// The state of a loaded day.
    DayState {
        /// The day waits for its sources, or for a load after its end.
        Open = 0 "open",
        /// Every source has confirmed its sums.
        Final = 1 "final",
        /// The day is final although a source has not confirmed its sums.
        Unconfirmed = 2 "final_unconfirmed",
    }
    /// The cause of a change of a final day.
    ChangeCause {
        /// The operator replaced the day's facts.
        FactsReplaced = 0 "facts_replaced",
        /// The operator added facts to the day.
        FactsAdded = 1 "facts_added",
        /// Late clicks or rewards, from Signpost's own counts, arrived after the day was final.
        LateBatch = 2 "late_batch",
        /// The operator restated the day from its sources.
        Restated = 3 "restated",
        /// The ledger was restored from an earlier copy.
        Restored = 4 "restored",
    }
}

/// A source's own total of a past day. The ledger compares it with the sums that it has applied from the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vouch {
    /// The source's name.
    pub source: String,
    /// A UTC day that is over.
    pub day: UtcDay,
    /// The last number of the source's log that the total includes. The ledger compares only if its mark of the source
    /// is this number.
    pub number: i64,
    /// The clicks of the day; 0 from an outbox.
    pub clicks: i64,
    /// The revenue of the day minus reversals, in micro-USD.
    pub revenue_micro_usd: i64,
}

/// The answer to [`Vouch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vouched {
    /// The ledger's mark of the source. If it differs from the total's number, nothing was compared.
    pub mark: i64,
    /// The source's clicks minus the ledger's.
    pub missing_clicks: i64,
    /// The source's revenue minus the ledger's, in micro-USD.
    pub missing_micro_usd: i64,
    /// The first earlier day that has sums and for which the source has not vouched. The source vouches for that day
    /// next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub go_back_to: Option<UtcDay>,
}

impl Vouched {
    /// True if the ledger's sums differ from the source's.
    pub fn differs(&self) -> bool {
        (self.missing_clicks, self.missing_micro_usd) != (0, 0)
    }
}

/// `POST …/days/{date}/restate`: sets a day's clicks and revenue to those that its sources report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restate {
    /// A UTC day that is over.
    pub day: UtcDay,
    /// True to report the changes without making them.
    pub is_dry_run: bool,
}

/// A source's sums of a publisher on a day, or a part of them: the answer to `SumDay` of counters and outboxes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaySums {
    /// The sums by app, offer, country and placement.
    pub sums: Vec<OfferSum>,
    /// The number after which the next part begins; `None` after the last.
    pub next: Option<i64>,
    /// False if the source no longer has the complete day.
    pub is_kept: bool,
    /// True if a merged row of the log crosses the bounds of this part, so that the part has too few or too many sums.
    /// The ledger must ask the source again from the beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// An app's sums on a final day, before and after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayChange {
    /// The change's number, which increases.
    pub number: i64,
    /// A UTC day that was final.
    pub day: UtcDay,
    /// An app in the day's facts.
    pub app: String,
    /// The cause of the change.
    pub cause: ChangeCause,
    /// The time of the change, in milliseconds.
    pub at_ms: i64,
    /// The sums before the change, in the order of `Measure`.
    pub before: Sums,
    /// The sums after the change. They equal `before` if the change only moved sums between rows of the app.
    pub after: Sums,
}

/// Lists changes of final days, in the order of their numbers or newest first. Listed changes never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListDayChanges {
    /// Only changes after this number; 0 for all.
    pub after: i64,
    /// Maximum entries.
    pub limit: u32,
    /// If set, only changes before this number are listed, newest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
}

/// The answer to [`ListDayChanges`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayChanges {
    /// The requested changes.
    pub changes: Vec<DayChange>,
    /// True if there are more changes.
    pub has_more: bool,
    /// The last day up to which all days are final; `None` if no day is final yet.
    pub final_through: Option<UtcDay>,
}

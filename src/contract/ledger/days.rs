//! The days of a ledger: sources vouch for their sums, a day becomes final, and it is restated from its sources.

use serde::{Deserialize, Serialize};

use super::OfferSum;
use crate::stored_names::stored_names;
use domain::{model::UtcDay, reporting::metric::Sums};

stored_names! {
    /// The state of a loaded day.
    DayState {
        /// It waits for its sources, or for a load after its end.
        Open = 0 "open",
        /// Every source has vouched for it.
        Final = 1 "final",
        /// It is final although a source has not vouched for it.
        Unconfirmed = 2 "final_unconfirmed",
    }
    /// Why a final day has changed.
    ChangeCause {
        /// The operator replaced its facts.
        FactsReplaced = 0 "facts_replaced",
        /// The operator added facts.
        FactsAdded = 1 "facts_added",
        /// Clicks or rewards of Signpost's own came late.
        LateBatch = 2 "late_batch",
        /// The operator restated it from its sources.
        Restated = 3 "restated",
        /// The ledger was put back to an earlier copy.
        Restored = 4 "restored",
    }
}

/// A source's own total of a day that is over. The ledger compares it with what it has applied of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vouch {
    /// The source's name.
    pub source: String,
    /// A UTC day that is over.
    pub day: UtcDay,
    /// The number in the source's log up to which the total goes. The ledger compares only if that is its mark.
    pub number: i64,
    /// Clicks of the day; 0 from an outbox.
    pub clicks: i64,
    /// In micro-USD, less reversals.
    pub revenue_micro_usd: i64,
}

/// The answer to [`Vouch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vouched {
    /// The ledger's mark of the source. With another mark than the total's number nothing was compared.
    pub mark: i64,
    /// The source's clicks less the ledger's.
    pub missing_clicks: i64,
    /// The source's revenue less the ledger's, in micro-USD.
    pub missing_micro_usd: i64,
    /// The first day with sums before it that the source has passed over. It vouches for that one next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub go_back_to: Option<UtcDay>,
}

impl Vouched {
    /// True if the ledger has other sums than the source.
    pub fn differs(&self) -> bool {
        (self.missing_clicks, self.missing_micro_usd) != (0, 0)
    }
}

/// `POST …/days/{date}/restate`: makes a day's clicks and revenue those that its sources report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restate {
    /// A UTC day that is over.
    pub day: UtcDay,
    /// Tells what would change, and changes nothing.
    pub is_dry_run: bool,
}

/// The sums of a source for a publisher on a day, or one step's part of them: the answer to `SumDay` of counters and outboxes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaySums {
    /// By app, offer, country and placement.
    pub sums: Vec<OfferSum>,
    /// Where the next step goes on; `None` after the last.
    pub next: Option<i64>,
    /// False if the source no longer has all of the day.
    pub is_kept: bool,
    /// True if rows on both sides of the step's bounds were folded into one meanwhile. The source must be asked again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// An app's sums on a final day, before and after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayChange {
    /// Its number, which rises.
    pub number: i64,
    /// A UTC day that was final.
    pub day: UtcDay,
    /// An app in the day's facts.
    pub app: String,
    /// Why it has changed.
    pub cause: ChangeCause,
    /// When, in milliseconds.
    pub at_ms: i64,
    /// The sums before it, in the order of `Measure`.
    pub before: Sums,
    /// The sums after it. They are equal if rows changed and sums did not.
    pub after: Sums,
}

/// Lists changes of final days, in the order of their numbers or the newest first. Those that are listed stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListDayChanges {
    /// Those after this number; 0 for all.
    pub after: i64,
    /// Entries at most.
    pub limit: u32,
    /// Those before this number, the newest first, instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
}

/// The answer to [`ListDayChanges`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayChanges {
    /// Those that were asked for.
    pub changes: Vec<DayChange>,
    /// Whether there are more.
    pub has_more: bool,
    /// The last day up to which all days are final; none before the first.
    pub final_through: Option<UtcDay>,
}

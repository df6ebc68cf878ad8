//! The payments of an outbox on a UTC day, for the comparison with the publisher's ledger.

use serde::{Deserialize, Serialize};

use crate::rewards::RewardKind;
use domain::model::{OfferId, UtcDay};

/// A part of `GET …/reconcile`: reads one part of this outbox's payments on a UTC day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadDay {
    /// The day of payment, which is not always the day of the click.
    pub day: UtcDay,
    /// The number in the log after which this part begins; 0 for the first.
    pub after: i64,
    /// The ledger's mark of the outbox. The ledger has not applied payments with higher numbers yet.
    pub mark: i64,
}

/// The payments of a UTC day, or one part of them, in micro-USD.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxDay {
    /// Offers with payments in this part.
    pub offers: Vec<OfferDay>,
    /// The number after which the next part begins; `None` after the last.
    pub next: Option<i64>,
    /// When the outbox last wrote again what a restore had lost, in milliseconds; 0 for never.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub refilled_ms: i64,
}

impl OutboxDay {
    /// Adds up one field over the offers.
    pub fn sum(&self, of: fn(&OfferDay) -> i64) -> i64 {
        self.offers.iter().map(of).sum()
    }
}

/// The payments of one offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferDay {
    /// The offer of the clicks.
    pub offer: OfferId,
    /// Rewards that were paid on the day.
    pub rewards: i64,
    /// The number of these rewards whose click was more than 24 hours before the conversion.
    pub rewards_after_24_h: i64,
    /// The number of these rewards that were paid under superseded terms.
    pub rewards_by_superseded_terms: i64,
    /// Reversals on the day.
    pub reversals: i64,
    /// The rewards minus the reversals, in micro-USD.
    pub paid_micro_usd: i64,
    /// The part of this amount that the ledger has not applied yet.
    pub waiting_micro_usd: i64,
}

impl OfferDay {
    /// The sums of an offer without any payment.
    pub fn new(offer: OfferId) -> Self {
        Self {
            offer,
            rewards: 0,
            rewards_after_24_h: 0,
            rewards_by_superseded_terms: 0,
            reversals: 0,
            paid_micro_usd: 0,
            waiting_micro_usd: 0,
        }
    }

    /// Adds the sums of other payments of the offer.
    pub fn add(&mut self, other: &Self) {
        self.rewards += other.rewards;
        self.rewards_after_24_h += other.rewards_after_24_h;
        self.rewards_by_superseded_terms += other.rewards_by_superseded_terms;
        self.reversals += other.reversals;
        self.paid_micro_usd += other.paid_micro_usd;
        self.waiting_micro_usd += other.waiting_micro_usd;
    }
}

/// Reads one part of the revenue of a UTC day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SumDay {
    /// The day of payment.
    pub day: UtcDay,
    /// The number in the log after which this part begins; 0 for the first.
    pub after: i64,
    /// The last number that is included.
    pub through: i64,
}

/// Confirms that the ledger has restated a day with the revenue that this outbox reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restated {
    /// The day of payment.
    pub day: UtcDay,
}

/// Lists one part of an offer's transactions on a UTC day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListDay {
    /// The UTC day of payment.
    pub day: UtcDay,
    /// The offer of the clicks.
    pub offer: OfferId,
    /// The number in the log after which this part begins; 0 for the first.
    pub after: i64,
    /// Maximum transactions.
    pub limit: u32,
}

/// The answer to [`ListDay`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayEntries {
    /// The transactions, in the order of their numbers.
    pub entries: Vec<DayEntry>,
    /// The number after which the next part begins; `None` after the last.
    pub next: Option<i64>,
}

/// A reward or a reversal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayEntry {
    /// The id of the reward or of the reversal.
    pub transaction_id: String,
    /// A reward or a reversal.
    pub kind: RewardKind,
    /// The offer of the request.
    pub offer_id: OfferId,
    /// The goal that was reached.
    pub goal_id: String,
    /// The time of the payment or the reversal, in UNIX seconds.
    pub conversion_ts: i64,
    /// The paid amount in micro-USD; negative for a reversal.
    pub paid_micro_usd: i64,
}

//! Compares a day of an app: its outboxes' logs, what the ledger has applied of each, and the ledger's facts. The logs are read
//! up to the ledger's marks, so what is on its way is no difference.

use std::collections::BTreeMap;

use serde::Serialize;

use contract::{
    ledger::CountedDay,
    outbox::{DayEntry, OfferDay, OutboxDay, ReadDay},
};
use domain::model::{AppId, OfferId, time::UtcDay};

/// Transactions that a comparison shows at most.
pub const MAX_TRANSACTIONS: usize = 100;

/// The comparison as the operator reads it. Amounts are in micro-USD.
#[derive(Debug, Serialize)]
pub struct Comparison {
    app_id: AppId,
    date: String,
    outboxes: Vec<OutboxSums>,
    /// Rewards of all outboxes, and two kinds of them (docs/OPERATING.md, "Reconcile a day").
    rewards: i64,
    rewards_after_24_h: i64,
    rewards_by_superseded_terms: i64,
    paid_micro_usd: i64,
    waiting_micro_usd: i64,
    ledger_micro_usd: i64,
    /// The sum, over the offers, of the differences between logs and facts, without what is on its way. 0 if all is well.
    pub difference_micro_usd: i64,
    /// The transactions of the offers that differ, at most [`MAX_TRANSACTIONS`].
    pub transactions: Vec<DayEntry>,
    #[serde(skip)]
    differing: Vec<OfferId>,
}

#[derive(Debug, Serialize)]
struct OutboxSums {
    outbox: u8,
    rewards: i64,
    reversals: i64,
    paid_micro_usd: i64,
    waiting_micro_usd: i64,
    /// The sums of this outbox that the ledger has applied.
    ledger_micro_usd: i64,
    /// The amount that the ledger lacks; a negative one is too much.
    difference_micro_usd: i64,
    /// The side that is behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    behind: Option<&'static str>,
}

/// Reads a day of an outbox step by step, up to the ledger's mark. `ask` carries out one step.
///
/// # Errors
/// The first error of `ask`.
pub async fn read_day<E>(
    day: UtcDay,
    mark: i64,
    ask: impl AsyncFn(ReadDay) -> Result<OutboxDay, E>,
) -> Result<OutboxDay, E> {
    let (mut offers, mut after) = (BTreeMap::new(), 0);
    loop {
        let part = ask(ReadDay { day, after, mark }).await?;
        for sums in part.offers {
            let offer = offers
                .entry(sums.offer.clone())
                .or_insert_with(|| OfferDay::new(sums.offer.clone()));
            offer.rewards += sums.rewards;
            offer.rewards_after_24_h += sums.rewards_after_24_h;
            offer.rewards_by_superseded_terms += sums.rewards_by_superseded_terms;
            offer.reversals += sums.reversals;
            offer.paid_micro_usd += sums.paid_micro_usd;
            offer.waiting_micro_usd += sums.waiting_micro_usd;
        }
        let Some(next) = part.next else {
            return Ok(OutboxDay {
                offers: offers.into_values().collect(),
                next: None,
            });
        };
        after = next;
    }
}

impl Comparison {
    /// Compares the days of the outboxes, each with its number, with the ledger's.
    pub fn new(app: AppId, day: UtcDay, days: &[(u8, OutboxDay)], ledger: CountedDay) -> Self {
        let paid = || days.iter().flat_map(|(_, day)| &day.offers);
        // By offer: paid, waiting, in the ledger.
        let mut offers: BTreeMap<OfferId, (i64, i64, i64)> = BTreeMap::new();
        for offer in paid() {
            let sums = offers.entry(offer.offer.clone()).or_default();
            sums.0 += offer.paid_micro_usd;
            sums.1 += offer.waiting_micro_usd;
        }
        for fact in ledger.offers {
            offers.entry(fact.offer).or_default().2 += fact.revenue_micro_usd;
        }
        let differs = |(paid, waiting, ledger): (i64, i64, i64)| paid - waiting - ledger;
        let total = |of: fn(&(i64, i64, i64)) -> i64| offers.values().map(of).sum();
        let count = |of| days.iter().map(|(_, day)| day.sum(of)).sum();
        Self {
            app_id: app,
            date: day.to_string(),
            outboxes: days
                .iter()
                .zip(&ledger.sources)
                .map(|((number, day), source)| outbox_sums(*number, day, source.revenue_micro_usd))
                .collect(),
            rewards: count(|offer| offer.rewards),
            rewards_after_24_h: count(|offer| offer.rewards_after_24_h),
            rewards_by_superseded_terms: count(|offer| offer.rewards_by_superseded_terms),
            paid_micro_usd: total(|sums| sums.0),
            waiting_micro_usd: total(|sums| sums.1),
            ledger_micro_usd: total(|sums| sums.2),
            difference_micro_usd: offers.values().map(|sums| differs(*sums).abs()).sum(),
            transactions: Vec::new(),
            differing: offers
                .into_iter()
                .filter(|(_, sums)| differs(*sums) != 0)
                .map(|(offer, _)| offer)
                .collect(),
        }
    }

    /// The outboxes and offers whose transactions are to be shown.
    pub fn to_list(&self, days: &[(u8, OutboxDay)]) -> Vec<(u8, OfferId)> {
        let has = |day: &OutboxDay, offer: &OfferId| day.offers.iter().any(|paid| paid.offer == *offer);
        let pairs = self.differing.iter().flat_map(|offer| {
            let outboxes = days.iter().filter(|(_, day)| has(day, offer));
            outboxes.map(|(number, _)| (*number, offer.clone()))
        });
        pairs.collect()
    }
}

fn outbox_sums(outbox: u8, day: &OutboxDay, ledger_micro_usd: i64) -> OutboxSums {
    let applied_micro_usd = day.sum(|offer| offer.paid_micro_usd - offer.waiting_micro_usd);
    let difference_micro_usd = applied_micro_usd - ledger_micro_usd;
    OutboxSums {
        outbox,
        rewards: day.sum(|offer| offer.rewards),
        reversals: day.sum(|offer| offer.reversals),
        paid_micro_usd: day.sum(|offer| offer.paid_micro_usd),
        waiting_micro_usd: day.sum(|offer| offer.waiting_micro_usd),
        ledger_micro_usd,
        difference_micro_usd,
        behind: match difference_micro_usd {
            0 => None,
            1.. => Some("ledger"),
            _ => Some("log"),
        },
    }
}

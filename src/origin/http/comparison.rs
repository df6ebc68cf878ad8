//! Compares a day of an app: its outboxes' logs, the sums that the ledger has applied from each outbox, and the
//! ledger's facts. The logs are read up to the ledger's marks, so sums that the ledger has not applied yet do not count
//! as a difference.

use std::collections::BTreeMap;

use serde::Serialize;

use contract::{
    ledger::{CountedDay, OfferRevenue},
    outbox::{DayEntry, OfferDay, OutboxDay, ReadDay},
};
use domain::model::{AppId, MicroUsd, OfferId, time::UtcDay};

/// Maximum transactions that a comparison shows.
pub const MAX_TRANSACTIONS: usize = 100;

/// The comparison as the operator reads it. Amounts are in micro-USD.
#[derive(Debug, Serialize)]
pub struct Comparison {
    app_id: AppId,
    date: String,
    outboxes: Vec<OutboxSums>,
    /// Number of rewards in all outboxes. Each of the next two fields counts a part of these rewards. See
    /// docs/OPERATING.md, "Reconcile a day".
    rewards: i64,
    rewards_after_24_h: i64,
    rewards_by_superseded_terms: i64,
    paid_micro_usd: i64,
    waiting_micro_usd: i64,
    ledger_micro_usd: i64,
    /// Sum of the absolute differences between logs and facts over all offers. Sums that the ledger has not applied yet
    /// do not count.
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
    /// The amount that the ledger lacks; negative if the ledger has too much.
    difference_micro_usd: i64,
    /// The side with the lower sum, `ledger` or `log`; `None` if both sums are equal.
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
            let offer = offers.entry(sums.offer.clone()).or_insert_with(|| OfferDay::new(sums.offer.clone()));
            offer.add(&sums);
        }
        let Some(next) = part.next else {
            return Ok(OutboxDay { offers: offers.into_values().collect(), ..OutboxDay::default() });
        };
        after = next;
    }
}

impl Comparison {
    /// Compares the outboxes' days with the ledger's day. `days` has the number of each outbox with its day.
    pub fn new(app: AppId, day: UtcDay, days: &[(u8, OutboxDay)], ledger: CountedDay) -> Self {
        let offers = by_offer(days, ledger.offers);
        let total = |of: fn(&OfferSums) -> i64| offers.iter().map(of).sum();
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
            paid_micro_usd: total(|sums| sums.log.paid_micro_usd),
            waiting_micro_usd: total(|sums| sums.log.waiting_micro_usd),
            ledger_micro_usd: total(|sums| sums.ledger_micro_usd),
            difference_micro_usd: total(|sums| sums.missing_micro_usd().abs()),
            transactions: Vec::new(),
            differing: offers
                .into_iter()
                .filter(|sums| sums.missing_micro_usd() != 0)
                .map(|sums| sums.log.offer)
                .collect(),
        }
    }

    /// Returns the outboxes and offers whose transactions are shown.
    pub fn to_list(&self, days: &[(u8, OutboxDay)]) -> Vec<(u8, OfferId)> {
        let has = |day: &OutboxDay, offer: &OfferId| day.offers.iter().any(|paid| paid.offer == *offer);
        let pairs = self.differing.iter().flat_map(|offer| {
            let outboxes = days.iter().filter(|(_, day)| has(day, offer));
            outboxes.map(|(number, _)| (*number, offer.clone()))
        });
        pairs.collect()
    }
}

/// One offer on a day: its payments in all outboxes and its revenue in the ledger.
struct OfferSums {
    log: OfferDay,
    ledger_micro_usd: i64,
}

impl OfferSums {
    /// The revenue that the ledger lacks, without sums that it has not applied yet.
    fn missing_micro_usd(&self) -> i64 {
        self.log.paid_micro_usd - self.log.waiting_micro_usd - self.ledger_micro_usd
    }
}

/// Adds up each offer's payments and revenue of a day. Sorted by offer id.
fn by_offer(days: &[(u8, OutboxDay)], ledger: Vec<OfferRevenue>) -> Vec<OfferSums> {
    let mut offers: BTreeMap<OfferId, OfferSums> = BTreeMap::new();
    let new = |offer: &OfferId| OfferSums { log: OfferDay::new(offer.clone()), ledger_micro_usd: 0 };
    for paid in days.iter().flat_map(|(_, day)| &day.offers) {
        let sums = offers.entry(paid.offer.clone());
        sums.or_insert_with_key(new).log.add(paid);
    }
    for fact in ledger {
        let sums = offers.entry(fact.offer).or_insert_with_key(new);
        sums.ledger_micro_usd += fact.revenue_micro_usd;
    }
    offers.into_values().collect()
}

/// An offer's revenue on a day and the rewards behind it, as a publisher reads them.
#[derive(Debug, Serialize)]
pub struct OfferFigures {
    offer_id: OfferId,
    /// The revenue in reports.
    revenue: MicroUsd,
    rewards: i64,
    reversals: i64,
    /// The rewards minus the reversals.
    paid: MicroUsd,
    /// Why the two amounts differ.
    reason: Option<Reason>,
}

/// Why an offer's revenue differs from its rewards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Reason {
    /// Some rewards have not reached the reports yet.
    OnTheirWay,
    /// The log no longer has the whole day.
    LogDeleted,
    /// A fault. The operator is told.
    Differs,
}

/// Returns the offers of an app's day. `is_kept` is true if the logs have the whole day.
pub fn figures(days: &[(u8, OutboxDay)], ledger: CountedDay, is_kept: bool) -> Vec<OfferFigures> {
    let offers = by_offer(days, ledger.offers).into_iter();
    let figures = offers.map(|sums| OfferFigures {
        reason: match (sums.missing_micro_usd(), sums.log.waiting_micro_usd) {
            (0, 0) => None,
            _ if !is_kept => Some(Reason::LogDeleted),
            (0, _) => Some(Reason::OnTheirWay),
            _ => Some(Reason::Differs),
        },
        revenue: MicroUsd(sums.ledger_micro_usd),
        rewards: sums.log.rewards,
        reversals: sums.log.reversals,
        paid: MicroUsd(sums.log.paid_micro_usd),
        offer_id: sums.log.offer,
    });
    figures.collect()
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

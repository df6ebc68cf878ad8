//! Batches as positions in a log: one object sends sums to others exactly once, whatever fails (docs/DECISIONS.md,
//! "Facts").
//!
//! A batch has the sums of the sender's log after one number, up to a second number. The receiver stores the second
//! number as its mark, in the transaction that applies the sums, and answers with the mark. So the sender need not
//! store sums. The numbers also reveal a lost answer or a restored object, because the next batch begins at the
//! receiver's mark. Outboxes send revenue and conversions, and counters send clicks.

pub mod positions;
pub mod sql;

use std::collections::BTreeMap;

use super::{
    attention_feed::{end_batch, open_late, open_refused},
    backoff::{MAX_WAIT_MS, is_refusal, wait_ms},
};
use contract::{
    counters::{AddConversions, ConversionSum},
    ledger::{AddOffers, DaySums, OfferSum},
    operation::{CallError, Mark},
};
use domain::model::{AppId, Country, OfferId, UtcDay};
use platform::{Clock, Database, DbResult, concurrent::each, log, params};
use positions::{Draft, Positions};

/// Maximum sums in a batch. At up to 300 bytes each, they take 300 KB.
const SUMS: usize = 1_000;
/// Maximum batches that one call of [`send`] makes. If no receiver answers, their timeouts of 10 s on six connections
/// add up to 110 s of the 15 minutes that an alarm may run.
const BATCHES: usize = 66;
/// A batch is late if an attempt fails after this many failed attempts. The backoffs of these attempts add up to 75 s,
/// in addition to their timeouts.
const LATE_AFTER: u32 = 4;

/// The dimensions of a sum.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SumKey {
    pub day: UtcDay,
    pub app: AppId,
    pub offer: OfferId,
    pub country: Option<Country>,
    pub placement: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    pub clicks: i64,
    /// Negative for reversals. The revenue is also negative for reversals.
    pub conversions: i64,
    pub revenue_micro_usd: i64,
}

impl Amounts {
    fn add(&mut self, more: Self) {
        self.clicks = self.clicks.saturating_add(more.clicks);
        self.conversions = self.conversions.saturating_add(more.conversions);
        self.revenue_micro_usd = self.revenue_micro_usd.saturating_add(more.revenue_micro_usd);
    }
}

/// The sums that a part of the log adds to a destination.
pub struct Movement<'a> {
    /// The first number of the part; `number` is the last. A batch has the whole part or nothing of it.
    pub first: i64,
    pub number: i64,
    pub destination: &'a str,
    pub key: &'a SumKey,
    pub amounts: Amounts,
}

/// The part of a log that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPage {
    /// The last number that was read, with or without a movement. If nothing follows the requested number, this is the
    /// requested number.
    pub end: i64,
    pub is_last: bool,
}

/// The sender's log. Its numbers increase with time, and the entry with a number never changes.
pub trait Log {
    /// Calls `each` for the movements after a number, in the order of numbers, up to the end of the page.
    fn read(&self, after: i64, each: &mut dyn FnMut(Movement<'_>)) -> DbResult<LogPage>;

    /// The last number; 0 for an empty log.
    fn last(&self) -> DbResult<i64>;

    fn has(&self, number: i64) -> DbResult<bool>;
}

/// A batch of sums for one receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub destination: String,
    /// The receiver's last known mark.
    pub after: i64,
    /// The last number in the batch.
    pub number: i64,
    pub sums: BTreeMap<SumKey, Amounts>,
}

impl Batch {
    /// The operation for a ledger, from the object named `source`.
    pub fn to_ledger(&self, source: &str) -> AddOffers {
        AddOffers {
            source: source.to_owned(),
            after: self.after,
            number: self.number,
            sums: self.sums.iter().map(offer_sum).collect(),
        }
    }

    /// The operation for a counters object, from the object named `source`.
    pub fn to_counters(&self, source: &str, refilled_ms: i64) -> AddConversions {
        let sum = |(key, amounts): (&SumKey, &Amounts)| ConversionSum {
            day: key.day,
            offer: key.offer.clone(),
            conversions: amounts.conversions,
            payout_micro_usd: amounts.revenue_micro_usd,
        };
        AddConversions {
            source: source.to_owned(),
            after: self.after,
            number: self.number,
            sums: self.sums.iter().map(sum).collect(),
            refilled_ms,
        }
    }
}

fn offer_sum((key, amounts): (&SumKey, &Amounts)) -> OfferSum {
    OfferSum {
        day: key.day,
        app: key.app,
        offer: key.offer.clone(),
        country: key.country,
        placement: key.placement.clone(),
        clicks: u64::try_from(amounts.clicks).unwrap_or(0),
        revenue_micro_usd: amounts.revenue_micro_usd,
    }
}

/// Returns one page of the sums that a log has for a destination on a day. Includes the numbers after `after`, up to
/// and including `through`. `start` is any number before the day's first number, so earlier parts of the log are not
/// read.
pub fn sums_of_day(
    log: &impl Log,
    destination: &str,
    day: UtcDay,
    start: i64,
    (after, through): (i64, i64),
) -> DbResult<DaySums> {
    let mut sums: BTreeMap<SumKey, Amounts> = BTreeMap::new();
    let mut is_cut = false;
    let page = log.read(after.max(start), &mut |movement| {
        if movement.destination != destination || movement.key.day != day {
            return;
        }
        is_cut |= movement.first <= after || (movement.first <= through && through < movement.number);
        if movement.number <= through {
            sums.entry(movement.key.clone()).or_default().add(movement.amounts);
        }
    })?;
    Ok(DaySums {
        sums: sums.iter().map(offer_sum).collect(),
        next: (!page.is_last && page.end < through).then_some(page.end),
        is_kept: true,
        is_cut,
    })
}

/// The reason why a batch was not applied. The text is for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryError {
    /// The receiver refused the batch.
    Refused(String),
    /// The receiver did not answer, or its error is temporary; a retry may succeed.
    Unanswered(String),
}

impl From<CallError> for DeliveryError {
    fn from(error: CallError) -> Self {
        let text = error.to_string();
        if is_refusal(&error) { Self::Refused(text) } else { Self::Unanswered(text) }
    }
}

/// Sends the batches that are due: the retries and, if `opens` is true, the part of the log since the last call.
/// `deliver` sends a batch and returns the receiver's mark. `source` is the sender's name in log messages. Returns
/// whether more can be sent at once.
///
/// # Errors
/// The database failed. The caller should not repeat a failed write at once.
pub async fn send(
    db: &impl Database,
    clock: &impl Clock,
    source: &str,
    log: &impl Log,
    opens: bool,
    deliver: impl AsyncFn(&Batch) -> Result<Mark, DeliveryError>,
) -> DbResult<bool> {
    let mut positions = Positions::read(db)?;
    let before = positions.clone();
    // A batch's entries must be durable before the batch is sent, or the entries' numbers could be reused. The runtime
    // ensures this: it holds requests back until earlier writes are durable.
    let Some((page, drafts)) = positions.draft(log, opens, clock.now_ms())? else {
        return Ok(false);
    };
    let answers = each(drafts, async |draft| {
        let answer = deliver(&draft.batch).await;
        (draft, answer)
    })
    .await;
    let now_ms = clock.now_ms();
    if Positions::read(db)? != before {
        // While the batches were being sent, another call stored a mark, or the alarm ran a second time. The next call
        // remakes the batches. This is safe, because receivers apply no batch twice.
        return Ok(true);
    }
    db.transaction(|| {
        for (draft, answer) in answers {
            settle(db, now_ms, source, log, &mut positions, &draft, answer)?;
        }
        positions.write(db)
    })?;
    Ok(!page.is_last || positions.is_due(now_ms))
}

/// Records the result of a batch, within the caller's transaction.
fn settle(
    db: &impl Database,
    now_ms: i64,
    source: &str,
    log: &impl Log,
    positions: &mut Positions,
    draft: &Draft,
    answer: Result<Mark, DeliveryError>,
) -> DbResult {
    let batch = &draft.batch;
    let (destination, after) = (batch.destination.as_str(), batch.after);
    let subject = || format!("{source}: the batch after {after} for {destination}");
    let answer = match answer {
        Ok(Mark { mark }) if mark == after => {
            Err(DeliveryError::Unanswered("the receiver did not apply the batch".into()))
        }
        answer => answer,
    };
    match answer {
        Ok(Mark { mark }) => {
            if mark < after {
                log::error(
                    "batches",
                    format_args!("{}: the receiver was restored, and has batches only up to {mark}", subject()),
                );
            } else if mark != batch.number && !log.has(mark)? {
                log::error(
                    "batches",
                    format_args!("{}: the receiver has {mark}, which this log no longer has", subject()),
                );
            }
            if draft.attempts > 0 {
                end_batch(db, destination, after)?;
            }
            positions.learn(draft, mark, now_ms);
        }
        Err(DeliveryError::Refused(cause)) => {
            log::error("batches", format_args!("{} was refused: {cause}", subject()));
            open_refused(db, now_ms, destination, after, &cause)?;
            positions.put_off(draft, now_ms.saturating_add(MAX_WAIT_MS));
        }
        Err(DeliveryError::Unanswered(cause)) => {
            log::warn("batches", format_args!("{} is sent again: {cause}", subject()));
            if draft.attempts >= LATE_AFTER {
                open_late(db, now_ms, destination, after)?;
            }
            positions.put_off(draft, now_ms.saturating_add(wait_ms(draft.attempts)));
        }
    }
    Ok(())
}

/// Returns the receiver's last known mark; 0 before the first batch.
pub fn mark_of(db: &impl Database, destination: &str) -> DbResult<i64> {
    Ok(Positions::read(db)?.mark_of(destination))
}

/// Records a receiver's mark that was read without sending a batch. The next batch begins at this mark.
pub fn learn_mark(db: &impl Database, now_ms: i64, destination: &str, Mark { mark }: Mark) -> DbResult {
    let mut positions = Positions::read(db)?;
    let after = positions.mark_of(destination);
    if after == mark {
        return Ok(());
    }
    positions.move_to(destination, mark, now_ms);
    db.transaction(|| {
        end_batch(db, destination, after)?;
        positions.write(db)
    })
}

/// Returns the number up to which all receivers have applied the log.
pub fn settled_through(db: &impl Database) -> DbResult<i64> {
    Ok(Positions::read(db)?.settled_through())
}

/// Returns `opens_ms` if the log has entries that no batch has included yet.
pub fn opens_ms(db: &impl Database, log: &impl Log, opens_ms: i64) -> DbResult<Option<i64>> {
    let seen = db.query_integer(sql::GET_SEEN, &[])?.unwrap_or(0);
    Ok((log.last()? > seen).then_some(opens_ms))
}

/// Returns the time of the next batch: `opens_ms` if there are new entries, or the time of the first retry if that is
/// earlier. `None` if nothing waits.
pub fn due_ms(db: &impl Database, log: &impl Log, opens_ms: i64) -> DbResult<Option<i64>> {
    let again_ms = Positions::read(db)?.due_ms();
    Ok([again_ms, self::opens_ms(db, log, opens_ms)?].into_iter().flatten().min())
}

/// For receivers: applies a batch if it begins at the mark of its source. `get` and `set` are the receiver's statements
/// that read and write a source's mark.
pub fn receive(
    db: &impl Database,
    [get, set]: [&str; 2],
    source: &str,
    (after, number): (i64, i64),
    apply: impl FnOnce() -> DbResult,
) -> DbResult<Mark> {
    let mark = db.query_integer(get, params![source])?.unwrap_or(0);
    if mark != after || number <= mark {
        return Ok(Mark { mark });
    }
    db.transaction(|| {
        db.execute(set, params![source, number])?;
        apply()
    })?;
    Ok(Mark { mark: number })
}

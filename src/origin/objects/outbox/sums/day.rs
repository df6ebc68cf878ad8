//! The payments of an outbox on a UTC day. The operator compares the payments with the ledger's facts
//! (docs/OPERATING.md, "Reconcile a day"). [`night`](super::night) adds them up for the ledger, and the ledger asks for
//! them to restate a day.

use super::{
    revenue_batches::{OutboxLog, TO_LEDGER},
    sql,
};
use crate::{delivery::batches, objects::outbox::retention::ROW_RETENTION_MS};
use contract::{
    ledger::DaySums,
    outbox::{DayEntries, DayEntry, ListDay, OfferDay, OutboxDay, ReadDay, SumDay},
    rewards::RewardKind,
};
use domain::{
    conversions::log_number::first_number,
    model::{DAY_MS, OfferId, SECOND_MS, UtcDay},
};
use platform::{Database, DbResult, Row, database::Value, params};

/// Maximum entries that one step examines. They take about 50 ms, during which the object answers no request.
pub const STEP: i64 = 5_000;

/// Reads the next part of a day's payments, over at most `entries` entries.
pub fn read(db: &impl Database, ReadDay { day, after, mark }: ReadDay, entries: i64) -> DbResult<OutboxDay> {
    let step = DayPage::of(db, day, after, entries)?;
    let mut parameters = step.parameters().to_vec();
    parameters.push(mark.into());
    let offers = db.read_all(sql::SUM_DAY, &parameters, |row| {
        Ok(OfferDay {
            offer: row.parse(0, OfferId::parse)?,
            rewards: row.integer(1)?,
            rewards_after_24_h: row.integer(2)?,
            rewards_by_superseded_terms: row.integer(3)?,
            reversals: row.integer(4)?,
            paid_micro_usd: row.integer(5)?,
            waiting_micro_usd: row.integer(6)?,
        })
    })?;
    Ok(OutboxDay { offers, next: step.next(), ..OutboxDay::default() })
}

/// Reads the next part of an offer's transactions on a day, in the order of their numbers.
pub fn list(db: &impl Database, list: &ListDay, entries: i64) -> DbResult<DayEntries> {
    let step = DayPage::of(db, list.day, list.after, entries)?;
    let mut parameters = step.parameters().to_vec();
    parameters.extend([list.offer.as_str().into(), list.limit.into()]);
    let rows = db.query(sql::LIST_DAY, &parameters)?;
    let is_full = u32::try_from(rows.len()) == Ok(list.limit);
    let entry = |row: &Row| {
        Ok(DayEntry {
            transaction_id: row.text(1)?.to_owned(),
            kind: if row.boolean(2)? { RewardKind::Reversal } else { RewardKind::Reward },
            offer_id: list.offer.clone(),
            goal_id: row.text(3)?.to_owned(),
            conversion_ts: row.integer(4)?,
            paid_micro_usd: row.integer(5)?,
        })
    };
    Ok(DayEntries {
        next: match rows.last() {
            Some(last) if is_full => Some(last.integer(0)?),
            _ => step.next(),
        },
        entries: rows.iter().map(entry).collect::<DbResult<_>>()?,
    })
}

/// Reads the next part of a day's revenue.
pub fn sums(now_ms: i64, log: &OutboxLog<'_, impl Database>, sum: SumDay) -> DbResult<DaySums> {
    let (before, end) = numbers_of(sum.day);
    let bounds = (sum.after, sum.through.min(end));
    let sums = batches::sums_of_day(log, TO_LEDGER, sum.day, before, bounds)?;
    Ok(DaySums {
        // Some entries of the oldest day may have expired.
        is_kept: sum.day > UtcDay::of_ms(now_ms.saturating_sub(ROW_RETENTION_MS)),
        ..sums
    })
}

/// Returns the bounds, both exclusive, of the numbers of a day's payments. Numbers follow the time, but run ahead after
/// the clock was set back (see `log_number`).
fn numbers_of(day: UtcDay) -> (i64, i64) {
    let start_ms = day.start_ms();
    let end = first_number(start_ms.saturating_add(2 * DAY_MS));
    (first_number(start_ms).saturating_sub(1), end)
}

/// A part of the numbers that may be payments of a day.
struct DayPage {
    day: UtcDay,
    /// The first number of the part (exclusive).
    after: i64,
    last: i64,
    is_last: bool,
}

impl DayPage {
    fn of(db: &impl Database, day: UtcDay, after: i64, entries: i64) -> DbResult<Self> {
        let (before, end) = numbers_of(day);
        let after = after.max(before);
        let row = db.query_first(sql::LAST_OF_DAY, params![after, end, entries])?;
        let row = row.unwrap_or(Row(vec![]));
        Ok(Self { day, after, last: row.optional_integer(0)?.unwrap_or(after), is_last: row.integer(1)? < entries })
    }

    fn next(&self) -> Option<i64> {
        (!self.is_last).then_some(self.last)
    }

    /// Returns the first parameters of `sql::SUM_DAY`.
    fn parameters(&self) -> [Value; 4] {
        let start_ms = self.day.start_ms();
        let second = |ms: i64| ms.div_euclid(SECOND_MS);
        [self.after.into(), self.last.into(), second(start_ms).into(), second(start_ms.saturating_add(DAY_MS)).into()]
    }
}

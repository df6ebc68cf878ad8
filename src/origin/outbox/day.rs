//! The payments of an outbox on a UTC day, in its log and in the batches that the ledger has confirmed. The operator
//! compares both with the ledger's facts (docs/OPERATING.md, "Reconcile a day").

use super::{entries::TO_LEDGER, numbers::first_number, sql};
use crate::batches::{self, Batch};
use contract::outbox::{DayEntries, DayEntry, ListDay, OfferDay, OutboxDay, ReadDay};
use domain::model::{
    OfferId,
    time::{DAY_MS, SECOND_MS, UtcDay},
};
use platform::{
    database::{Database, DatabaseError, Row, Value},
    log, params,
};

/// Entries that one step examines at most: about 50 ms, in which the object answers no request.
pub const STEP: i64 = 5_000;

/// Acknowledges a batch, and adds one to the ledger to the confirmed sums, once.
pub fn confirm(db: &impl Database, batch: &Batch) -> Result<(), DatabaseError> {
    if batch.destination != TO_LEDGER {
        return batches::acknowledge(db, batch);
    }
    db.transaction(|| {
        db.execute(sql::ADD_CONFIRMED, params![TO_LEDGER, batch.sequence])?;
        batches::acknowledge(db, batch)
    })
}

/// One step through the payments of a day, over at most `entries` entries.
pub fn read(
    db: &impl Database,
    ReadDay { day, after }: ReadDay,
    entries: i64,
) -> Result<OutboxDay, DatabaseError> {
    let step = Step::of(db, day, after, entries)?;
    let offers = db.query(sql::SUM_DAY, &step.parameters())?;
    let offers = offers.iter().map(|row| {
        Ok(OfferDay {
            offer: row.parse(0, OfferId::parse)?,
            rewards: row.integer(1)?,
            rewards_after_24_h: row.integer(2)?,
            rewards_by_superseded_terms: row.integer(3)?,
            reversals: row.integer(4)?,
            paid_micro_usd: row.integer(5)?,
            waiting_micro_usd: 0,
        })
    });
    let mut part = OutboxDay {
        offers: offers.collect::<Result<_, DatabaseError>>()?,
        confirmed_micro_usd: 0,
        next: step.next(),
    };
    if part.next.is_none() {
        for row in db.query(sql::SUM_WAITING, params![TO_LEDGER, day.number()])? {
            part.offers.push(OfferDay {
                waiting_micro_usd: row.integer(1)?,
                ..OfferDay::new(row.parse(0, OfferId::parse)?)
            });
        }
        let confirmed = db.query_integer(sql::GET_CONFIRMED, params![day.number()])?;
        part.confirmed_micro_usd = confirmed.unwrap_or(0);
    }
    Ok(part)
}

/// One step through the transactions of an offer on a day, in the order of their numbers.
pub fn list(db: &impl Database, list: &ListDay, entries: i64) -> Result<DayEntries, DatabaseError> {
    let step = Step::of(db, list.day, list.after, entries)?;
    let mut parameters = step.parameters().to_vec();
    parameters.extend([list.offer.as_str().into(), list.limit.into()]);
    let rows = db.query(sql::LIST_DAY, &parameters)?;
    let is_full = u32::try_from(rows.len()) == Ok(list.limit);
    let entry = |row: &Row| {
        Ok(DayEntry {
            transaction_id: row.text(1)?.to_owned(),
            offer_id: list.offer.clone(),
            paid_micro_usd: row.integer(2)?,
        })
    };
    Ok(DayEntries {
        next: match rows.last() {
            Some(last) if is_full => Some(last.integer(0)?),
            _ => step.next(),
        },
        entries: rows.iter().map(entry).collect::<Result<_, DatabaseError>>()?,
    })
}

/// A part of the entries that may have been paid on a day.
struct Step {
    day: UtcDay,
    after: i64,
    /// The number after which the day's own numbers go on.
    from: i64,
    /// The last entry.
    last: i64,
    is_last: bool,
}

impl Step {
    fn of(db: &impl Database, day: UtcDay, after: i64, entries: i64) -> Result<Self, DatabaseError> {
        // Numbers follow the time, and are ahead of it after the clock was set back (see `numbers`).
        let end = first_number(day.start_ms().saturating_add(2 * DAY_MS));
        let from = after.max(first_number(day.start_ms()).saturating_sub(1));
        let row = db.query_first(sql::LAST_OF_DAY, params![from, after, end, day.number(), entries])?;
        let row = row.unwrap_or(Row(vec![]));
        Ok(Self {
            day,
            after,
            from,
            last: row.optional_integer(0)?.unwrap_or(after),
            is_last: row.integer(1)? < entries,
        })
    }

    fn next(&self) -> Option<i64> {
        (!self.is_last).then_some(self.last)
    }

    /// The parameters of `sql::SUM_DAY`.
    fn parameters(&self) -> [Value; 6] {
        let start_ms = self.day.start_ms();
        let second = |ms: i64| ms.div_euclid(SECOND_MS);
        [
            self.from.into(),
            self.after.into(),
            self.last.into(),
            self.day.number().into(),
            second(start_ms).into(),
            second(start_ms.saturating_add(DAY_MS)).into(),
        ]
    }
}

/// The sum of an outbox's log less its confirmed and waiting batches, in micro-USD. The difference of a day is the sum of
/// those of its steps.
pub fn difference(day: &OutboxDay) -> i64 {
    let sum = |of: fn(&OfferDay) -> i64| day.offers.iter().map(of).sum::<i64>();
    sum(|offer| offer.paid_micro_usd) - sum(|offer| offer.waiting_micro_usd) - day.confirmed_micro_usd
}

/// A step of the night's comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    pub part: OutboxDay,
    /// Whether the log differs from the batches; `None` before the last step.
    pub differs: Option<bool>,
}

/// Compares yesterday's payments with the batches, one step for each call, and logs a difference. Returns `None` once the
/// day was compared.
pub fn compare_step(
    db: &impl Database,
    now_ms: i64,
    entries: i64,
) -> Result<Option<Compared>, DatabaseError> {
    let day = UtcDay::of_ms(now_ms).minus(1);
    let row = db.query_first(sql::GET_COMPARED, &[])?.unwrap_or(Row(vec![]));
    if row.integer(0)? >= day.number() {
        return Ok(None);
    }
    let (after, so_far) = if row.integer(1)? == day.number() {
        (row.integer(2)?, row.integer(3)?)
    } else {
        (0, 0)
    };
    let part = read(db, ReadDay { day, after }, entries)?;
    let difference = so_far.saturating_add(difference(&part));
    let (compared, last) = match part.next {
        Some(last) => (day.minus(1), last),
        None => (day, 0),
    };
    db.execute(
        sql::SET_COMPARED,
        params![compared.number(), day.number(), last, difference],
    )?;
    let differs = part.next.is_none().then_some(difference != 0);
    if differs == Some(true) {
        log::error(
            "reconcile",
            format_args!("the log of {day} has {difference} micro-USD more than its batches"),
        );
    }
    Ok(Some(Compared { part, differs }))
}

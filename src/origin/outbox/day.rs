//! The payments of an outbox on a UTC day, in its log and in the batches that the ledger has confirmed. The operator
//! compares both with the ledger's facts (docs/OPERATING.md, "Reconcile a day").

use super::{entries::TO_LEDGER, numbers::first_number, sql};
use crate::batches::{self, Batch};
use contract::outbox::{DayEntry, OfferDay, OutboxDay};
use domain::model::{
    OfferId,
    time::{DAY_MS, SECOND_MS, UtcDay},
};
use platform::{
    database::{Database, DatabaseError, Value},
    log, params,
};

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

/// The payments of a day.
pub fn read(db: &impl Database, day: UtcDay) -> Result<OutboxDay, DatabaseError> {
    let offers = db.query(sql::SUM_DAY, &range(day))?;
    let offers = offers.iter().map(|row| {
        let offer = row.parse(0, OfferId::parse)?;
        let key = params![TO_LEDGER, day.number(), offer.as_str()];
        Ok(OfferDay {
            rewards: row.integer(1)?,
            reversals: row.integer(2)?,
            paid_micro_usd: row.integer(3)?,
            waiting_micro_usd: db.query_integer(sql::SUM_WAITING, key)?.unwrap_or(0),
            offer,
        })
    });
    let confirmed = db.query_integer(sql::GET_CONFIRMED, params![day.number()])?;
    Ok(OutboxDay {
        offers: offers.collect::<Result<_, DatabaseError>>()?,
        confirmed_micro_usd: confirmed.unwrap_or(0),
    })
}

/// The transactions of an offer on a day, in the order of their numbers.
pub fn list(
    db: &impl Database,
    day: UtcDay,
    offer: &OfferId,
    limit: u32,
) -> Result<Vec<DayEntry>, DatabaseError> {
    let [from, to, first_s, end_s, number] = range(day);
    let parameters = [
        from,
        to,
        first_s,
        end_s,
        number,
        offer.as_str().into(),
        limit.into(),
    ];
    let rows = db.query(sql::LIST_DAY, &parameters)?;
    rows.iter()
        .map(|row| {
            Ok(DayEntry {
                transaction_id: row.text(0)?.to_owned(),
                offer_id: offer.clone(),
                paid_micro_usd: row.integer(1)?,
            })
        })
        .collect()
}

/// The parameters of a day: the numbers of entries that may have been paid on it; its seconds; and its own number. Numbers
/// follow the time, and are ahead of it after the clock was set back (see [`super::numbers`]).
fn range(day: UtcDay) -> [Value; 5] {
    let start_ms = day.start_ms();
    let second = |ms: i64| ms.div_euclid(SECOND_MS);
    [
        first_number(start_ms).into(),
        first_number(start_ms + 2 * DAY_MS).into(),
        second(start_ms).into(),
        second(start_ms + DAY_MS).into(),
        day.number().into(),
    ]
}

/// The sum of an outbox's log less its confirmed and waiting batches, in micro-USD.
pub fn difference(day: &OutboxDay) -> i64 {
    let sum = |of: fn(&OfferDay) -> i64| day.offers.iter().map(of).sum::<i64>();
    sum(|offer| offer.paid_micro_usd) - sum(|offer| offer.waiting_micro_usd) - day.confirmed_micro_usd
}

/// Compares yesterday's payments once a night, and logs a difference. Returns whether there is one; `None` if the night's
/// comparison was made before.
pub fn check_night(db: &impl Database, now_ms: i64) -> Result<Option<bool>, DatabaseError> {
    let yesterday = UtcDay::of_ms(now_ms).minus(1);
    let checked = db.query_integer(sql::GET_RECONCILED, &[])?;
    if checked.is_some_and(|checked| checked >= yesterday.number()) {
        return Ok(None);
    }
    let difference = difference(&read(db, yesterday)?);
    if difference != 0 {
        log::error(
            "reconcile",
            format_args!("the log of {yesterday} has {difference} micro-USD more than its batches"),
        );
    }
    db.execute(sql::SET_RECONCILED, params![yesterday.number()])?;
    Ok(Some(difference != 0))
}

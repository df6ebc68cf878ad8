//! Each night, a counters object vouches for the previous day's clicks. It calls each ledger to which it sends clicks.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{
    log::{self, CLOCKS_DIFFER_MS, KEPT_DAYS, publisher},
    sql,
};
use crate::delivery::{
    attention_feed,
    backoff::wait_ms,
    batches::{
        learn_mark,
        positions::{NotVouched, Positions},
    },
};
use contract::{
    ledger::{self, Vouch, Vouched},
    operation::Mark,
};
use domain::{
    conversions::log_number::{NUMBERS_PER_MS, first_number},
    model::{HOUR_MS, SECOND_MS, UtcDay},
};
use platform::{Clock, Database, DatabaseError, DbResult, ObjectCall, Row, concurrent::each, params};

const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum ledgers that are called in one step.
const LEDGERS: usize = 200;

struct Night {
    vouched: UtcDay,
    attempts: u32,
    due_ms: i64,
}

impl Night {
    fn read(db: &impl Database) -> DbResult<Self> {
        let row = db.query_first(sql::GET_NIGHT, &[])?.unwrap_or(Row(vec![]));
        let vouched = UtcDay::from_number(row.integer(0)?);
        Ok(Self {
            vouched: vouched.ok_or_else(|| DatabaseError("the day in the table clicks is out of range".into()))?,
            attempts: row.number(1)?,
            due_ms: row.integer(2)?,
        })
    }

    fn write(&self, db: &impl Database) -> DbResult {
        db.execute(sql::SET_NIGHT, params![self.vouched.number(), self.attempts, self.due_ms])
    }

    /// Returns the days that ended at least an hour ago and for which the object has not vouched to all ledgers, in
    /// the form that [`Positions::not_vouched`] expects. Returns none if no ledger waits or the log is empty.
    fn open_days(&self, db: &impl Database, now_ms: i64) -> DbResult<Option<[UtcDay; 3]>> {
        let Some(first) = db.query_integer(sql::FIRST_NUMBER, &[])? else {
            return Ok(None);
        };
        let first = UtcDay::of_ms(first.div_euclid(NUMBERS_PER_MS));
        let since = first.max(self.vouched.minus(-1));
        let last = UtcDay::of_ms(now_ms.saturating_sub(HOUR_MS)).minus(1);
        let oldest = UtcDay::of_ms(now_ms).minus(KEPT_DAYS - 1);
        let days = [oldest, since, last];
        // A restored ledger may need a day again for which this object has already vouched.
        let is_open = since <= last || Positions::read(db)?.is_any_not_vouched(days);
        Ok(is_open.then_some(days))
    }
}

/// Returns when the object vouches next; none if it has vouched to all ledgers for yesterday.
pub fn due_ms(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    let night = Night::read(db)?;
    Ok(night.open_days(db, now_ms)?.map(|_| night.due_ms))
}

/// If vouching is due, vouches to at most `LEDGERS` ledgers: to each for the next day that the ledger waits for. A
/// ledger that does not answer delays no other ledger, and gets its days later.
pub async fn vouch(db: &impl Database, runtime: &(impl Clock + ObjectCall), source: &str) -> DbResult {
    let mut night = Night::read(db)?;
    let days = night.open_days(db, runtime.now_ms())?;
    let Some(days) = days.filter(|_| night.due_ms <= runtime.now_ms()) else {
        return Ok(());
    };
    let (open, is_last) = Positions::read(db)?.not_vouched(days, LEDGERS);
    let mut clicks = BTreeMap::new();
    for day in open.iter().map(|open| open.day).collect::<BTreeSet<_>>() {
        clicks.insert(day, clicks_of(db, day, &open)?);
    }
    let answers = each(&open, async |ledger| {
        let Ok(publisher) = publisher(&ledger.name) else {
            return (ledger, None);
        };
        let clicks = clicks.get(&ledger.day).and_then(|of| of.get(&ledger.name));
        // A day is not vouched for while some of its clicks have not reached the ledger.
        let Some(clicks) = clicks.copied().unwrap_or(Some(0)) else {
            return (ledger, None);
        };
        let vouch =
            Vouch { source: source.to_owned(), day: ledger.day, number: ledger.mark, clicks, revenue_micro_usd: 0 };
        let address = ledger::address(&publisher, ledger::BATCH);
        (ledger, runtime.call(&address, vouch, TIMEOUT).await.ok())
    })
    .await;
    let now_ms = runtime.now_ms();
    let (mut failed, mut is_done) = (false, is_last);
    for (ledger, answer) in answers {
        match answer {
            Some(vouched) if vouched.mark == ledger.mark => {
                is_done &= ledger.day == days[2] && go_back_to(&vouched, days[0]).is_none();
                settle(db, now_ms, ledger, &vouched, days[0])?;
            }
            Some(Vouched { mark, .. }) => {
                failed = true;
                learn_mark(db, now_ms, &ledger.name, Mark { mark })?;
            }
            None => failed = true,
        }
    }
    if failed {
        night.due_ms = now_ms.saturating_add(wait_ms(night.attempts));
        night.attempts = night.attempts.saturating_add(1);
    } else if !is_done {
        night.due_ms = now_ms.saturating_add(SECOND_MS);
    } else {
        (night.vouched, night.attempts, night.due_ms) = (days[2], 0, now_ms);
    }
    night.write(db)
}

/// The subject of an attention item about a publisher's day.
pub fn subject(publisher: &str, day: UtcDay) -> String {
    format!("{publisher}: {day}")
}

fn settle(db: &impl Database, now_ms: i64, ledger: &NotVouched, vouched: &Vouched, oldest: UtcDay) -> DbResult {
    db.transaction(|| {
        if vouched.differs() {
            attention_feed::open_differing(db, now_ms, &subject(&ledger.name, ledger.day), vouched)?;
        }
        let mut positions = Positions::read(db)?;
        let next = go_back_to(vouched, oldest).unwrap_or_else(|| ledger.day.minus(-1));
        positions.set_vouched(&ledger.name, next.minus(1));
        positions.write(db)
    })
}

/// Returns the day from which a ledger asks the object to vouch again; none if the day is before `oldest`.
fn go_back_to(vouched: &Vouched, oldest: UtcDay) -> Option<UtcDay> {
    vouched.go_back_to.filter(|day| *day >= oldest)
}

/// Returns a day's clicks by ledger, for the ledgers that wait for the day; none for a ledger that lacks some of the
/// clicks.
fn clicks_of(db: &impl Database, day: UtcDay, open: &[NotVouched]) -> DbResult<BTreeMap<String, Option<i64>>> {
    let of_day = open.iter().filter(|ledger| ledger.day == day);
    let seen: BTreeMap<&str, i64> = of_day.map(|ledger| (ledger.name.as_str(), ledger.seen)).collect();
    let mut clicks = BTreeMap::new();
    let from = first_number(day.start_ms().saturating_sub(CLOCKS_DIFFER_MS));
    log::each(db, from, Some(day), &mut |sum| {
        let seen = seen.get(sum.publisher.as_str()).filter(|_| sum.key.day == day);
        if let Some(seen) = seen {
            let known = clicks.entry(sum.publisher).or_insert(Some(0_i64));
            *known = known.filter(|_| sum.last <= *seen).map(|known| known + sum.clicks);
        }
    })?;
    Ok(clicks)
}

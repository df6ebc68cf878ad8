//! Each night an object vouches for the clicks of the day before to the ledgers that it sends clicks to, one call for each.

use std::{collections::BTreeMap, time::Duration};

use futures_util::{StreamExt, stream};

use super::{
    log::{self, CLOCKS_DIFFER_MS, publisher},
    sql,
};
use crate::delivery::{
    attention_feed,
    backoff::wait_ms,
    batches::{learn_mark, positions::Positions},
};
use contract::{
    ledger::{self, Vouch, Vouched},
    operation::Mark,
};
use domain::{
    conversions::log_number::{NUMBERS_PER_MS, first_number},
    model::time::{HOUR_MS, SECOND_MS, UtcDay},
};
use platform::{
    CONNECTIONS,
    database::{Database, DatabaseError, Row},
    params,
    traits::{Clock, ObjectCall},
};

const TIMEOUT: Duration = Duration::from_secs(5);
/// Ledgers that are called in one step.
const LEDGERS: usize = 200;

struct Night {
    vouched: UtcDay,
    attempts: u32,
    due_ms: i64,
}

impl Night {
    fn read(db: &impl Database) -> Result<Self, DatabaseError> {
        let row = db.query_first(sql::GET_NIGHT, &[])?.unwrap_or(Row(vec![]));
        let vouched = UtcDay::from_number(row.integer(0)?);
        Ok(Self {
            vouched: vouched.ok_or_else(|| DatabaseError("the day of a night is damaged".into()))?,
            attempts: row.number(1)?,
            due_ms: row.integer(2)?,
        })
    }

    fn write(&self, db: &impl Database) -> Result<(), DatabaseError> {
        db.execute(
            sql::SET_NIGHT,
            params![self.vouched.number(), self.attempts, self.due_ms],
        )
    }

    /// The first day that is over for an hour and for which the object has not vouched; none without clicks.
    fn next_day(&self, db: &impl Database, now_ms: i64) -> Result<Option<UtcDay>, DatabaseError> {
        let Some(first) = db.query_integer(sql::FIRST_NUMBER, &[])? else {
            return Ok(None);
        };
        let first = UtcDay::of_ms(first.div_euclid(NUMBERS_PER_MS));
        let day = first.max(self.vouched.minus(-1));
        Ok((day < UtcDay::of_ms(now_ms.saturating_sub(HOUR_MS))).then_some(day))
    }
}

/// When the object vouches next; none if it has done so for the day before.
pub fn due_ms(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let night = Night::read(db)?;
    Ok(night.next_day(db, now_ms)?.map(|_| night.due_ms))
}

/// Vouches for a day to some of the ledgers, if that is due.
///
/// # Errors
/// The database failed.
pub async fn vouch(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    source: &str,
) -> Result<(), DatabaseError> {
    let mut night = Night::read(db)?;
    let day = night.next_day(db, runtime.now_ms())?;
    let Some(day) = day.filter(|_| night.due_ms <= runtime.now_ms()) else {
        return Ok(());
    };
    let mut open = Positions::read(db)?.not_vouched(day.number());
    let is_full = open.len() > LEDGERS;
    open.truncate(LEDGERS);
    let clicks = clicks_of(db, day, &open)?;
    let answers: Vec<_> = stream::iter(&open)
        .map(async |(name, mark, _)| {
            let Ok(publisher) = publisher(name) else {
                return (name, None);
            };
            let vouch = Vouch {
                source: source.to_owned(),
                day,
                number: *mark,
                clicks: clicks.get(name.as_str()).copied().unwrap_or(0),
                revenue_micro_usd: 0,
            };
            let ledger = ledger::address(&publisher, ledger::BATCH);
            let answer = runtime.call(&ledger, vouch, TIMEOUT).await;
            (name, answer.ok().map(|vouched| (*mark, vouched)))
        })
        .buffer_unordered(CONNECTIONS)
        .collect()
        .await;
    let now_ms = runtime.now_ms();
    let mut failed = 0;
    for (name, answer) in answers {
        match answer {
            Some((mark, vouched)) if vouched.mark == mark => {
                settle(db, now_ms, name, day, &vouched)?;
            }
            Some((_, Vouched { mark, .. })) => {
                failed += 1;
                learn_mark(db, now_ms, name, Mark { mark })?;
            }
            None => failed += 1,
        }
    }
    if failed > 0 {
        night.due_ms = now_ms.saturating_add(wait_ms(night.attempts));
        night.attempts = night.attempts.saturating_add(1);
    } else if is_full {
        night.due_ms = now_ms.saturating_add(SECOND_MS);
    } else {
        (night.vouched, night.attempts, night.due_ms) = (day, 0, now_ms);
    }
    night.write(db)
}

/// The subject of an item about a publisher's day.
pub fn subject(publisher: &str, day: UtcDay) -> String {
    format!("{publisher}: {day}")
}

fn settle(
    db: &impl Database,
    now_ms: i64,
    name: &str,
    day: UtcDay,
    vouched: &Vouched,
) -> Result<(), DatabaseError> {
    db.transaction(|| {
        if vouched.differs() {
            attention_feed::open_differing(db, now_ms, &subject(name, day), vouched)?;
        }
        let mut positions = Positions::read(db)?;
        positions.set_vouched(name, day.number());
        positions.write(db)
    })
}

/// The clicks of a day that each of these ledgers has.
fn clicks_of(
    db: &impl Database,
    day: UtcDay,
    ledgers: &[(String, i64, i64)],
) -> Result<BTreeMap<String, i64>, DatabaseError> {
    let seen: BTreeMap<&str, i64> = ledgers
        .iter()
        .map(|(name, _, seen)| (name.as_str(), *seen))
        .collect();
    let mut clicks = BTreeMap::new();
    let from = first_number(day.start_ms().saturating_sub(CLOCKS_DIFFER_MS));
    log::each(db, from, &mut |sum| {
        let has = seen
            .get(sum.publisher.as_str())
            .is_some_and(|seen| sum.last <= *seen);
        if has && sum.key.day == day {
            *clicks.entry(sum.publisher).or_default() += sum.clicks;
        }
    })?;
    Ok(clicks)
}

//! Each night an outbox adds up the past days in its log, and vouches for the total of each day to its ledger. The
//! ledger compares the total with the sums that it has applied.

use super::{
    day,
    revenue_batches::{TO_LEDGER, ledger_of},
    sql,
};
use crate::{
    delivery::{
        attention_feed,
        backoff::{FIRST_WAIT_MS, wait_ms},
        batches,
    },
    objects::outbox::{calls, endpoint, retention::ROW_RETENTION_MS},
};
use contract::{
    attention::DayRewards,
    ledger::{Vouch, Vouched},
    operation::Mark,
    outbox::{OutboxDay, ReadDay},
};
use domain::{
    conversions::log_number::NUMBERS_PER_MS,
    model::{DAY_MS, SECOND_MS, UtcDay},
};
use platform::{Clock, Database, DatabaseError, DbResult, ObjectCall, Row, log, params};

/// The progress of the nightly work.
struct Night {
    /// The last day for which the outbox vouched.
    vouched: UtcDay,
    /// The day that is being added up, or was added up last. The other fields have the progress and the sums of this
    /// day.
    adding: UtcDay,
    added_to: i64,
    is_added: bool,
    attempts: u32,
    due_ms: i64,
    revenue_micro_usd: i64,
    rewards: DayRewards,
}

impl Night {
    fn read(db: &impl Database) -> DbResult<Self> {
        let row = db.query_first(sql::GET_NIGHT, &[])?.unwrap_or(Row(vec![]));
        let day = |column| {
            let day = UtcDay::from_number(row.integer(column)?);
            day.ok_or_else(|| DatabaseError("a day in the table nights is out of range".into()))
        };
        let adding = day(1)?;
        Ok(Self {
            vouched: day(0)?,
            adding,
            added_to: row.integer(2)?,
            is_added: row.boolean(3)?,
            attempts: row.number(4)?,
            due_ms: row.integer(5)?,
            revenue_micro_usd: row.integer(6)?,
            rewards: DayRewards {
                day: adding,
                rewards: row.integer(7)?,
                after_24_h: row.integer(8)?,
                by_superseded_terms: row.integer(9)?,
            },
        })
    }

    /// Returns the start of the work on a day.
    fn of(day: UtcDay, vouched: UtcDay) -> Self {
        Self {
            vouched,
            adding: day,
            added_to: 0,
            is_added: false,
            attempts: 0,
            due_ms: 0,
            revenue_micro_usd: 0,
            rewards: DayRewards { day, rewards: 0, after_24_h: 0, by_superseded_terms: 0 },
        }
    }

    fn add(&mut self, part: &OutboxDay) {
        self.revenue_micro_usd += part.sum(|offer| offer.paid_micro_usd);
        self.rewards.rewards += part.sum(|offer| offer.rewards);
        self.rewards.after_24_h += part.sum(|offer| offer.rewards_after_24_h);
        self.rewards.by_superseded_terms += part.sum(|offer| offer.rewards_by_superseded_terms);
        match part.next {
            Some(last) => self.added_to = last,
            None => self.is_added = true,
        }
    }

    fn write(&self, db: &impl Database) -> DbResult {
        let row = params![
            self.vouched.number(),
            self.adding.number(),
            self.added_to,
            self.is_added,
            self.attempts,
            self.due_ms,
            self.revenue_micro_usd,
            self.rewards.rewards,
            self.rewards.after_24_h,
            self.rewards.by_superseded_terms
        ];
        db.execute(sql::SET_NIGHT, row)
    }

    fn waits(&self) -> bool {
        self.is_added && self.vouched < self.adding
    }
}

/// Returns the rewards of the last day that was added up; `None` while the next day is being added up.
pub fn last_rewards(db: &impl Database) -> DbResult<Option<DayRewards>> {
    let night = Night::read(db)?;
    Ok((night.is_added && night.rewards.rewards > 0).then_some(night.rewards))
}

/// Returns when the outbox must vouch for the day that was added up; `None` if no day waits.
pub fn due_ms(db: &impl Database) -> DbResult<Option<i64>> {
    let night = Night::read(db)?;
    Ok(night.waits().then_some(night.due_ms))
}

/// Adds up a part of the first past day for which the outbox has not vouched. Returns the part; `None` if there is no
/// such day, or if the day is already added up.
///
/// # Errors
/// The database failed. The step may be retried.
pub fn add_step(db: &impl Database, now_ms: i64, entries: i64) -> DbResult<Option<OutboxDay>> {
    let mut night = Night::read(db)?;
    if night.waits() {
        return Ok(None);
    }
    let Some(first) = first_kept(db, now_ms)? else {
        return Ok(None);
    };
    let day = first.max(night.vouched.minus(-1));
    if day >= UtcDay::of_ms(now_ms) {
        return Ok(None);
    }
    if night.adding != day || night.is_added {
        night = Night::of(day, night.vouched);
    }
    let step = ReadDay { day, after: night.added_to, mark: 0 };
    let part = day::read(db, step, entries)?;
    night.add(&part);
    night.due_ms = now_ms;
    db.transaction(|| {
        night.write(db)?;
        if night.is_added && night.rewards.rewards > 0 {
            attention_feed::send_soon(db, now_ms)?;
        }
        Ok::<_, DatabaseError>(())
    })?;
    Ok(Some(part))
}

/// Returns the first day whose entries are all in the log; `None` for an empty log, and for a test app, because nobody
/// vouches for test apps.
fn first_kept(db: &impl Database, now_ms: i64) -> DbResult<Option<UtcDay>> {
    if endpoint::read(db)?.is_some_and(|state| state.shard.app.is_test()) {
        return Ok(None);
    }
    let first = db.query_integer(sql::FIRST_ENTRY, &[])?;
    // Some entries of an earlier day may have expired.
    let oldest = UtcDay::of_ms(now_ms.saturating_sub(ROW_RETENTION_MS)).minus(-1);
    Ok(first.map(|first| UtcDay::of_ms(first.div_euclid(NUMBERS_PER_MS)).max(oldest)))
}

/// Vouches for the day that was added up, if the call is due. Returns whether the day differs from the ledger; `None`
/// if the ledger has not compared the day. A restored outbox must have its log back first.
pub async fn vouch(db: &impl Database, runtime: &(impl Clock + ObjectCall)) -> DbResult<Option<bool>> {
    let night = Night::read(db)?;
    let Some(state) = endpoint::read(db)?.filter(|_| night.waits() && night.due_ms <= runtime.now_ms()) else {
        return Ok(None);
    };
    let Some(ledger) = ledger_of(&state) else {
        return Ok(None);
    };
    let day = night.adding;
    let number = batches::mark_of(db, TO_LEDGER)?;
    let end_s = day.start_ms().saturating_add(DAY_MS).div_euclid(SECOND_MS);
    // If the log has movements of this day or an earlier day that are not in the ledger yet, the totals cannot be
    // compared yet.
    let is_on_its_way = db.query_boolean(sql::HAS_MOVEMENTS, params![number, end_s])?;
    let answer = if is_on_its_way {
        None
    } else {
        let vouch = Vouch {
            source: state.shard.object_name(),
            day,
            number,
            clicks: 0,
            revenue_micro_usd: night.revenue_micro_usd,
        };
        let answer = runtime.call(&ledger, vouch, calls::TIMEOUT).await;
        answer
            .inspect_err(|error| {
                log::warn("reconcile", format_args!("the ledger did not confirm the sums of {day}: {error}"))
            })
            .ok()
    };
    settle(db, runtime.now_ms(), night, number, answer)
}

/// Makes the call due later, if it is still to be made.
pub fn put_off(db: &impl Database, now_ms: i64) -> DbResult<Option<bool>> {
    let mut night = Night::read(db)?;
    if night.waits() {
        night.due_ms = now_ms.saturating_add(wait_ms(night.attempts));
        night.attempts = night.attempts.saturating_add(1);
        night.write(db)?;
    }
    Ok(None)
}

fn settle(
    db: &impl Database,
    now_ms: i64,
    mut night: Night,
    number: i64,
    answer: Option<Vouched>,
) -> DbResult<Option<bool>> {
    let now = Night::read(db)?;
    if (now.adding, now.is_added) != (night.adding, night.is_added) {
        // A refill has restarted the day.
        return Ok(None);
    }
    match answer {
        Some(vouched) if vouched.mark == number => {
            let day = night.adding;
            let first = first_kept(db, now_ms)?;
            match vouched.go_back_to.filter(|day| Some(*day) >= first) {
                None => night.vouched = day,
                Some(day) => night = Night::of(day, day.minus(1)),
            }
            db.transaction(|| {
                night.write(db)?;
                if vouched.differs() {
                    attention_feed::open_differing(db, now_ms, &day.to_string(), &vouched)?;
                }
                Ok::<_, DatabaseError>(())
            })?;
            Ok(Some(vouched.differs()))
        }
        Some(Vouched { mark, .. }) => {
            night.due_ms = now_ms.saturating_add(FIRST_WAIT_MS);
            night.write(db)?;
            batches::learn_mark(db, now_ms, TO_LEDGER, Mark { mark })?;
            Ok(None)
        }
        None => put_off(db, now_ms),
    }
}

//! Sends the outbox's changes to the publisher's activity object: entries, counts by day and state, and the endpoint's
//! state.
//!
//! A batch has the entries after the last sent entry. [Triggers](schema) mark sent entries that change afterwards, in
//! the transaction of the change. A batch has each entry's current state, so the changes of several seconds share a
//! batch, and most conversions are never marked. Marks stay until the activity object has confirmed the batch, so a
//! failed batch is rebuilt from the newest state. No request waits for a batch.
//!
//! A batch is sent every night, even without changes. If the activity object lacks the last batch that it confirmed,
//! the object was lost or restored. The outbox then resends everything that the activity object can keep.

pub mod schema;
pub mod sql;

use super::{
    endpoint::{self, OutboxState},
    log::{entries, entries::LoggedFields, states::state_of},
};
use crate::delivery::feed::{self, Feed, Prepared, SPACING_MS};
use contract::{
    activity::{self, EndpointStanding, FeedAnswer, FeedBatch, FeedEntry, KEPT_ENTRIES, RewardCount, RewardDetails},
    rewards::{RewardDelivery, RewardKind, RewardState},
};
use domain::{
    conversions::{
        log_number::NUMBERS_PER_MS,
        state::{Reason, State},
    },
    model::UtcDay,
};
use platform::{Database, DatabaseError, DbResult, Row, database::json, log, params};

/// Maximum entries of a batch, each of at most 1 KB. They take about 10 ms, during which the outbox answers no other
/// request.
const ENTRIES: usize = 200;
const COUNTS: usize = 300;

/// Returns when the alarm must send a batch; `None` without changes.
pub fn due_ms(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    Ok(feed::alarm_ms(ActivityFeed(db).sends_at_ms()?, now_ms))
}

/// The feed of an outbox to its publisher's activity object.
pub struct ActivityFeed<'a, D>(pub &'a D);

/// The changes that a batch contains, each with its change count when the batch was made. If the count has risen by the
/// time the batch is confirmed, the change must be sent again.
pub struct Marks {
    /// Entries with their change counts, including entries that were deleted. New entries have a count of 0.
    entries: Vec<(i64, i64)>,
    /// The last entry of the batch; 0 without entries.
    last: i64,
    /// Days and states with their change counts.
    counts: Vec<(i64, i64, i64)>,
    standing: i64,
}

impl<D: Database> Feed for ActivityFeed<'_, D> {
    type Batch = Box<FeedBatch>;
    type Marks = Marks;
    const NAME: &'static str = "activity";

    fn sends_at_ms(&self) -> DbResult<Option<i64>> {
        match self.0.query_first(sql::GET_FEED, &[])? {
            Some(row) if row.boolean(0)? => row.integer(1).map(Some),
            _ => Ok(None),
        }
    }

    fn attempts(&self) -> DbResult<u32> {
        let row = self.0.query_first(sql::GET_FEED, &[])?;
        row.map_or(Ok(0), |row| row.number(2))
    }

    /// Returns `None` before the publisher is known. If newer code has written a row that this code cannot read, the
    /// row is logged and left out, so that it does not stop the other rows. The row is sent when it changes again.
    fn prepare(&self, now_ms: i64) -> DbResult<Option<Prepared<Self>>> {
        let db = self.0;
        let Some(state) = endpoint::read(db)? else {
            return Ok(None);
        };
        let (Some(current), Some(row)) = (&state.current, db.query_first(sql::GET_FEED, &[])?) else {
            return Ok(None);
        };
        let rows = db.query(sql::CHANGED_ENTRIES, params![ENTRIES])?;
        let last = rows.last().map_or(Ok(0), |row| row.integer(0))?;
        let next_ms = now_ms.saturating_add(SPACING_MS);
        let Some(begun) = db.query_first(sql::BEGIN_BATCH, params![now_ms, next_ms, last])? else {
            return Ok(None);
        };
        let counted = db.query(sql::CHANGED_COUNTS, params![COUNTS])?;
        let marks = rows.iter().map(|row| Ok((row.integer(0)?, row.integer(1)?)));
        let marks: Vec<(i64, i64)> = marks.collect::<DbResult<_>>()?;
        let counts: Vec<(i64, i64, i64)> = counted
            .iter()
            .map(|row| Ok((row.integer(0)?, row.integer(1)?, row.integer(4)?)))
            .collect::<DbResult<_>>()?;
        let entries: Vec<FeedEntry> =
            rows.iter().filter(|row| !row.is_null(2)).filter_map(|row| readable(feed_entry(row))).collect();
        let standing = begun.integer(2)?;
        let first_left = db.query_integer(sql::FIRST_CHANGED, params![last])?;
        let complete_ms = begun.integer(1)?;
        // The earliest possible change of the entries that did not fit: all of them changed after the last complete
        // batch, and none changed before the first of these entries was created.
        let entry_ms = first_left.map_or(0, |entry| entry.div_euclid(NUMBERS_PER_MS));
        let is_complete = first_left.is_none() && counted.len() < COUNTS;
        let has_changes = !marks.is_empty() || !counts.is_empty();
        let batch = FeedBatch {
            app: state.shard.app,
            shard: state.shard.number,
            sequence: begun.integer(0)?,
            confirmed: row.integer(3)?,
            restarts: row.boolean(4)?,
            at_ms: now_ms,
            owes_since_ms: (!is_complete).then_some(entry_ms.max(complete_ms)),
            next_by_ms: feed::promise_ms(has_changes, now_ms),
            endpoint: endpoint_standing(db, &state)?,
            // The log of a test app is shown but not counted.
            counts: counted
                .iter()
                .filter(|_| !state.shard.app.is_test())
                .filter_map(|row| readable(count(row)))
                .collect(),
            entries,
        };
        Ok(Some(Prepared {
            batch: Box::new(batch),
            receiver: activity::address(&current.publisher_id),
            is_complete,
            marks: Marks { entries: marks, last, counts, standing },
        }))
    }

    fn confirm(&self, _now_ms: i64, prepared: &Prepared<Self>, answer: &FeedAnswer) -> DbResult {
        let (db, batch, marks) = (self.0, &prepared.batch, &prepared.marks);
        db.transaction(|| {
            if marks.entries.iter().any(|(_, changes)| *changes > 0) {
                db.execute(sql::CONFIRM_ENTRIES, params![json(&marks.entries)?])?;
            }
            if !marks.counts.is_empty() {
                db.execute(sql::CONFIRM_COUNTS, params![json(&marks.counts)?])?;
            }
            db.execute(
                sql::CONFIRM_BATCH,
                params![
                    marks.standing,
                    answer.is_incomplete || batch.next_by_ms.is_some(),
                    prepared.is_complete.then_some(batch.at_ms),
                    batch.sequence,
                    answer.is_incomplete,
                    marks.last
                ],
            )?;
            if answer.is_incomplete {
                db.execute(sql::CHANGE_ENTRIES, params![KEPT_ENTRIES])?;
                db.execute(sql::CHANGE_COUNTS, &[])?;
            }
            Ok(())
        })
    }

    fn put_off(&self, until_ms: i64) -> DbResult {
        self.0.execute(sql::PUT_OFF, params![until_ms])
    }
}

/// Returns a row of a batch; `None` if this code cannot read the row.
fn readable<T>(row: DbResult<T>) -> Option<T> {
    row.inspect_err(|error| {
        log::error("activity", format_args!("a row is left out of a batch, because it cannot be read: {error}"))
    })
    .ok()
}

fn count(row: &Row) -> DbResult<RewardCount> {
    let damaged = || DatabaseError("the day of a count is out of range".into());
    Ok(RewardCount {
        day: UtcDay::from_number(row.integer(0)?).ok_or_else(damaged)?,
        state: row.decode(1, RewardState::from_number)?,
        rewards: row.integer(2)?,
        payout_micro_usd: row.integer(3)?,
    })
}

fn endpoint_standing(db: &impl Database, state: &OutboxState) -> DbResult<EndpointStanding> {
    let read = |row: &Row| Ok((row.integer(0)?, row.integer(1)?));
    let counts = db.read_first(sql::COUNT_CALLBACKS, params![EndpointStanding::MAX], read)?;
    let (waiting, dead) = counts.unwrap_or_default();
    Ok(EndpointStanding { state: state.endpoint_state(), disabled_ms: state.disabled_ms, waiting, dead })
}

fn feed_entry(row: &Row) -> DbResult<FeedEntry> {
    let fields: LoggedFields = row.json(8)?;
    let original = row.optional_text(3)?.map(str::to_owned);
    let conversion = state_of(row.integer(5)?)?;
    let notice = row.optional_integer(4)?.map(state_of).transpose()?;
    let delivery = row.optional_integer(6)?;
    let (kind, state) = match notice {
        Some(State::Pending) => (RewardKind::Notice, RewardState::Pending),
        Some(_) => (RewardKind::Notice, RewardState::Rejected),
        None if original.is_some() => (RewardKind::Reversal, RewardState::Reversed),
        None => (RewardKind::Reward, reward_state(conversion)),
    };
    let ended_ms = match row.optional_integer(10)? {
        Some(at_ms) => Some(at_ms.saturating_add(row.integer(11)?)),
        None => None,
    };
    Ok(FeedEntry {
        entry: row.integer(0)?,
        transaction_id: row.text(2)?.to_owned(),
        state,
        delivery: delivery.map(|_| row.decode(6, RewardDelivery::from_number)).transpose()?,
        http_status: row.optional_number(12)?,
        user_id: row.optional_text(7)?.map(str::to_owned),
        conversion_ts: fields.conversion_ts,
        delivered_ms: ended_ms.filter(|_| delivery == Some(entries::DELIVERED)),
        details: RewardDetails {
            kind,
            original_transaction_id: original,
            code: conversion.reason().filter(|_| kind == RewardKind::Reward).map(Reason::code).map(str::to_owned),
            offer_id: fields.offer_id,
            goal_id: fields.goal_id,
            value: fields.value.as_str().to_owned(),
            payout: fields.payout.as_str().to_owned(),
            currency: fields.currency,
            click_ts: fields.click_ts,
            attempts: row.number(9)?,
        },
    })
}

/// Returns the state of a conversion as the publisher sees it.
pub fn reward_state(state: State) -> RewardState {
    match state {
        State::Pending => RewardState::Pending,
        State::Held(_) => RewardState::Held,
        State::Approved => RewardState::Approved,
        State::Rejected | State::Tombstone => RewardState::Rejected,
        State::Reversed => RewardState::Reversed,
        State::Refused(_) => RewardState::Refused,
    }
}

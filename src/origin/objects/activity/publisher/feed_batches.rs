//! Applies the batches of outboxes. A batch has states, not differences, so a batch that arrives twice, or after a
//! later batch, changes nothing.

use contract::{
    activity::{FeedAnswer, FeedBatch, FeedEntry, KEPT_ENTRIES, RewardCount},
    outbox::EndpointState,
    rewards::RewardKind,
};
use domain::{
    conversions::log_number::NUMBERS_PER_MS,
    model::{AppId, DAY_MS, UtcDay},
};
use platform::{Database, DatabaseError, DbResult, database::json, params};

use super::sql;
use crate::objects::activity::alarms::causes::Noted;

/// The number of new entries after which surplus entries are deleted.
const LEAVE_AFTER: i64 = 500;
/// The number of days whose counts are kept: as many as a report may span, plus today and yesterday.
pub const DAYS: i64 = 92;
/// The number of newest entries of test apps that are kept. They take no room from other entries.
const KEPT_TESTS: i64 = 1_000;

/// Applies a batch, unless this batch or a later one of the same outbox was applied before.
pub fn apply(db: &impl Database, now_ms: i64, batch: &FeedBatch) -> DbResult<FeedAnswer> {
    let (app, shard) = (batch.app.number(), batch.shard);
    let outbox = db.query_first(sql::GET_OUTBOX, params![app, shard])?;
    let (last, was_incomplete, dead, endpoint) = match &outbox {
        Some(row) => (row.integer(0)?, row.boolean(1)?, row.integer(2)?, row.integer(3)?),
        None => (0, false, 0, 0),
    };
    if batch.sequence <= last {
        return Ok(FeedAnswer { applied: false, is_incomplete: was_incomplete });
    }
    // This object was lost or restored if it lacks a confirmed batch.
    let is_incomplete = !batch.restarts && (was_incomplete || last < batch.confirmed);
    db.transaction(|| {
        let is_new_state = endpoint != i64::from(batch.endpoint.state.number());
        let before = is_new_state.then(|| endpoint_of(db, batch.app)).transpose()?;
        put_outbox(db, batch, is_incomplete)?;
        let noted = Noted { now_ms, publisher: None };
        if let Some(before) = before.filter(|_| !batch.app.is_test()) {
            let after = endpoint_of(db, batch.app)?;
            noted.endpoint(db, batch.app, (before, after), batch.at_ms)?;
        }
        // If this object was lost or restored, its count is outdated, so no alarm is raised.
        if last >= batch.confirmed && !batch.app.is_test() {
            noted.given_up(db, dead, batch.endpoint.dead)?;
        }
        if !batch.counts.is_empty() {
            put_counts(db, now_ms, batch)?;
        }
        if !batch.entries.is_empty() {
            put_entries(db, batch)?;
            if !batch.app.is_test() {
                put_firsts(db, &batch.entries)?;
            }
        }
        Ok::<_, DatabaseError>(())
    })?;
    Ok(FeedAnswer { applied: true, is_incomplete })
}

/// Returns the worst state of an app's endpoint over all outboxes that have sent a batch.
fn endpoint_of(db: &impl Database, app: AppId) -> DbResult<EndpointState> {
    let row = db.query_first(sql::ENDPOINT_OF, params![app.number()])?;
    row.map_or(Ok(EndpointState::None), |row| row.decode(0, EndpointState::from_number))
}

fn put_outbox(db: &impl Database, batch: &FeedBatch, is_incomplete: bool) -> DbResult {
    let endpoint = &batch.endpoint;
    db.execute(
        sql::PUT_OUTBOX,
        params![
            batch.app.number(),
            batch.shard,
            batch.sequence,
            batch.at_ms,
            batch.owes_since_ms,
            batch.next_by_ms,
            endpoint.state.number(),
            endpoint.disabled_ms,
            endpoint.waiting,
            endpoint.dead,
            is_incomplete
        ],
    )
}

fn put_counts(db: &impl Database, now_ms: i64, batch: &FeedBatch) -> DbResult {
    let row = |count: &RewardCount| (count.day.number(), count.state.number(), count.rewards, count.payout_micro_usd);
    let counts = json(&batch.counts.iter().map(row).collect::<Vec<_>>())?;
    let (app, shard) = (batch.app.number(), batch.shard);
    for sql in [sql::ADD_DIFFERENCES, sql::PUT_COUNTS] {
        db.execute(sql, params![app, shard, counts.as_str(), first_day(now_ms)])?;
    }
    Ok(())
}

/// Returns the first day whose counts are kept.
pub fn first_day(now_ms: i64) -> i64 {
    UtcDay::of_ms(now_ms.saturating_sub((DAYS - 1) * DAY_MS)).number()
}

fn put_entries(db: &impl Database, batch: &FeedBatch) -> DbResult {
    let count = i64::try_from(batch.entries.len()).unwrap_or(i64::MAX);
    let taken = db.query_first(sql::TAKE_VERSIONS, params![count])?;
    let Some(taken) = taken else {
        return Err(DatabaseError("the table activity has no row".into()));
    };
    let (version, floor) = (taken.integer(0)?, taken.integer(1)?);
    let row = |entry: &FeedEntry| {
        serde_json::json!([
            entry.entry,
            entry.transaction_id,
            entry.state.number(),
            entry.delivery.map(|delivery| delivery.number()),
            entry.http_status,
            entry.user_id,
            entry.conversion_ts,
            entry.delivered_ms,
            entry.details,
        ])
    };
    let before = version.saturating_sub(count);
    let entries = json(&batch.entries.iter().map(row).collect::<Vec<_>>())?;
    db.execute(sql::PUT_ENTRIES, params![batch.app.number(), before, entries, floor])?;
    if version.div_euclid(LEAVE_AFTER) > before.div_euclid(LEAVE_AFTER) {
        db.execute(sql::DELETE_TESTS, params![KEPT_TESTS])?;
        if let Some(floor) = db.query_integer(sql::FLOOR, params![KEPT_ENTRIES])? {
            db.execute(sql::SET_FLOOR, params![floor])?;
            db.execute(sql::DELETE_ENTRIES, params![floor])?;
        }
    }
    Ok(())
}

fn put_firsts(db: &impl Database, entries: &[FeedEntry]) -> DbResult {
    let rewards = entries.iter().filter(|entry| entry.details.kind == RewardKind::Reward);
    let conversion_ms = rewards.map(|entry| entry.entry.div_euclid(NUMBERS_PER_MS)).min();
    let callback_ms = entries.iter().filter_map(|entry| entry.delivered_ms).min();
    db.execute(sql::PUT_FIRSTS, params![conversion_ms, callback_ms])
}

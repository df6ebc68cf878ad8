//! Replays many callbacks of a publisher in one outbox, in steps. Counting the callbacks beforehand uses the same
//! steps. The activity object calls the steps. Each step begins after the last entry of the previous one.
//!
//! A step reads only entries within the times of its filter. An entry's number follows from the time of its conversion.
//! If the conversion was paid later, the number of the payment follows from the time of the payment. So a replay of one
//! day reads only that day, however long the log is.

pub mod sql;

use crate::objects::outbox::sql as outbox_sql;
use contract::{
    activity::REPLAY_RETENTION_MS,
    outbox::{ReplayRewards, Replayed},
    rewards::RewardFilter,
};
use domain::{
    conversions::log_number::first_number,
    model::time::{DAY_MS, SECOND_MS},
};
use platform::{
    Database, DbResult,
    database::{MAX_INTEGER, Value, json},
    params,
};

/// Maximum entries that one step examines. A step takes 3 ms, or 20 ms with every condition (2026-11-25), during which
/// the object answers no other request.
pub const STEP: i64 = 10_000;
/// How far the numbers of entries may be ahead of their times, in milliseconds. Numbers run ahead after the clock was
/// set back, and with more than 16 entries in a millisecond.
const AHEAD_MS: i64 = DAY_MS;

/// Does one step of a replay. With a `limit` of 0, the step only counts the matching callbacks. After the step at most
/// `limit` callbacks are due in this outbox. If that many are already due, nothing is replayed and the step must be
/// retried later.
pub fn step(
    db: &impl Database,
    now_ms: i64,
    replay: &ReplayRewards,
    claim_ms: i64,
    entries: i64,
) -> DbResult<Replayed> {
    let filter = &replay.filter;
    let made = |replayed, next| Replayed { replayed, next, until: filter.end_s() };
    if let Some(step) = &replay.step
        && let Some(row) = db.query_first(sql::GET_STEP, params![step.as_str()])?
    {
        return Ok(made(row.integer(0)?, row.optional_integer(1)?));
    }
    // Callbacks that are already due count towards the limit, so that a new reward's callback never waits behind more
    // than one step.
    let due = match replay.limit {
        0 => 0,
        limit => db.query_integer(outbox_sql::COUNT_DUE, params![now_ms, limit])?.unwrap_or(0),
    };
    let room = i64::from(replay.limit).saturating_sub(due);
    if replay.limit > 0 && room <= 0 {
        return Ok(made(0, Some(replay.after)));
    }
    let Some(part) = Part::after(db, filter, replay.after, entries)? else {
        return Ok(made(0, None));
    };
    if replay.limit == 0 {
        let count = db.query_integer(part.source.count, &part.values(filter))?;
        return Ok(made(count.unwrap_or(0), part.next));
    }
    let found = part.list(db, filter, room)?;
    let count = i64::try_from(found.len()).unwrap_or(room);
    let is_cut = count == room;
    let next = found.last().copied().filter(|_| is_cut).or(part.next);
    if !found.is_empty() {
        db.transaction(|| {
            send_again(db, now_ms, filter, &found, claim_ms)?;
            remember(db, now_ms, replay.step.as_deref(), count, next)
        })?;
    }
    Ok(made(count, next))
}

/// Resends one callback at once. Returns false if the entry has no callback, or its user is erased.
pub fn one(db: &impl Database, now_ms: i64, transaction_id: &str, claim_ms: i64) -> DbResult<bool> {
    let filter = RewardFilter { transaction_id: Some(transaction_id.to_owned()), ..RewardFilter::default() };
    let found = match Part::after(db, &filter, 0, 1)? {
        Some(part) => part.list(db, &filter, 1)?,
        None => Vec::new(),
    };
    if !found.is_empty() {
        db.transaction(|| send_again(db, now_ms, &filter, &found, claim_ms))?;
    }
    Ok(!found.is_empty())
}

/// Stores a step's answer, within the transaction that makes the callbacks due.
fn remember(db: &impl Database, now_ms: i64, step: Option<&str>, replayed: i64, next: Option<i64>) -> DbResult {
    let Some(step) = step else { return Ok(()) };
    db.execute(sql::DELETE_STEPS, params![now_ms.saturating_sub(REPLAY_RETENTION_MS)])?;
    db.execute(sql::PUT_STEP, params![step, replayed, next, now_ms])
}

/// Restarts the schedules of callbacks with an attempt at once, within the caller's transaction. The reversal of a
/// replayed reward is replayed after the reward, unless the reversal itself matches the filter. Such a reversal is left
/// to the step that reaches it, because otherwise it might be sent twice.
fn send_again(db: &impl Database, now_ms: i64, filter: &RewardFilter, entries: &[i64], claim_ms: i64) -> DbResult {
    let (entries, claimed_until_ms) = (json(&entries)?, now_ms.saturating_add(claim_ms));
    let of_list: &[Value] = params![entries.as_str(), now_ms];
    db.execute(sql::REPLAY, params![now_ms, claimed_until_ms, entries.as_str()])?;
    db.execute(sql::REPLAY_REVERSALS, &[&filter_values(filter)[..], of_list].concat())
}

fn filter_values(filter: &RewardFilter) -> [Value; 7] {
    [
        filter.delivery.map(|delivery| u32::from(delivery.number())).into(),
        filter.first_s().into(),
        filter.end_s().into(),
        filter.state.map(|state| u32::from(state.number())).into(),
        filter.http_status.map(u32::from).into(),
        filter.user_id.as_deref().into(),
        filter.transaction_id.as_deref().into(),
    ]
}

/// The entries that a step examines.
struct Part {
    source: Source,
    after: i64,
    last: i64,
    /// The last entry of the part, if more entries follow.
    next: Option<i64>,
}

/// The statements that count and list the matching callbacks of a part.
struct Source {
    count: &'static str,
    list: &'static str,
}

const LOG: Source = Source { count: sql::COUNT, list: sql::LIST };
const OF_USER: Source = Source { count: sql::COUNT_OF_USER, list: sql::LIST_OF_USER };
const PAID_LATER: Source = Source { count: sql::COUNT_PAID_LATER, list: sql::LIST_PAID_LATER };

impl Part {
    /// Returns the next `most` entries that may match; `None` after the last entry.
    fn after(db: &impl Database, filter: &RewardFilter, after: i64, most: i64) -> DbResult<Option<Self>> {
        if let Some(id) = &filter.transaction_id {
            let entry = db.query_integer(sql::FIND, params![id.as_str()])?;
            let entry = entry.filter(|entry| *entry > after);
            return Ok(entry.map(|entry| Self::until(LOG, entry.saturating_sub(1), entry, None)));
        }
        if let Some(user) = &filter.user_id {
            let end = db.query_integer(sql::ENTRY_OF_USER_AFTER, params![user.as_str(), after, most])?;
            return Ok(Some(Self::until(OF_USER, after, MAX_INTEGER, end)));
        }
        let number_of = |at_s: i64, more_ms| {
            let at_ms = at_s.saturating_mul(SECOND_MS).saturating_add(more_ms);
            first_number(at_ms).min(MAX_INTEGER)
        };
        let first = number_of(filter.first_s(), 0);
        let paid_later = |skip| db.query_integer(sql::PAID_LATER_AFTER, params![after, first, skip]);
        if paid_later(0)?.is_some() {
            let before_first = first.saturating_sub(1);
            let part = Self::until(PAID_LATER, after, before_first, paid_later(most)?);
            let next = part.next.or(Some(before_first));
            return Ok(Some(Self { next, ..part }));
        }
        let after = after.max(first.saturating_sub(1));
        let last = number_of(filter.end_s(), AHEAD_MS);
        if after >= last {
            return Ok(None);
        }
        let end = db.query_integer(outbox_sql::ENTRY_AFTER, params![after, most])?;
        Ok(Some(Self::until(LOG, after, last, end.filter(|end| *end <= last))))
    }

    /// Returns at most `most` of the part's entries that match.
    fn list(&self, db: &impl Database, filter: &RewardFilter, most: i64) -> DbResult<Vec<i64>> {
        let parameters = [&self.values(filter)[..], params![most]].concat();
        db.read_all(self.source.list, &parameters, |row| row.integer(0))
    }

    fn values(&self, filter: &RewardFilter) -> Vec<Value> {
        let range: &[Value] = params![self.after, self.last];
        [&filter_values(filter)[..], range].concat()
    }

    /// Makes a part that ends before the entry `end`, or with the entry `last` if `end` is `None`.
    fn until(source: Source, after: i64, last: i64, end: Option<i64>) -> Self {
        let next = end.map(|end| end.saturating_sub(1));
        Self { source, after, last: next.unwrap_or(last), next }
    }
}

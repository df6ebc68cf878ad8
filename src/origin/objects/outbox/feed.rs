//! Reports to the publisher's activity object what changes in the outbox: entries, counts by day and state, and the
//! endpoint's standing.
//!
//! [Triggers](schema) mark what has changed, in the transaction of the change. A report has the marked things as they are
//! when it is made, so changes of a second share one, and a conversion pays only for the marks. Marks stay until the object
//! has confirmed the report, so a report that failed is made again, of the newest state. Nothing waits for a report.
//!
//! Every night there is a report, with changes or without. If the object lacks the last one that it confirmed, it was lost or
//! restored, and is told again what it can keep.

pub mod schema;
pub mod sql;

use std::time::Duration;

use serde::Deserialize;

use super::{
    endpoint::{self, OutboxState},
    log::{entries, states::state_of},
};
use crate::delivery::backoff::{LONGEST_WAIT_MS, is_refusal, wait_ms};
use contract::{
    activity::{
        self, EndpointReport, Heard, KEPT_ENTRIES, Report, ReportedCount, ReportedEntry, RewardDetails,
        RewardKind,
    },
    rewards::{RewardDelivery, RewardState},
};
use domain::{
    callbacks::fields::Decimal,
    conversions::{
        log_number::NUMBERS_PER_MS,
        state::{Reason, State},
    },
    model::{
        PublisherId,
        time::{SECOND_MS, UtcDay},
    },
};
use platform::{
    database::{Database, DatabaseError, Row, json},
    log, params,
    traits::{Clock, ObjectCall},
};

/// Changes of this time share a report, in milliseconds.
pub const FEED_MS: i64 = SECOND_MS;
/// The time after a report with changes within which the next one comes, with changes or without. The alarm may be late.
const PROMISE_MS: i64 = 4 * SECOND_MS;
/// Entries of a report, each of at most 1 KB: about 10 ms, in which the outbox answers no other request.
const ENTRIES: usize = 200;
/// Counts of a report.
const COUNTS: usize = 300;
/// Reports of an alarm, one after the other: what they do not have waits for the next alarm.
const REPORTS: usize = 20;
const TIMEOUT: Duration = Duration::from_secs(10);

/// Whether something is to be reported now.
pub fn is_due(db: &impl Database, now_ms: i64) -> Result<bool, DatabaseError> {
    Ok(sends_at(db)?.is_some_and(|at_ms| at_ms <= now_ms))
}

/// When the alarm is due for a report; none if there is nothing to report. What has just changed waits for what changes
/// within [`FEED_MS`].
pub fn due_ms(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let soon_ms = now_ms.saturating_add(FEED_MS);
    Ok(sends_at(db)?.map(|at_ms| at_ms.max(soon_ms)))
}

/// The earliest time for the next report; none if there is nothing to report.
fn sends_at(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
    match db.query_first(sql::GET_FEED, &[])? {
        Some(row) if row.boolean(0)? => row.integer(1).map(Some),
        _ => Ok(None),
    }
}

/// Sends reports until everything is reported, or one fails, or there were `REPORTS`.
///
/// # Errors
/// A report could not be made or settled. The next one waits as after one that did not arrive.
pub async fn send(db: &impl Database, runtime: &(impl Clock + ObjectCall)) -> Result<(), DatabaseError> {
    let sent = send_due(db, runtime).await;
    if sent.is_err() {
        let attempts = db.query_first(sql::GET_FEED, &[])?;
        let attempts = attempts.map_or(Ok(0), |feed| feed.number(2))?;
        put_off(db, runtime.now_ms(), wait_ms(attempts))?;
    }
    sent
}

fn put_off(db: &impl Database, now_ms: i64, wait_ms: i64) -> Result<(), DatabaseError> {
    db.execute(sql::PUT_REPORT_OFF, params![now_ms.saturating_add(wait_ms)])
}

async fn send_due(db: &impl Database, runtime: &(impl Clock + ObjectCall)) -> Result<(), DatabaseError> {
    if !is_due(db, runtime.now_ms())? {
        return Ok(());
    }
    for _ in 0..REPORTS {
        let Some(made) = make(db, runtime.now_ms())? else {
            return Ok(());
        };
        let to = activity::address(&made.publisher);
        let sent = runtime.call(&to, Box::new(made.report.clone()), TIMEOUT).await;
        match sent {
            Ok(heard) => confirm(db, &made, heard)?,
            Err(error) => {
                log::warn("activity", format_args!("{}: {error}", to.name));
                let wait_ms = match is_refusal(&error) {
                    true => LONGEST_WAIT_MS,
                    false => wait_ms(made.attempts),
                };
                return put_off(db, runtime.now_ms(), wait_ms);
            }
        }
        if made.report.owes_since_ms.is_none() {
            return Ok(());
        }
    }
    Ok(())
}

/// A report, and the marks that it settles.
pub struct Made {
    pub report: Report,
    publisher: PublisherId,
    attempts: u32,
    /// Entries with their changes, those that have left the log among them.
    entries: Vec<(i64, i64)>,
    /// Days and states with their changes.
    counts: Vec<(i64, i64, i64)>,
    standing: i64,
}

/// Makes the next report, under a number that no other report of the outbox has. `None` before the publisher is known.
/// A row that this code cannot read, because newer code has written it, is logged and left out, so that it does not stop the
/// others. It is reported with its next change.
pub fn make(db: &impl Database, now_ms: i64) -> Result<Option<Made>, DatabaseError> {
    let Some(state) = endpoint::read(db)? else {
        return Ok(None);
    };
    let (Some(current), Some(feed)) = (&state.current, db.query_first(sql::GET_FEED, &[])?) else {
        return Ok(None);
    };
    let next_ms = now_ms.saturating_add(FEED_MS);
    let Some(begun) = db.query_first(sql::BEGIN_REPORT, params![now_ms, next_ms])? else {
        return Ok(None);
    };
    let rows = db.query(sql::CHANGED_ENTRIES, params![ENTRIES])?;
    let counted = db.query(sql::CHANGED_COUNTS, params![COUNTS])?;
    let marks = rows.iter().map(|row| Ok((row.integer(0)?, row.integer(1)?)));
    let marks: Vec<(i64, i64)> = marks.collect::<Result<_, DatabaseError>>()?;
    let counts: Vec<(i64, i64, i64)> = counted
        .iter()
        .map(|row| Ok((row.integer(0)?, row.integer(1)?, row.integer(4)?)))
        .collect::<Result<_, DatabaseError>>()?;
    let entries: Vec<ReportedEntry> = rows
        .iter()
        .filter(|row| !row.is_null(2))
        .filter_map(|row| readable(reported_entry(row)))
        .collect();
    let standing = begun.integer(2)?;
    let last = marks.last().map_or(0, |(entry, _)| *entry);
    let first_left = db.query_integer(sql::FIRST_CHANGED, params![last])?;
    let complete_ms = begun.integer(1)?;
    // The entries that are left have changed since the last complete report, and not before its entry was made.
    let entry_ms = first_left.map_or(0, |entry| entry.div_euclid(NUMBERS_PER_MS));
    let is_complete = first_left.is_none() && counted.len() < COUNTS;
    let has_changes = !marks.is_empty() || !counts.is_empty();
    let report = Report {
        app: state.shard.app,
        shard: state.shard.number,
        sequence: begun.integer(0)?,
        confirmed: feed.integer(3)?,
        restarts: feed.boolean(4)?,
        at_ms: now_ms,
        owes_since_ms: (!is_complete).then_some(entry_ms.max(complete_ms)),
        next_by_ms: has_changes.then_some(now_ms.saturating_add(PROMISE_MS)),
        endpoint: endpoint_report(db, &state)?,
        counts: counted.iter().filter_map(|row| readable(count(row))).collect(),
        entries,
    };
    Ok(Some(Made {
        report,
        publisher: current.publisher_id.clone(),
        attempts: feed.number(2)?,
        entries: marks,
        counts,
        standing,
    }))
}

/// Settles the marks of a report that the object has applied, now or before.
pub fn confirm(db: &impl Database, made: &Made, heard: Heard) -> Result<(), DatabaseError> {
    let report = &made.report;
    let complete_ms = report.owes_since_ms.is_none().then_some(report.at_ms);
    db.transaction(|| {
        if !made.entries.is_empty() {
            db.execute(sql::CONFIRM_ENTRIES, params![json(&made.entries)?])?;
        }
        if !made.counts.is_empty() {
            db.execute(sql::CONFIRM_COUNTS, params![json(&made.counts)?])?;
        }
        db.execute(
            sql::CONFIRM_REPORT,
            params![
                made.standing,
                heard.is_incomplete || report.next_by_ms.is_some(),
                complete_ms,
                report.sequence,
                heard.is_incomplete
            ],
        )?;
        if heard.is_incomplete {
            db.execute(sql::CHANGE_ENTRIES, params![KEPT_ENTRIES])?;
            db.execute(sql::CHANGE_COUNTS, &[])?;
        }
        Ok(())
    })
}

/// A row of a report; none if this code cannot read it.
fn readable<T>(row: Result<T, DatabaseError>) -> Option<T> {
    row.inspect_err(|error| log::error("activity", format_args!("not reported: {error}")))
        .ok()
}

fn count(row: &Row) -> Result<ReportedCount, DatabaseError> {
    let damaged = || DatabaseError("the day of a count is out of range".into());
    Ok(ReportedCount {
        day: UtcDay::from_number(row.integer(0)?).ok_or_else(damaged)?,
        state: row.decode(1, RewardState::from_number)?,
        rewards: row.integer(2)?,
        payout_micro_usd: row.integer(3)?,
    })
}

fn endpoint_report(db: &impl Database, state: &OutboxState) -> Result<EndpointReport, DatabaseError> {
    let counts = db.query_first(sql::COUNT_CALLBACKS, params![EndpointReport::MOST])?;
    let (waiting, dead) = match counts {
        Some(row) => (row.integer(0)?, row.integer(1)?),
        None => (0, 0),
    };
    Ok(EndpointReport {
        state: state.endpoint_state(),
        disabled_ms: state.disabled_ms,
        waiting,
        dead,
    })
}

/// The fields of a callback that a report has.
#[derive(Deserialize)]
struct ReportedFields {
    offer_id: String,
    goal_id: String,
    value: Decimal,
    payout: Decimal,
    currency: String,
    click_ts: i64,
    conversion_ts: i64,
}

fn reported_entry(row: &Row) -> Result<ReportedEntry, DatabaseError> {
    let fields: ReportedFields = row.json(8)?;
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
    Ok(ReportedEntry {
        entry: row.integer(0)?,
        transaction_id: row.text(2)?.to_owned(),
        state,
        delivery: delivery
            .map(|_| row.decode(6, RewardDelivery::from_number))
            .transpose()?,
        http_status: row.optional_number(12)?,
        user_id: row.optional_text(7)?.map(str::to_owned),
        conversion_ts: fields.conversion_ts,
        delivered_ms: ended_ms.filter(|_| delivery == Some(entries::DELIVERED)),
        details: RewardDetails {
            kind,
            original_transaction_id: original,
            code: conversion
                .reason()
                .filter(|_| kind == RewardKind::Reward)
                .map(Reason::code)
                .map(str::to_owned),
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

/// The state of a conversion as the publisher sees it.
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

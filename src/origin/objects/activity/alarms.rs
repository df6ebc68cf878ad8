//! Alarms of a publisher or of the operator. Causes become a message, which is sent as a signed webhook
//! (docs/DECISIONS.md, "Alarms").
//!
//! - [`causes`]: causes from other objects' batches; [`words`]: the text of a message;
//! - [`address`]: the URL that receives messages, which [`lasting`] preserves across a restore;
//! - [`sending`]: the attempts.
//!
//! The first cause of a kind and subject waits two seconds for other causes and is sent with them. After that, a group
//! of kinds and subjects, such as an app's endpoint, gets at most one message per hour: the group's further causes wait
//! for a digest at a full hour. A message is stored with its id before it is sent, so all attempts have the same id.

pub mod address;
pub mod causes;
pub mod lasting;
pub mod sending;
pub mod sql;
pub mod words;

use std::collections::BTreeSet;

use crate::delivery::register;
use contract::alarms::{Alarm, AlarmKind, RaiseAlarms};
use contract::operation::Done;
use domain::model::{DAY_MS, HOUR_MS, SECOND_MS, credentials};
use platform::{Database, DatabaseError, DbResult, params};
use words::{Entry, Sites};

/// The time that a first cause waits for others, in milliseconds.
const GATHER_MS: i64 = 2 * SECOND_MS;
/// The time without a message after which the next cause counts as a first cause again, in milliseconds.
const FORGET_MS: i64 = DAY_MS;
/// How long alarms of late facts are remembered, in milliseconds. A ledger raises no alarm for older days.
const LATE_KEPT_MS: i64 = 31 * DAY_MS;
/// Maximum entries in a message, each with the causes of one kind and subject. Further entries wait for the next
/// message.
const MAX_ENTRIES: u32 = 200;

/// Returns the group of a kind and subject. A group gets at most one message per hour.
fn group(kind: AlarmKind, subject: &str) -> String {
    let of = match kind {
        AlarmKind::EndpointFailing | AlarmKind::EndpointDisabled | AlarmKind::EndpointRecovered => "endpoint",
        AlarmKind::ClickCapNear | AlarmKind::ClickCapSpent => "click_cap",
        AlarmKind::ConversionCapNear | AlarmKind::ConversionCapSpent => "conversion_cap",
        kind => kind.as_str(),
    };
    format!("{of} {subject}")
}

/// Carries out [`RaiseAlarms`].
pub fn raise_all(db: &impl Database, now_ms: i64, raise: &RaiseAlarms) -> DbResult<Done> {
    db.transaction(|| {
        for alarm in &raise.alarms {
            self::raise(db, now_ms, alarm)?;
        }
        if raise.ends && address::is_set(db)? {
            lasting::end(db)?;
            register::add(db, now_ms, &lasting::Address::default())?;
        }
        Ok::<_, DatabaseError>(())
    })?;
    Ok(Done {})
}

/// Notes a cause like [`raise`], but with a higher number than the last cause, so that the cause is not ignored as
/// already known.
pub fn raise_new(db: &impl Database, now_ms: i64, alarm: Alarm) -> DbResult {
    let key = params![u32::from(alarm.kind.number()), alarm.subject.as_str(), ""];
    let last = db.read_first(sql::GET_CAUSE, key, |row| row.optional_integer(0))?;
    let next = last.flatten().map_or(0, |last| last.saturating_add(1));
    let cause = now_ms.max(next);
    raise(db, now_ms, &Alarm { cause, ..alarm })
}

/// Notes a cause, within the transaction of the change that caused it. If no address is set, nothing is noted.
pub fn raise(db: &impl Database, now_ms: i64, alarm: &Alarm) -> DbResult {
    if !address::is_set(db)? {
        return Ok(());
    }
    let (kind, subject) = (u32::from(alarm.kind.number()), alarm.subject.as_str());
    let group = group(alarm.kind, subject);
    let row = db.query_first(sql::GET_CAUSE, params![kind, subject, group])?;
    let row = row.ok_or_else(|| DatabaseError("the query returned no row".into()))?;
    let (last, free_ms) = (row.optional_integer(0)?, row.optional_integer(4)?.unwrap_or(0));
    if last.is_some_and(|last| alarm.cause <= last) {
        return Ok(());
    }
    let told_ms = row.optional_integer(3)?;
    let is_first = told_ms.is_none_or(|told_ms| told_ms < now_ms.saturating_sub(FORGET_MS));
    let due_ms = match row.optional_integer(1)? {
        Some(1..) => row.integer(2)?,
        _ if is_first || now_ms >= free_ms => now_ms.saturating_add(GATHER_MS),
        _ => full_hour(free_ms),
    };
    let publisher = alarm.publisher.as_ref().map(|publisher| publisher.as_str());
    db.execute(
        sql::PUT_CAUSE,
        params![kind, subject, publisher, alarm.cause, alarm.count, alarm.since_ms, now_ms, due_ms],
    )
}

/// Rounds a time up to the full hour.
fn full_hour(ms: i64) -> i64 {
    ms.saturating_add(HOUR_MS - 1).div_euclid(HOUR_MS).saturating_mul(HOUR_MS)
}

/// Composes messages from the due causes.
pub fn compose(db: &impl Database, now_ms: i64, sites: &Sites) -> DbResult {
    loop {
        let due = db.query(sql::LIST_DUE, params![now_ms, MAX_ENTRIES])?;
        let entries: Vec<_> = due.iter().map(Entry::read).collect::<Result<_, _>>()?;
        if entries.is_empty() {
            return Ok(());
        }
        db.transaction(|| {
            let causes: Vec<_> = entries.iter().map(|entry| entry.causes()).collect();
            // The id is a hash of the causes, so a message that is composed again after a restore has the same id.
            let hash = hex::encode(credentials::hash(&causes.join("\n")));
            let id = format!("alarm-{}", hash.get(..32).unwrap_or(&hash));
            let of_publisher = address::publisher(db)?;
            let body = words::body(&entries, of_publisher.as_deref(), now_ms, sites);
            db.execute(sql::ADD_MESSAGE, params![id, body, now_ms])?;
            for entry in &entries {
                let kind = u32::from(entry.kind.number());
                db.execute(sql::SET_TOLD, params![now_ms, kind, entry.subject.as_str()])?;
            }
            let groups: BTreeSet<_> = entries.iter().map(|entry| group(entry.kind, &entry.subject)).collect();
            groups.iter().try_for_each(|group| db.execute(sql::CHARGE, params![group.as_str(), now_ms, HOUR_MS]))
        })?;
    }
}

/// Returns when the next message must be composed or sent; `None` if nothing waits.
pub fn due_ms(db: &impl Database) -> DbResult<Option<i64>> {
    db.query_integer(sql::NEXT_DUE, &[])
}

/// Deletes causes whose last message is old, and groups whose next message need not wait.
pub fn sweep(db: &impl Database, now_ms: i64) -> DbResult {
    let late_ms = now_ms.saturating_sub(LATE_KEPT_MS);
    db.execute(sql::SWEEP_CAUSES, params![now_ms.saturating_sub(FORGET_MS), late_ms])?;
    db.execute(sql::SWEEP_GROUPS, params![now_ms])
}

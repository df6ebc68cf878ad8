//! What the operator does with callbacks: sends them again, lets an endpoint go on, sees how it is doing.

use serde::Deserialize;
use serde_json::json;

use super::{about, entries, log, sql};
use crate::{
    catalog::document::{Document, FieldError},
    origin::{
        command::{Failure, Reply},
        database::{Database, Row},
    },
    params,
    refusal::Refusal,
    time::SECOND_MS,
};

pub const NOTHING_TO_SEND: Refusal = Refusal::new(
    409,
    "nothing_to_send",
    "the conversion was not paid, so it has no callback",
);
pub const ERASED: Refusal = Refusal::new(
    409,
    "erased",
    "the user's identifiers are gone, so the callback cannot be sent again",
);

/// `POST …/conversions/{transaction_id}/replay`: the callback has a whole new schedule, its first try at once; that of a
/// reversal when its reward has ended.
pub fn replay(db: &impl Database, now_ms: i64, transaction_id: &str) -> Result<Reply, Failure> {
    let replayed = db.transaction(|| {
        let replayed = db.query(sql::REPLAY, params![now_ms, transaction_id])?;
        db.execute(sql::HOLD_REVERSALS, params![now_ms])?;
        Ok::<_, Failure>(replayed)
    })?;
    if replayed.is_empty() {
        // A 404 comes first.
        let shown = log::get(db, transaction_id)?;
        let has_callback = db
            .query_first(sql::GET_PAID, params![transaction_id])?
            .map_or(Ok(false), |row| {
                row.optional_integer(2).map(|found| found.is_some())
            })?;
        drop(shown);
        return Err(if has_callback { ERASED } else { NOTHING_TO_SEND }.into());
    }
    log::get(db, transaction_id)
}

/// Which callbacks to send again.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    /// UNIX seconds: conversions from then on.
    since: i64,
    /// UNIX seconds: conversions before then.
    #[serde(default)]
    until: Option<i64>,
    #[serde(default)]
    state: Ended,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ended {
    #[default]
    Dead,
    Delivered,
    Waiting,
}

impl Document for Range {
    fn check(&self) -> Result<(), FieldError> {
        const LATEST: i64 = 1 << 52;
        if !(0..=LATEST).contains(&self.since) {
            return Err(FieldError::new("since", "must be UNIX seconds"));
        }
        if self
            .until
            .is_some_and(|until| !(self.since..=LATEST).contains(&until))
        {
            return Err(FieldError::new(
                "until",
                "must be UNIX seconds, and not before since",
            ));
        }
        Ok(())
    }
}

/// `POST …/conversions/replay`.
pub fn replay_many(db: &impl Database, now_ms: i64, body: &str) -> Result<Reply, Failure> {
    let range = Range::from_json(body)?;
    let delivery = match range.state {
        Ended::Dead => entries::DEAD,
        Ended::Delivered => entries::DELIVERED,
        Ended::Waiting => entries::WAITING,
    };
    // The seconds of a conversion are whole, so the last one of "until now" is this one.
    let until = range
        .until
        .unwrap_or(now_ms.div_euclid(SECOND_MS).saturating_add(1));
    let count = db.query_first(sql::COUNT_TO_REPLAY, params![delivery, range.since, until])?;
    let count = count.map_or(Ok(0), |row| row.integer(0))?;
    db.transaction(|| {
        db.execute(sql::REPLAY_MANY, params![delivery, range.since, until, now_ms])?;
        db.execute(sql::HOLD_REVERSALS, params![now_ms])
    })?;
    Ok(Reply::ok(&json!({ "replayed": count })))
}

/// `POST …/callback/enable`.
pub fn enable(db: &impl Database, now_ms: i64, under_way_ms: i64) -> Result<Reply, Failure> {
    if about::read(db)?.is_some() {
        db.transaction(|| about::release(db, now_ms, under_way_ms))?;
    }
    status(db)
}

/// `GET …/callback`.
pub fn status(db: &impl Database) -> Result<Reply, Failure> {
    let about = about::read(db)?;
    let state = match &about {
        Some(about) if about.callback.sealed.is_none() => "none",
        None => "none",
        Some(about) if about.disabled_ms.is_some() => "disabled",
        Some(about) if about.health.is_failing() => "failing",
        Some(_) => "healthy",
    };
    let counts = db.query_first(sql::COUNT_STANDING, &[])?.unwrap_or(Row(vec![]));
    let next_try_ms = super::deliveries::due_ms(db)?;
    Ok(Reply::ok(&json!({
        "state": state,
        "consecutive_failures": about.map_or(0, |about| about.health.failures),
        "next_try_ts": next_try_ms.map(|ms| ms.div_euclid(SECOND_MS)),
        "waiting": counts.integer(0)?,
        "dead": counts.integer(1)?,
        "reserving": counts.integer(2)?,
    })))
}

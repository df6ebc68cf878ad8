//! Callbacks on their way: claimed, tried, concluded. What an answer means is `callbacks::delivery`'s; here it is
//! written down. A claim puts its callback off by more than a try can take, so that a try whose process has died is
//! made again.

use super::{
    endpoint::{self, OutboxState},
    entries, sql,
};
use domain::{
    callbacks::{
        delivery::{Judgement, Next},
        fields::Fields,
    },
    model::time::MINUTE_MS,
};
use platform::{
    database::{Database, DatabaseError, json},
    http_call::HttpCall,
    params,
};

/// A callback that is to be tried now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    pub entry: i64,
    /// Tries made before, of the present schedule.
    pub tries: u32,
    pub fields: Fields,
    /// Of the callback's settings that it is made with.
    pub revision: i64,
}

/// How a try went, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When it began, in milliseconds.
    pub at_ms: i64,
    pub took_ms: i64,
    pub http_status: Option<u16>,
    /// The beginning of the answer.
    pub body: String,
    /// Why there was no answer.
    pub error: Option<String>,
}

impl Attempt {
    pub fn of(call: &HttpCall) -> Self {
        let (http_status, body, error) = match &call.outcome {
            Ok(answer) => (Some(answer.status), answer.body.clone(), None),
            Err(no_answer) => (None, String::new(), Some(no_answer.message.clone())),
        };
        Self {
            at_ms: call.at_ms,
            took_ms: call.took_ms,
            http_status,
            body,
            error,
        }
    }
}

/// How long a callback is left alone that this code cannot read, in milliseconds.
const UNREADABLE_MS: i64 = 5 * MINUTE_MS;

/// Takes the callbacks that are due, the longest waiting first, at most so many. One that does not read, because newer
/// code has written it, is logged and keeps no other from being sent.
///
/// # Errors
/// What the database says.
pub fn claim(
    db: &impl Database,
    now_ms: i64,
    most: usize,
    under_way_ms: i64,
) -> Result<Vec<Try>, DatabaseError> {
    if most == 0 {
        return Ok(Vec::new());
    }
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let (mut tries, mut claimed, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
    for row in db.query(sql::DUE, params![now_ms, most])? {
        let entry = row.integer(0)?;
        match entries::parse(&row, 2) {
            Ok(fields) => {
                claimed.push(entry);
                tries.push(Try {
                    entry,
                    tries: u32::try_from(row.integer(1)?).unwrap_or(u32::MAX),
                    fields,
                    revision: row.integer(3)?,
                });
            }
            Err(error) => {
                unreadable.push(entry);
                let error = error.to_string();
                db.execute(
                    sql::ADD_ATTEMPT,
                    params![entry, now_ms, 0_i64, None::<i64>, "", error],
                )?;
            }
        }
    }
    for (entries, put_off_ms) in [(claimed, under_way_ms), (unreadable, UNREADABLE_MS)] {
        if !entries.is_empty() {
            let until_ms = now_ms.saturating_add(put_off_ms);
            db.execute(sql::CLAIM, params![until_ms, json(&entries)?])?;
        }
    }
    Ok(tries)
}

/// Writes down how a try went and what follows from it.
///
/// # Errors
/// What the database says; the callback is then tried again.
pub fn conclude(
    db: &impl Database,
    now_ms: i64,
    tried: &Try,
    attempt: &Attempt,
    judgement: &Judgement,
) -> Result<(), DatabaseError> {
    let (delivery, due_ms) = match judgement.next {
        Next::Delivered => (entries::DELIVERED, now_ms),
        Next::At(due_ms) => (entries::WAITING, due_ms),
        Next::Kept => (entries::WAITING, now_ms),
        Next::Dead => (entries::DEAD, now_ms),
    };
    db.transaction(|| {
        db.execute(
            sql::ADD_ATTEMPT,
            params![
                tried.entry,
                attempt.at_ms,
                attempt.took_ms,
                attempt.http_status.map(u32::from),
                attempt.body.as_str(),
                attempt.error.as_deref()
            ],
        )?;
        let concluded = db.query(
            sql::CONCLUDE,
            params![
                delivery,
                due_ms,
                tried.tries.saturating_add(1),
                tried.entry,
                tried.tries
            ],
        )?;
        if delivery != entries::WAITING && !concluded.is_empty() {
            db.execute(sql::RELEASE_REVERSAL, params![now_ms, tried.entry])?;
            super::retention::ended(db, tried.entry)?;
        }
        note_health(db, now_ms, tried, judgement)
    })
}

/// How the endpoint is doing now; what one says that was replaced while it was tried is not said of the new one.
fn note_health(
    db: &impl Database,
    now_ms: i64,
    tried: &Try,
    judgement: &Judgement,
) -> Result<(), DatabaseError> {
    let about = endpoint::read(db)?.filter(|about| about.callback.revision == tried.revision);
    let Some(OutboxState {
        health, disabled_ms, ..
    }) = about
    else {
        return Ok(());
    };
    let noted = if judgement.endpoint_works {
        health.succeeded()
    } else {
        health.failed(now_ms)
    };
    let disabled = disabled_ms.or(judgement.disables.then_some(now_ms));
    if (noted, disabled) == (health, disabled_ms) {
        return Ok(());
    }
    endpoint::set_health(db, noted, disabled)
}

/// When the next try is due; none if nothing waits, or nothing may go out.
///
/// # Errors
/// What the database says.
pub fn due_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
    let Some(about) = endpoint::read(db)?.filter(OutboxState::has_endpoint) else {
        return Ok(None);
    };
    let first = db.query_first(sql::FIRST_DUE, &[])?;
    let first = first.map_or(Ok(None), |row| row.optional_integer(0))?;
    Ok(first.map(|due_ms| due_ms.max(about.health.opens_ms().unwrap_or(i64::MIN))))
}

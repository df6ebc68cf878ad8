//! Claims due callbacks and records the results of their attempts. `domain::callbacks::delivery` interprets the
//! responses. A claim lasts longer than any attempt, so an attempt whose process has died is retried when the claim
//! ends.

use crate::objects::outbox::{
    endpoint::{self, OutboxState},
    erasure,
    log::entries,
    sql,
};
use domain::{
    callbacks::{
        delivery::{Judgement, Next},
        fields::Fields,
        health::Health,
        settings::Events,
    },
    conversions::log_number::first_number,
    model::{DAY_MS, MINUTE_MS},
};
use platform::{Database, DatabaseError, DbResult, Row, Value, database::json, http_call::HttpCall, params};

/// A claimed callback, to be attempted now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedCallback {
    pub entry: i64,
    /// Earlier attempts in the current schedule.
    pub attempts_made: u32,
    pub fields: Fields,
    /// The revision of the callback settings in use.
    pub revision: i64,
    /// When the endpoint was last enabled again, in milliseconds.
    pub enabled_ms: i64,
}

/// The delay before a callback that this code could not parse is tried again, in milliseconds.
const UNREADABLE_MS: i64 = 5 * MINUTE_MS;

/// The due callbacks that were claimed, and the entries of callbacks that ended without an attempt.
#[derive(Debug, Default)]
pub struct Claimed {
    pub callbacks: Vec<ClaimedCallback>,
    /// Callbacks that the publisher does not want, and notices of conversions that are no longer pending.
    pub skipped: Vec<i64>,
}

impl Claimed {
    pub fn append(&mut self, mut more: Self) {
        self.callbacks.append(&mut more.callbacks);
        self.skipped.append(&mut more.skipped);
    }
}

/// Maximum callbacks that one call ends, holds back or puts off. They take about 50 ms, during which the object answers
/// no other request. The alarm and later calls continue.
const PUT_ASIDE: usize = 500;

/// Claims at most `most` due callbacks for `claim_ms`, the longest due first, and ends callbacks that the publisher
/// does not want. A reversal whose reward's callback waits is held back until that callback ends: the reward may have
/// been replayed while the reversal waited for its next attempt.
///
/// # Errors
/// The database failed. Earlier writes are kept.
pub fn claim(db: &impl Database, now_ms: i64, most: usize, claim_ms: i64, events: Events) -> DbResult<Claimed> {
    let mut claimed = Claimed::default();
    let mut put_aside = 0_usize;
    loop {
        let free = most.saturating_sub(claimed.callbacks.len());
        if free == 0 || put_aside >= PUT_ASIDE {
            return Ok(claimed);
        }
        let due = db.query(sql::DUE, params![now_ms, free])?;
        let page = take(db, now_ms, &due, (claim_ms, claim_ms), events)?;
        let without_attempt = due.len().saturating_sub(page.callbacks.len());
        claimed.append(page);
        if without_attempt == 0 {
            return Ok(claimed);
        }
        put_aside = put_aside.saturating_add(without_attempt);
    }
}

/// Takes up callbacks that were claimed by the commit of their entries. If less than `attempt_ms` of a claim is left,
/// the claim is renewed for `claim_ms`.
///
/// # Errors
/// The database failed. Earlier writes are kept.
pub fn take_up(
    db: &impl Database,
    now_ms: i64,
    entries: &[i64],
    (attempt_ms, claim_ms): (i64, i64),
    events: Events,
) -> DbResult<Claimed> {
    let rows = db.query(sql::CLAIMED_AHEAD, params![json(&entries)?])?;
    take(db, now_ms, &rows, (attempt_ms, claim_ms), events)
}

/// Claims callbacks for `claim_ms`, unless at least `attempt_ms` of a claim is left, ends callbacks that the publisher
/// does not want, and holds back reversals whose rewards wait. If this code cannot parse a callback, because newer code
/// wrote it, the error is stored as an attempt and the callback is put off, so that it does not block the others.
fn take(
    db: &impl Database,
    now_ms: i64,
    rows: &[Row],
    (attempt_ms, claim_ms): (i64, i64),
    events: Events,
) -> DbResult<Claimed> {
    let (mut callbacks, mut unclaimed, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
    let (mut skipped, mut held) = (Vec::new(), Vec::new());
    let least_ms = now_ms.saturating_add(attempt_ms);
    for row in rows {
        let entry = row.integer(0)?;
        let read = || {
            Ok::<_, DatabaseError>(ClaimedCallback {
                entry,
                attempts_made: row.number(1)?,
                fields: row.json(2)?,
                revision: row.integer(3)?,
                enabled_ms: row.integer(4)?,
            })
        };
        match read() {
            Ok(callback) if row.boolean(5)? || !events.contains(callback.fields.status) => {
                db.transaction(|| {
                    db.execute(sql::SKIP, params![entry])?;
                    ended(db, now_ms, entry)
                })?;
                skipped.push(entry);
            }
            Ok(_) if row.boolean(7)? => held.push(entry),
            Ok(callback) => {
                if row.integer(6)? < least_ms {
                    unclaimed.push(entry);
                }
                callbacks.push(callback);
            }
            Err(error) => {
                unreadable.push(entry);
                let error = error.to_string();
                db.execute(sql::ADD_ATTEMPT, params![entry, now_ms, 0_i64, None::<i64>, "", error])?;
            }
        }
    }
    for (entries, put_off_ms) in [(unclaimed, claim_ms), (unreadable, UNREADABLE_MS)] {
        if !entries.is_empty() {
            let until_ms = now_ms.saturating_add(put_off_ms);
            db.execute(sql::CLAIM, params![until_ms, json(&entries)?])?;
        }
    }
    if !held.is_empty() {
        db.execute(sql::HOLD_REVERSALS, params![json(&held)?])?;
    }
    Ok(Claimed { callbacks, skipped })
}

/// Does the work that waited for the end of a callback, within the caller's transaction: the reward's reversal becomes
/// due, and the user is erased if that was requested.
fn ended(db: &impl Database, now_ms: i64, entry: i64) -> DbResult {
    db.execute(sql::RELEASE_REVERSAL, params![now_ms, entry])?;
    erasure::erase_if_marked(db, entry)
}

/// Records an attempt and its consequences. If the database fails, the callback is attempted again at the end of its
/// claim.
pub fn conclude(
    db: &impl Database,
    now_ms: i64,
    callback: &ClaimedCallback,
    call: &HttpCall,
    judgement: &Judgement,
) -> DbResult {
    let (delivery, due_ms) = match judgement.next {
        Next::Delivered => (entries::DELIVERED, now_ms),
        Next::At(due_ms) => (entries::WAITING, due_ms),
        Next::Kept => (entries::WAITING, now_ms),
        Next::Dead => (entries::DEAD, now_ms),
    };
    let (http_status, body, error) = match &call.outcome {
        Ok(answer) => (Some(answer.status), answer.body.as_str(), None),
        Err(no_answer) => (None, "", Some(no_answer.message.as_str())),
    };
    let values: &[Value] = params![call.at_ms, call.took_ms, http_status, body, error];
    let conclusion: &[Value] =
        params![delivery, due_ms, callback.attempts_made.saturating_add(1), callback.entry, callback.attempts_made];
    let young = first_number(now_ms.saturating_sub(DAY_MS));
    db.transaction(|| {
        let first = [conclusion, values, &[young.into()]].concat();
        let mut concluded = db.query(sql::CONCLUDE_FIRST, &first)?;
        if concluded.is_empty() {
            db.execute(sql::ADD_ATTEMPT, &[&[callback.entry.into()], values].concat())?;
            concluded = db.query(sql::CONCLUDE, conclusion)?;
        }
        if delivery != entries::WAITING && !concluded.is_empty() {
            ended(db, now_ms, callback.entry)?;
        }
        record_health(db, now_ms, callback, judgement)
    })
}

/// Updates the endpoint's health. If the endpoint was replaced or enabled again during the attempt, the result is
/// ignored.
fn record_health(db: &impl Database, now_ms: i64, callback: &ClaimedCallback, judgement: &Judgement) -> DbResult {
    let attempted = (callback.revision, callback.enabled_ms);
    let state = endpoint::read(db)?.filter(|state| (state.callback.revision, state.enabled_ms) == attempted);
    let Some(OutboxState { health, disabled_ms, .. }) = state else {
        return Ok(());
    };
    let updated = if judgement.endpoint_works { Health::default() } else { health.failed(now_ms) };
    let disabled = disabled_ms.or(judgement.disables.then_some(now_ms));
    if (updated, disabled) == (health, disabled_ms) {
        return Ok(());
    }
    endpoint::set_health(db, updated, disabled)
}

/// Returns when the next attempt is due; `None` if no callback waits, or if none may be sent. An outbox that must first
/// ask for newer settings asks at this time.
pub fn due_ms(db: &impl Database, state: Option<&OutboxState>) -> DbResult<Option<i64>> {
    let Some(state) = state.filter(|state| state.has_endpoint() || state.is_behind()) else {
        return Ok(None);
    };
    let first = db.query_integer(sql::FIRST_DUE, &[])?;
    Ok(first.map(|due_ms| due_ms.max(state.health.opens_ms().unwrap_or(i64::MIN))))
}

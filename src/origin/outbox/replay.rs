//! The operator's commands for callbacks: replay, enable a disabled endpoint, and show its health.

use serde::Deserialize;
use serde_json::json;

use super::{endpoint, entries, log, sql};
use contract::{
    operation::Reply,
    outbox::{ReplayMany, Replayed},
};
use domain::model::{
    api_error::ApiError,
    document::{Document, FieldError},
    time::{LATEST_S, SECOND_MS},
};
use platform::{
    database::{Database, Row, json as as_json},
    failure::Failure,
    params,
};

pub const NOTHING_TO_SEND: ApiError = ApiError::new(
    409,
    "nothing_to_send",
    "the conversion was not paid, so it has no callback",
);
pub const ERASED: ApiError = ApiError::new(
    409,
    "erased",
    "the user's identifiers are gone, so the callback cannot be sent again",
);

/// `POST …/conversions/{transaction_id}/replay`: restarts the callback's schedule, with an attempt at once, or for a
/// reversal when its reward's callback has ended. The reversal of a replayed reward is replayed after it. An attempt in
/// flight is left to finish, or the callback would be sent twice at once.
pub fn replay(
    db: &impl Database,
    now_ms: i64,
    transaction_id: &str,
    claim_ms: i64,
) -> Result<Reply, Failure> {
    let claimed_until_ms = now_ms.saturating_add(claim_ms);
    let replayed = db.transaction(|| {
        let replayed = db.query_first(sql::REPLAY, params![now_ms, transaction_id, claimed_until_ms])?;
        if let Some(replayed) = &replayed {
            let entry = replayed.integer(0)?;
            db.execute(sql::REPLAY_REVERSALS, params![now_ms, entry - 1, entry])?;
        }
        db.execute(sql::HOLD_REVERSALS, params![now_ms])?;
        Ok::<_, Failure>(replayed)
    })?;
    let shown = log::get(db, transaction_id)?;
    if replayed.is_none() {
        let found = db.query_first(sql::GET_PAID, params![transaction_id])?;
        let delivery = found.map_or(Ok(None), |row| row.optional_integer(2))?;
        return Err(delivery.map_or(NOTHING_TO_SEND, |_| ERASED).into());
    }
    Ok(shown)
}

/// The operator's selection of callbacks to replay.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    /// UNIX seconds, inclusive.
    since: i64,
    /// UNIX seconds, exclusive.
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
        // Milliseconds, sent by mistake, would match nothing and look like a success.
        if !(0..=LATEST_S).contains(&self.since) {
            return Err(FieldError::new("since", "must be UNIX seconds"));
        }
        if self
            .until
            .is_some_and(|until| !(self.since..=LATEST_S).contains(&until))
        {
            return Err(FieldError::new(
                "until",
                "must be UNIX seconds, and not before since",
            ));
        }
        Ok(())
    }
}

/// Entries that one step of a replay examines: about 100 ms if all are replayed, in which nothing else is answered.
pub const STEP: i64 = 20_000;

/// `POST …/conversions/replay`, in steps, between which the outbox answers other requests. `ask` sends one step's
/// command. An answer that is not a step's result is returned as it is.
///
/// # Errors
/// The error of `ask`; earlier steps have been carried out.
pub async fn replay_in_steps<E>(
    body: &str,
    ask: impl AsyncFn(ReplayMany) -> Result<Reply, E>,
) -> Result<Reply, E> {
    let (mut after, mut until, mut replayed) = (0, None, 0_i64);
    loop {
        let body = body.to_owned();
        let reply = ask(ReplayMany { body, after, until }).await?;
        let step = serde_json::from_str::<Replayed>(&reply.body);
        let Some(step) = step.ok().filter(|_| reply.status == 200) else {
            return Ok(reply);
        };
        replayed = replayed.saturating_add(step.replayed);
        let Some(next) = step.next else {
            return Ok(Reply::ok(&json!({ "replayed": replayed })));
        };
        (after, until) = (next, Some(step.until));
    }
}

/// One step of `POST …/conversions/replay`, for the entries after `after`. Without an `until` in the request, the first
/// step's time is used; its answer passes it to the later steps, so that conversions that arrive meanwhile are not sent
/// twice.
pub fn replay_many(
    db: &impl Database,
    now_ms: i64,
    body: &str,
    after: i64,
    until: Option<i64>,
    claim_ms: i64,
) -> Result<Reply, Failure> {
    let range = Range::from_json(body)?;
    let delivery = match range.state {
        Ended::Dead => entries::DEAD,
        Ended::Delivered => entries::DELIVERED,
        Ended::Waiting => entries::WAITING,
    };
    // Conversion times are whole seconds, so "until now" includes the current second.
    let until = range
        .until
        .or(until)
        .unwrap_or(now_ms.div_euclid(SECOND_MS).saturating_add(1));
    let last = after.saturating_add(STEP);
    let replayed = db.query_integer(
        sql::COUNT_TO_REPLAY,
        params![delivery, range.since, until, after, last],
    )?;
    let replayed = replayed.unwrap_or(0);
    if replayed > 0 {
        db.transaction(|| {
            db.execute(
                sql::REPLAY_MANY,
                params![
                    delivery,
                    range.since,
                    until,
                    after,
                    last,
                    now_ms,
                    now_ms.saturating_add(claim_ms)
                ],
            )?;
            db.execute(sql::REPLAY_REVERSALS, params![now_ms, after, last])?;
            db.execute(sql::HOLD_REVERSALS, params![now_ms])
        })?;
    }
    let step = Replayed {
        replayed,
        next: (last < log::last_entry(db)?).then_some(last),
        until,
    };
    Ok(Reply {
        status: 200,
        body: as_json(&step)?,
    })
}

/// `POST …/callback/enable`.
pub fn enable(db: &impl Database, now_ms: i64, claim_ms: i64) -> Result<Reply, Failure> {
    if endpoint::read(db)?.is_some() {
        db.transaction(|| endpoint::release(db, now_ms, claim_ms))?;
    }
    status(db)
}

/// `GET …/callback`.
pub fn status(db: &impl Database) -> Result<Reply, Failure> {
    let outbox = endpoint::read(db)?;
    let state = match &outbox {
        None => "none",
        Some(outbox) if !outbox.has_callback() => "none",
        Some(outbox) if outbox.disabled_ms.is_some() => "disabled",
        Some(outbox) if outbox.health.is_failing() => "failing",
        Some(_) => "healthy",
    };
    let counts = db.query_first(sql::COUNT_STANDING, &[])?.unwrap_or(Row(vec![]));
    let next_try_ms = super::deliveries::due_ms(db)?;
    Ok(Reply::ok(&json!({
        "state": state,
        "consecutive_failures": outbox.map_or(0, |outbox| outbox.health.failures),
        "next_try_ts": next_try_ms.map(|ms| ms.div_euclid(SECOND_MS)),
        "waiting": counts.integer(0)?,
        "dead": counts.integer(1)?,
        "reserving": counts.integer(2)?,
    })))
}

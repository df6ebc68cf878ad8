//! The operator's commands for callbacks: replay, enable a disabled endpoint, and show its health.

use serde::Deserialize;

use crate::objects::outbox::{
    endpoint::{self, OutboxState},
    log::{self, entries},
    sql,
};
use contract::{
    operation::Reply,
    outbox::{EndpointState, ReplayMany, Replayed, Standing},
};
use domain::model::{
    api_error::ApiError,
    document::{Document, FieldError},
    time::{LATEST_S, SECOND_MS},
};
use platform::{
    database::{Database, DatabaseError, MAX_INTEGER, Row},
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
            db.execute(
                sql::REPLAY_REVERSALS,
                params![now_ms, entry - 1, entry, 0_i64, 0_i64],
            )?;
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
    state: ReplayedDelivery,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ReplayedDelivery {
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

/// Refuses a selection that no outbox would take.
pub fn check_selection(body: &str) -> Result<(), ApiError> {
    Range::from_json(body).map(drop)
}

/// `POST …/conversions/replay` in one outbox, in steps, between which it answers other requests. `ask` sends one step's
/// command. Returns the last step with the sum of all.
///
/// # Errors
/// The error of `ask`; earlier steps have been carried out.
pub async fn replay_in_steps<E>(
    body: &str,
    mut until: Option<i64>,
    ask: impl AsyncFn(ReplayMany) -> Result<Replayed, E>,
) -> Result<Replayed, E> {
    let (mut after, mut replayed) = (0, 0_i64);
    loop {
        let body = body.to_owned();
        let step = ask(ReplayMany { body, after, until }).await?;
        replayed = replayed.saturating_add(step.replayed);
        let Some(next) = step.next else {
            return Ok(Replayed { replayed, ..step });
        };
        (after, until) = (next, Some(step.until));
    }
}

/// One step of `POST …/conversions/replay`, for the next `step` entries after `after`. Without an `until` in the
/// request, the first step's time is used; its answer passes it to the later steps, so that conversions that arrive
/// meanwhile are not sent twice.
pub fn replay_many(
    db: &impl Database,
    now_ms: i64,
    body: &str,
    after: i64,
    until: Option<i64>,
    claim_ms: i64,
    step: i64,
) -> Result<Replayed, Failure> {
    let range = Range::from_json(body)?;
    // Conversion times are whole seconds, so "until now" includes the current second.
    let until = range
        .until
        .or(until)
        .unwrap_or(now_ms.div_euclid(SECOND_MS).saturating_add(1));
    let (matching, next) = Matching::step(db, range.state, range.since, until, after, step)?;
    let replayed = matching.count(db)?;
    if replayed > 0 {
        matching.replay(db, now_ms, claim_ms)?;
    }
    Ok(Replayed {
        replayed,
        next,
        until,
    })
}

/// The callbacks of a range of entries that a replay sends again.
struct Matching {
    delivery: i64,
    since: i64,
    until: i64,
    after: i64,
    last: i64,
}

impl Matching {
    /// The next `step` entries after `after`, and the last of them if there are more.
    fn step(
        db: &impl Database,
        delivery: ReplayedDelivery,
        since: i64,
        until: i64,
        after: i64,
        step: i64,
    ) -> Result<(Self, Option<i64>), DatabaseError> {
        let end = db.query_integer(sql::ENTRY_AFTER, params![after, step])?;
        let matching = Self {
            delivery: match delivery {
                ReplayedDelivery::Dead => entries::DEAD,
                ReplayedDelivery::Delivered => entries::DELIVERED,
                ReplayedDelivery::Waiting => entries::WAITING,
            },
            since,
            until,
            after,
            last: end.unwrap_or(MAX_INTEGER).saturating_sub(1),
        };
        let next = end.map(|_| matching.last);
        Ok((matching, next))
    }

    fn count(&self, db: &impl Database) -> Result<i64, DatabaseError> {
        let count = db.query_integer(
            sql::COUNT_TO_REPLAY,
            params![self.delivery, self.since, self.until, self.after, self.last],
        )?;
        Ok(count.unwrap_or(0))
    }

    fn replay(&self, db: &impl Database, now_ms: i64, claim_ms: i64) -> Result<(), DatabaseError> {
        let Self {
            delivery,
            since,
            until,
            after,
            last,
        } = *self;
        let claimed_until_ms = now_ms.saturating_add(claim_ms);
        // A delivered reversal that the replay selects itself is left to its own step. If it was replayed with its reward, it
        // might be delivered again before that step, which would replay it a second time.
        let (left_since, left_until) = match delivery {
            entries::DELIVERED => (since, until),
            _ => (0, 0),
        };
        db.transaction(|| {
            db.execute(
                sql::REPLAY_MANY,
                params![delivery, since, until, after, last, now_ms, claimed_until_ms],
            )?;
            db.execute(
                sql::REPLAY_REVERSALS,
                params![now_ms, after, last, left_since, left_until],
            )?;
            db.execute(sql::HOLD_REVERSALS, params![now_ms])
        })
    }
}

/// `POST …/callback/enable`.
pub fn enable(db: &impl Database, now_ms: i64, claim_ms: i64, at_ms: i64) -> Result<Standing, Failure> {
    if endpoint::read(db)?.is_some() {
        db.transaction(|| endpoint::enable(db, now_ms, claim_ms, at_ms))?;
    }
    Ok(standing(db)?)
}

/// `GET …/callback`.
pub fn standing(db: &impl Database) -> Result<Standing, DatabaseError> {
    let outbox = endpoint::read(db)?;
    let state = outbox
        .as_ref()
        .map_or(EndpointState::None, OutboxState::endpoint_state);
    let counts = db.query_first(sql::COUNT_STANDING, &[])?.unwrap_or(Row(vec![]));
    let next_try_ms = super::deliveries::due_ms(db, outbox.as_ref())?;
    Ok(Standing {
        state,
        consecutive_failures: outbox.map_or(0, |outbox| outbox.health.failures),
        next_try_ts: next_try_ms.map(|ms| ms.div_euclid(SECOND_MS)),
        waiting: counts.integer(0)?,
        dead: counts.integer(1)?,
        reserving: counts.integer(2)?,
    })
}

//! The operator's commands for callbacks: replay, enable a disabled endpoint, and show its health.

use super::bulk_replay;
use crate::objects::outbox::{
    endpoint::{self, OutboxState},
    log, sql,
};
use contract::{
    operation::OperatorReply,
    outbox::{EndpointState, Standing},
};
use domain::model::{ApiError, SECOND_MS};
use platform::{Database, DbResult, Result, Row, params};

pub const NOTHING_TO_SEND: ApiError =
    ApiError::new(409, "nothing_to_send", "the conversion was not paid, so it has no callback");
pub const ERASED: ApiError =
    ApiError::new(409, "erased", "the user's identifiers are erased, so the callback cannot be sent again");

/// Answers `POST …/conversions/{transaction_id}/replay`: restarts the callback's schedule with an attempt at once. The
/// attempt of a reversal waits until the callback of its reward has ended. If a reward is replayed, its reversal is
/// replayed after the reward. An attempt in flight may finish first, because otherwise two attempts would run at once.
pub fn replay(db: &impl Database, now_ms: i64, transaction_id: &str, claim_ms: i64) -> Result<OperatorReply> {
    let is_replayed = bulk_replay::one(db, now_ms, transaction_id, claim_ms)?;
    let shown = log::get(db, transaction_id)?;
    if !is_replayed {
        let found = db.query_first(sql::GET_PAID, params![transaction_id])?;
        let delivery = found.map_or(Ok(None), |row| row.optional_integer(2))?;
        return Err(delivery.map_or(NOTHING_TO_SEND, |_| ERASED).into());
    }
    Ok(shown)
}

/// Carries out `POST …/callback/enable`.
pub fn enable(db: &impl Database, now_ms: i64, claim_ms: i64, at_ms: i64) -> Result<Standing> {
    if endpoint::read(db)?.is_some() {
        db.transaction(|| endpoint::enable(db, now_ms, claim_ms, at_ms))?;
    }
    Ok(standing(db)?)
}

/// Returns this outbox's part of the answer to `GET …/callback`.
pub fn standing(db: &impl Database) -> DbResult<Standing> {
    let outbox = endpoint::read(db)?;
    let state = outbox.as_ref().map_or(EndpointState::None, OutboxState::endpoint_state);
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

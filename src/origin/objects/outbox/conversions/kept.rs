//! Postbacks whose terms the catalog has lost. Nothing else was promised, so nothing is paid; the sender is told to repeat, and
//! the postback is kept here and decided once the terms are back. The operator is told which terms are missing.

use contract::{catalog::LOST_TERMS, outbox::Conversion};
use domain::{
    conversions::table::Event,
    model::api_error::{ApiError, common},
};
use platform::{
    database::{Database, DatabaseError, json},
    failure::Failure,
    params,
};

use crate::{
    delivery::backoff::{FIRST_WAIT_MS, wait_ms},
    objects::outbox::sql,
};

/// Postbacks that one alarm decides at most.
const PAGE: usize = 60;

/// Keeps a postback whose terms are lost, and returns the refusal for its sender. `refusal` names the terms. Another failure, and
/// that of an action, is returned as it is.
pub fn keep(
    db: &impl Database,
    now_ms: i64,
    conversion: &Conversion,
    failure: Failure,
) -> Result<Failure, DatabaseError> {
    let Failure::Refused(refusal) = &failure else {
        return Ok(failure);
    };
    if refusal.code != LOST_TERMS.code {
        return Ok(failure);
    }
    let Event::Postback(status) = conversion.event else {
        return Ok(unavailable("the terms of its click are lost").into());
    };
    db.execute(
        sql::KEEP_POSTBACK,
        params![
            conversion.nonce.0.clone(),
            conversion.goal.as_deref().unwrap_or_default(),
            status.as_str(),
            &*conversion.click.user_id,
            refusal.message.as_ref(),
            now_ms,
            now_ms.saturating_add(FIRST_WAIT_MS),
            json(conversion)?
        ],
    )?;
    Ok(
        unavailable("the terms of the click are not at hand; the postback is kept, and may be repeated")
            .into(),
    )
}

fn unavailable(message: &'static str) -> ApiError {
    common::UNAVAILABLE.with_message(message)
}

/// A kept postback.
pub struct KeptPostback {
    pub number: i64,
    pub conversion: Conversion,
}

/// The kept postbacks that are due, in the order in which they came. Each is due again later, unless it is [decided](drop_one).
pub fn due(db: &impl Database, now_ms: i64) -> Result<Vec<KeptPostback>, DatabaseError> {
    let rows = db.query(sql::DUE_KEPT, params![now_ms, PAGE])?;
    let mut due = Vec::new();
    for row in &rows {
        let (number, attempts) = (row.integer(0)?, row.number::<u32>(1)?);
        let due_ms = now_ms.saturating_add(wait_ms(attempts));
        db.execute(sql::PUT_KEPT_OFF, params![due_ms, number])?;
        due.push(KeptPostback {
            number,
            conversion: row.json(2)?,
        });
    }
    Ok(due)
}

/// Whether an outcome decides a postback. An error that will pass does not.
pub fn decides<T>(outcome: &Result<T, Failure>) -> bool {
    match outcome {
        Ok(_) => true,
        Err(Failure::Refused(refusal)) => refusal.status < 500,
        Err(Failure::Internal(_)) => false,
    }
}

/// Ends the keeping of a postback that was decided.
pub fn drop_one(db: &impl Database, number: i64) -> Result<(), DatabaseError> {
    db.execute(sql::DROP_KEPT, params![number])
}

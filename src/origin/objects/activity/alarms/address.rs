//! The URL to which alarms are sent. It is checked like a callback's URL, stored sealed, and shown masked. A publisher's
//! must be on port 443.

use serde_json::json;

use super::{
    lasting::{Address, end},
    sql,
};
use crate::delivery::{callback_sender::CallbackSender, register};
use contract::{
    alarms::SetAlarmAddress,
    operation::{Bytes, OperatorReply},
};
use domain::{
    callbacks::{
        masked_url::masked,
        request::Endpoint,
        settings::{Callback, CallbackMethod},
        signature::Secret,
    },
    model::{ApiError, FieldError, SECOND_MS},
};
use platform::{
    Database, DatabaseError, DbResult, Failure, Result, database::json as as_json, log, params, traits::Random,
};

pub const NO_ADDRESS: ApiError = ApiError::new(409, "no_address", "no address for alarms is set");
/// The prefix of the purpose for which the settings are sealed. The owner follows.
const PURPOSE: &str = "alarms of ";

fn purpose(publisher: Option<&str>) -> String {
    format!("{PURPOSE}{}", publisher.unwrap_or("the operator"))
}

pub fn is_set(db: &impl Database) -> DbResult<bool> {
    Ok(db.query_first(sql::GET_ADDRESS, &[])?.is_some())
}

/// Returns the publisher that receives the alarms; `None` for the operator's alarms, or if no address is set.
pub fn publisher(db: &impl Database) -> DbResult<Option<String>> {
    let row = db.query_first(sql::GET_ADDRESS, &[])?;
    row.map_or(Ok(None), |row| Ok(row.optional_text(0)?.map(str::to_owned)))
}

/// Carries out [`SetAlarmAddress`]. The secret of a new address is shown only in this answer.
///
/// # Errors
/// `invalid_field`: the URL is invalid or may not be called.
pub fn set(
    db: &impl Database,
    now_ms: i64,
    sender: &CallbackSender,
    runtime: &impl Random,
    set: &SetAlarmAddress,
) -> Result<OperatorReply> {
    let publisher = set.publisher.as_ref().map(|publisher| publisher.as_str());
    let lasting = |sealed: Option<&[u8]>| Address {
        publisher: publisher.map(str::to_owned),
        sealed: sealed.map(|sealed| Bytes(sealed.to_vec())),
    };
    let Some(url) = &set.url else {
        db.transaction(|| {
            end(db)?;
            register::add(db, now_ms, &lasting(None))
        })?;
        return Ok(OperatorReply::no_content());
    };
    let wrong = |problem: String| Failure::from(ApiError::from(FieldError::new("url", problem)));
    let checked = match publisher {
        Some(_) => sender.guard.check_default_port(url),
        None => sender.guard.check(url).map(drop),
    };
    checked.map_err(wrong)?;
    let settings = Callback {
        url: url.clone(),
        method: CallbackMethod::Post,
        secret: Secret::text(runtime.random().map_err(Failure::Internal)?),
        previous_secret: None,
        legacy_md5: None,
        events: None,
    };
    Endpoint::parse(&settings).map_err(|error| wrong(error.problem))?;
    let plain = as_json(&settings)?;
    let sealed = sender.seal(&purpose(publisher), plain.as_bytes(), runtime)?;
    db.transaction(|| {
        register::add(db, now_ms, &lasting(Some(&sealed)))?;
        db.execute(sql::SET_ADDRESS, params![publisher, sealed, now_ms])?;
        db.execute(sql::SEND_NOW, params![now_ms])
    })?;
    Ok(OperatorReply::ok(&json!({ "secret": settings.secret })))
}

/// Returns the endpoint of the address; `None` if no address is set.
///
/// # Errors
/// None of `STORE_KEYS` decrypts the settings.
pub fn endpoint(db: &impl Database, sender: &CallbackSender) -> Result<Option<Endpoint>> {
    let row = db.query_first(sql::GET_ADDRESS, &[])?;
    row.map(|row| sender.open(&purpose(row.optional_text(0)?), row.blob(1)?)).transpose()
}

/// Encrypts the settings again if they are under an old key of `STORE_KEYS`.
pub fn reseal(db: &impl Database, sender: &CallbackSender, runtime: &impl Random) -> Result {
    let Some(row) = db.query_first(sql::GET_ADDRESS, &[])? else {
        return Ok(());
    };
    let purpose = purpose(row.optional_text(0)?);
    match sender.reseal(&purpose, row.blob(1)?, runtime)? {
        Some(sealed) => Ok(db.execute(sql::RESEAL_ADDRESS, params![sealed])?),
        None => Ok(()),
    }
}

/// Returns when the address was set; `None` if no address is set.
pub fn set_ms(db: &impl Database) -> DbResult<Option<i64>> {
    db.read_first(sql::GET_ADDRESS, &[], |row| row.integer(2))
}

/// Carries out [`ReadAlarmAddress`](contract::alarms::ReadAlarmAddress).
pub fn read(db: &impl Database, sender: &CallbackSender) -> Result<OperatorReply> {
    let Some(row) = db.query_first(sql::GET_ADDRESS, &[])? else {
        return Ok(OperatorReply::ok(&json!({ "address": null })));
    };
    // If no key decrypts the settings, the answer has no URL.
    let url =
        sender.open(&purpose(row.optional_text(0)?), row.blob(1)?).inspect_err(|failure| log::error("alarms", failure));
    let seconds = |ms: i64| ms.div_euclid(SECOND_MS);
    let last_try = row.optional_integer(3)?.map(|tried_ms| {
        Ok::<_, DatabaseError>(json!({
            "at": seconds(tried_ms),
            "http_status": row.optional_integer(4)?,
            "error": row.optional_text(5)?,
        }))
    });
    Ok(OperatorReply::ok(&json!({ "address": {
        "url": url.ok().map(|endpoint| masked(endpoint.url())),
        "set_ts": seconds(row.integer(2)?),
        "last_try": last_try.transpose()?,
        "waiting": db.query_integer(sql::COUNT_MESSAGES, &[])?,
    } })))
}

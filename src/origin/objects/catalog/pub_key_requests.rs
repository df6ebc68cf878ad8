//! Publishers' requests for a new Pub-Key. The catalog owns the key, so a new key closes its request in the same
//! commit.

use serde_json::{Value, json};

use super::sql;
use contract::{catalog::RequestPubKey, operation::OperatorReply};
use domain::model::ApiError;
use platform::{Database, DbResult, Result, Row, params};

pub const NO_PUB_KEY: ApiError = ApiError::new(409, "no_pub_key", "the publisher has no Pub-Key to replace yet");

/// Maximum requests in a list. Each new key closes a request, and the next request appears.
const MAX_LIST: i64 = 100;

/// Opens a request. An open request does not change until a new key closes it.
pub fn open(db: &impl Database, now_ms: i64, request: &RequestPubKey) -> Result<OperatorReply> {
    let publisher = request.publisher_id.as_str();
    let known = db.query_first(sql::GET_PUB_KEY, params![publisher])?;
    if known.is_none_or(|row| row.is_null(0)) {
        return Err(NO_PUB_KEY.into());
    }
    let opened =
        db.query(sql::OPEN_PUB_KEY_REQUEST, params![publisher, now_ms, request.by.as_str(), request.reason.as_str()])?;
    let body = json!({ "request": get(db, publisher)? });
    Ok(if opened.is_empty() { OperatorReply::ok(&body) } else { OperatorReply::created(&body) })
}

/// Returns a publisher's open request, or null.
pub fn get(db: &impl Database, publisher_id: &str) -> DbResult<Value> {
    let request = db.read_first(sql::GET_PUB_KEY_REQUEST, params![publisher_id], shown)?;
    Ok(request.unwrap_or_default())
}

/// Returns the open requests, oldest first.
pub fn list(db: &impl Database) -> Result<OperatorReply> {
    let requests = db.read_all(sql::LIST_PUB_KEY_REQUESTS, params![MAX_LIST], |row| {
        let mut request = shown(row)?;
        if let Some(members) = request.as_object_mut() {
            members.insert("publisher_id".into(), row.text(3)?.into());
        }
        Ok(request)
    })?;
    Ok(OperatorReply::ok(&json!({ "requests": requests })))
}

/// Closes a publisher's request, within the transaction that stores its new key.
pub fn close(db: &impl Database, publisher_id: &str) -> DbResult {
    db.execute(sql::CLOSE_PUB_KEY_REQUEST, params![publisher_id])
}

fn shown(row: &Row) -> DbResult<Value> {
    Ok(json!({
        "requested_at": row.integer(0)?.div_euclid(1_000),
        "requested_by": row.text(1)?,
        "reason": row.text(2)?,
    }))
}

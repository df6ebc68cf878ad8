//! Report keys and their rate limit. Only the ledger checks keys, so that a revoked key stops working at once. The
//! ledger stores only the keys' hashes. The rate is exact because one object counts it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Context,
    lasting::{Key, Lasting},
    sql,
};
use crate::delivery::register;
use contract::{
    accounts::OPERATOR_NAME,
    ledger::{CreateKey, SuspendKeys, UseKey, UsedKey},
    operation::{Bytes, OperatorReply},
};
use domain::{
    model::{ApiError, Document, FieldError, common, credentials, document::check_text},
    reporting::{
        keys::{self, INSUFFICIENT_SCOPE, INVALID_API_KEY, Scope},
        rate::{self, Admission},
    },
};
use platform::{Database, DbResult, Failure, Result, params};

/// Maximum keys: enough for one key for each of a publisher's systems, and a second key during rotation.
const MAX_KEYS: i64 = 100;

const TOO_MANY_KEYS: ApiError =
    ApiError::new(409, "too_many_keys", "a publisher has at most 100 report keys: revoke one that is not used");

/// The operator's request for a new key.
#[derive(Debug, Serialize, Deserialize)]
struct NewKey {
    label: String,
    #[serde(default)]
    scope: Scope,
}

impl Document for NewKey {
    fn check(&self) -> Result<(), FieldError> {
        check_text("label", &self.label, 100)
    }
}

/// Issues a key. Only this answer contains the key.
pub fn create(db: &impl Database, context: &Context<'_>, create: &CreateKey) -> Result<OperatorReply> {
    let new = NewKey::from_json(&create.body)?;
    let count = db.query_integer(sql::COUNT_KEYS, &[])?;
    if count.is_some_and(|count| count >= MAX_KEYS) {
        return Err(TOO_MANY_KEYS.into());
    }
    let random = (context.random)().map_err(Failure::Internal)?;
    let (secret, id) = random.split_first_chunk::<16>().ok_or(Failure::Internal("no randomness".into()))?;
    let id = hex::encode(id.get(..8).unwrap_or_default());
    let api_key = keys::issue(&(context.mac)()?, context.publisher, *secret);
    let key = Key {
        hash: Bytes(credentials::hash(&api_key).to_vec()),
        key_id: id.clone(),
        label: new.label,
        created_ms: context.now_ms,
        by: create.by.clone(),
        scope: new.scope,
    };
    db.transaction(|| {
        store(db, &key)?;
        register::add(db, context.now_ms, &Lasting::Key(key))
    })?;
    Ok(OperatorReply::created(&json!({ "key_id": id, "api_key": api_key, "scope": new.scope })))
}

pub fn store(db: &impl Database, key: &Key) -> DbResult {
    let by = key.by.as_ref();
    db.execute(
        sql::INSERT_KEY,
        params![
            key.hash.0.clone(),
            key.key_id.as_str(),
            key.label.as_str(),
            key.created_ms,
            by.map(|by| by.member.to_string()),
            by.map(|by| by.name.as_str()),
            key.scope.as_str()
        ],
    )
}

/// Lists the keys without their secrets. Times are UNIX seconds.
pub fn list(db: &impl Database) -> Result<OperatorReply> {
    let keys = db.read_all(sql::LIST_KEYS, &[], |row| {
        let last_used = row.optional_integer(3)?.map(|ms| ms.div_euclid(1_000));
        Ok(json!({
            "key_id": row.text(0)?, "label": row.text(1)?, "scope": row.text(6)?,
            "created_at": row.integer(2)?.div_euclid(1_000), "last_used_at": last_used,
            "created_by": {
                "member_id": row.optional_text(4)?, "name": row.optional_text(5)?.unwrap_or(OPERATOR_NAME),
            },
        }))
    })?;
    Ok(OperatorReply::ok(&json!({ "report_keys": keys })))
}

/// Refuses all keys while the publisher is suspended, or accepts them again.
pub fn suspend(db: &impl Database, now_ms: i64, suspend: SuspendKeys) -> Result {
    let known = db.query_integer(sql::GET_SUSPENSION, &[])?;
    if known.is_some_and(|known| known.saturating_abs() >= suspend.revision) {
        return Ok(());
    }
    let signed = if suspend.is_suspended { suspend.revision } else { suspend.revision.saturating_neg() };
    Ok(db.transaction(|| {
        db.execute(sql::SET_SUSPENSION, params![signed])?;
        register::add(db, now_ms, &Lasting::Suspension(signed))
    })?)
}

/// Returns the id and the label of the key with this hash.
pub fn find(db: &impl Database, hash: &[u8]) -> Result<OperatorReply> {
    let row = db.query_first(sql::FIND_KEY, params![hash.to_vec()])?;
    let row = row.as_ref();
    Ok(OperatorReply::ok(&json!({
        "key_id": row.map(|row| row.text(0)).transpose()?,
        "label": row.map(|row| row.text(1)).transpose()?,
    })))
}

/// Revokes a key; the next request with it is refused.
pub fn revoke(db: &impl Database, now_ms: i64, key_id: &str) -> Result<OperatorReply> {
    db.transaction(|| {
        if db.query(sql::REVOKE_KEY, params![key_id])?.is_empty() {
            return Err(common::NOT_FOUND.with_message("no report key has this id").into());
        }
        register::add(db, now_ms, &Lasting::RevokedKey(key_id.to_owned()))?;
        Ok(OperatorReply::no_content())
    })
}

/// Checks a report's key and the key's rate limit. A request over the limit is not counted, so it does not extend the
/// wait.
///
/// # Errors
/// [`INVALID_API_KEY`] if the key is unknown, is revoked or has another scope.
pub fn admit(db: &impl Database, now_ms: i64, key: &str) -> Result<Admission> {
    let hash = credentials::hash(key).to_vec();
    let (_, verdict) = decide(db, now_ms, hash, Scope::Reporting, INVALID_API_KEY)?;
    Ok(verdict)
}

/// Like [`admit`], for a request that needs a certain scope.
///
/// # Errors
/// The errors that [`UseKey`] names.
pub fn use_key(db: &impl Database, now_ms: i64, UseKey { hash, scope }: UseKey) -> Result<UsedKey> {
    let (key, verdict) = decide(db, now_ms, hash.0, scope, INSUFFICIENT_SCOPE)?;
    verdict.refusal().map_or(Ok(key), |refusal| Err(refusal.into()))
}

fn decide(
    db: &impl Database,
    now_ms: i64,
    hash: Vec<u8>,
    scope: Scope,
    of_another_scope: ApiError,
) -> Result<(UsedKey, Admission)> {
    let row = db.query_first(sql::GET_KEY, params![hash.clone()])?.ok_or(INVALID_API_KEY)?;
    if row.text(1)? != scope.as_str() {
        return Err(of_another_scope.into());
    }
    let verdict = rate::decide(row.optional_integer(0)?, now_ms, scope.interval_ms());
    if verdict == Admission::Accepted {
        db.execute(sql::ACCEPT, params![now_ms, hash])?;
    }
    let key = UsedKey { key_id: row.text(2)?.to_owned(), label: row.text(3)?.to_owned() };
    Ok((key, verdict))
}

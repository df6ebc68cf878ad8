//! Report keys: the ledger alone owns them and keeps only their hashes, so that one that is revoked stops working at once;
//! and their rate, which is exact because there is one place that counts.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Context, sql};
use contract::operation::Reply;
use domain::{
    model::{
        api_error::{ApiError, common},
        credentials,
        document::{Document, FieldError, check_text},
    },
    reporting::{
        keys::INVALID_API_KEY,
        rate::{self, Verdict},
    },
};
use platform::{database::Database, failure::Failure, params};

/// What a key may do, in the specification's words (5, Reporting).
const SCOPE: &str = "ia-reporting.READ";
/// A publisher has a key for each of its systems, and one more while it rotates.
const MAX_KEYS: i64 = 100;

const TOO_MANY_KEYS: ApiError = ApiError::new(
    409,
    "too_many_keys",
    "a publisher has at most 100 report keys: revoke one that is not used",
);

/// What the operator says of a new key.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewKey {
    label: String,
}

impl Document for NewKey {
    fn check(&self) -> Result<(), FieldError> {
        check_text("label", &self.label, 100)
    }
}

/// Issues a key, which is shown this once.
pub fn create(db: &impl Database, context: &Context<'_>, body: &str) -> Result<Reply, Failure> {
    let new = NewKey::from_json(body)?;
    let count = db
        .query_first(sql::COUNT_KEYS, &[])?
        .map_or(Ok(0), |row| row.integer(0))?;
    if count >= MAX_KEYS {
        return Err(TOO_MANY_KEYS.into());
    }
    let random = (context.random)().map_err(Failure::Internal)?;
    let (secret, id) = random
        .split_first_chunk::<16>()
        .ok_or(Failure::Internal("no randomness".into()))?;
    let id = hex::encode(id.get(..8).unwrap_or_default());
    let api_key = (context.mac)()?.issue(context.publisher, *secret);
    let hash = credentials::hash(&api_key).to_vec();
    db.execute(
        sql::INSERT_KEY,
        params![hash, id.as_str(), new.label, context.now_ms],
    )?;
    Ok(Reply::created(
        &json!({ "key_id": id, "api_key": api_key, "scope": SCOPE }),
    ))
}

/// The keys, without what they are. Times are UNIX seconds.
pub fn list(db: &impl Database) -> Result<Reply, Failure> {
    let rows = db.query(sql::LIST_KEYS, &[])?;
    let keys = rows
        .iter()
        .map(|row| {
            let last_used = row.optional_integer(3)?.map(|ms| ms.div_euclid(1_000));
            Ok(json!({
                "key_id": row.text(0)?, "label": row.text(1)?, "scope": SCOPE,
                "created_at": row.integer(2)?.div_euclid(1_000), "last_used_at": last_used,
            }))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    Ok(Reply::ok(&json!({ "report_keys": keys })))
}

/// Ends a key, from the next request on.
pub fn revoke(db: &impl Database, key_id: &str) -> Result<Reply, Failure> {
    let ended = db.query(sql::REVOKE_KEY, params![key_id])?;
    if ended.is_empty() {
        return Err(common::NOT_FOUND
            .with_message("there is no such report key")
            .into());
    }
    Ok(Reply::no_content())
}

/// Checks a key and takes one request of its rate. A request that the rate refuses takes none, and so does not push the
/// wait.
///
/// # Errors
/// [`INVALID_API_KEY`], or what the database says.
pub fn admit(db: &impl Database, now_ms: i64, key: &str) -> Result<Verdict, Failure> {
    let hash = credentials::hash(key).to_vec();
    let row = db
        .query_first(sql::GET_KEY, params![hash.clone()])?
        .ok_or(INVALID_API_KEY)?;
    let verdict = rate::decide(row.optional_integer(0)?, now_ms);
    if verdict == Verdict::Accepted {
        db.execute(sql::ACCEPT, params![now_ms, hash])?;
    }
    Ok(verdict)
}

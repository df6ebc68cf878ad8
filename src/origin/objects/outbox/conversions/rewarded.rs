//! Ensures at most one reward for a user and a goal. A conversion that is paid or waits for the cap has a key, which is
//! derived from its user and goal. The key stays after the user's erasure and is deleted with the conversion.

use crate::objects::outbox::{peers::Peers, sql};
use contract::{operation::Bytes, outbox::Conversion};
use domain::conversions::ids::reward_key;
use platform::{Database, DbResult, params};

/// Returns the key for a conversion's user and a goal; `None` before the outbox's first conversion, when no user has a
/// reward.
pub fn key(db: &impl Database, peers: &impl Peers, conversion: &Conversion, goal: &str) -> DbResult<Option<Bytes>> {
    let salt = match peers.state_cache().salt() {
        Some(salt) => salt,
        None => match db.query_first(sql::GET_SALT, &[])? {
            Some(row) => peers.state_cache().set_salt(row.blob(0)?),
            None => return Ok(None),
        },
    };
    let key = reward_key(&salt, &conversion.click.user_id, goal);
    Ok(Some(Bytes(key.to_vec())))
}

/// True if a paid conversion or a reservation of another click has this key.
pub fn is_taken(db: &impl Database, key: &Bytes, nonce: &Bytes) -> DbResult<bool> {
    db.query_boolean(sql::IS_REWARDED, params![key.0.clone(), nonce.0.clone()])
}

//! Ensures one reward for a user and a goal. A paid conversion, or one that waits for its cap, has a key of its user
//! and goal that no other conversion has. The key stays after the user's erasure and is deleted with the conversion.

use crate::objects::outbox::{peers::Peers, sql};
use contract::{operation::Bytes, outbox::Conversion};
use domain::conversions::ids::reward_key;
use platform::{Database, DbResult, params};

/// Returns the key for a conversion's user and a goal; none before the outbox's first conversion, when nobody has a reward.
pub fn key(
    db: &impl Database,
    peers: &impl Peers,
    conversion: &Conversion,
    goal: &str,
) -> DbResult<Option<Bytes>> {
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

/// True if another click has the reward of a key, or waits for its cap.
pub fn is_taken(db: &impl Database, key: &Bytes, nonce: &Bytes) -> DbResult<bool> {
    db.query_boolean(sql::IS_REWARDED, params![key.0.clone(), nonce.0.clone()])
}

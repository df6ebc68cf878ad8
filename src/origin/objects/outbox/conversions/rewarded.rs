//! One reward for a user and a goal: a paid conversion, or one that waits for its cap, has the key of its user and goal,
//! and no other has the same. The key outlives the erasure of the user, and leaves with the conversion.

use crate::objects::outbox::{peers::Peers, sql};
use contract::{operation::Bytes, outbox::Conversion};
use domain::conversions::ids::reward_key;
use platform::{Database, DbResult, params};

/// The key of the user of a conversion and of a goal; none before the outbox's first conversion, when nobody has a reward.
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

/// Whether another click has the reward of a key, or waits for its cap.
pub fn is_taken(db: &impl Database, key: &Bytes, nonce: &Bytes) -> DbResult<bool> {
    db.query_boolean(sql::IS_REWARDED, params![key.0.clone(), nonce.0.clone()])
}

//! One reward for a user and a goal: a paid conversion, or one that waits for its cap, has the key of its user and goal,
//! and no other has the same. The key outlives the erasure of the user, and leaves with the conversion.

use crate::objects::outbox::{peers::Peers, sql};
use contract::{operation::Bytes, outbox::Conversion};
use domain::conversions::ids::reward_key;
use platform::{
    database::{Database, DatabaseError},
    params,
};

/// The key of the user of a conversion and of a goal.
pub fn key(
    db: &impl Database,
    peers: &impl Peers,
    conversion: &Conversion,
    goal: &str,
) -> Result<Bytes, DatabaseError> {
    let known = peers.state_cache().salt();
    let salt = match known {
        Some(salt) => salt,
        None => {
            let row = db.query_first(sql::GET_SALT, &[])?;
            let row = row.ok_or_else(|| DatabaseError("the outbox has no state row".into()))?;
            peers.state_cache().set_salt(row.blob(0)?)
        }
    };
    Ok(key_of(&salt, conversion, goal))
}

/// The same for an outbox that may have had no conversion: then there is no key, and nobody has the reward.
pub fn stored_key(
    db: &impl Database,
    conversion: &Conversion,
    goal: &str,
) -> Result<Option<Bytes>, DatabaseError> {
    let row = db.query_first(sql::GET_SALT, &[])?;
    row.map(|row| Ok(key_of(row.blob(0)?, conversion, goal)))
        .transpose()
}

fn key_of(salt: &[u8], conversion: &Conversion, goal: &str) -> Bytes {
    Bytes(reward_key(salt, &conversion.click.user_id, goal).to_vec())
}

/// Whether another click has the reward of a key, or waits for its cap.
pub fn is_taken(db: &impl Database, key: &Bytes, nonce: &Bytes) -> Result<bool, DatabaseError> {
    db.query_boolean(sql::IS_REWARDED, params![key.0.clone(), nonce.0.clone()])
}

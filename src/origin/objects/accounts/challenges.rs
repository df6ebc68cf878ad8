//! Challenges: each can be spent once. A spent challenge is stored until it expires. After that it is refused as
//! expired.

use super::{account, sql};
use contract::accounts::SpentChallenge;
use domain::accounts::{challenge, webauthn::PASSKEY_REFUSED};
use platform::{Database, DbResult, Result, params};

/// Checks that a challenge can still be spent.
pub fn check(db: &impl Database, now_ms: i64, challenge: &SpentChallenge) -> Result {
    // A restored object does not know which challenges were spent after the copy was made. So all challenges from
    // before the restore are refused.
    let drawn_ms = challenge.expires_at_ms.saturating_sub(challenge::LIFE_MS);
    let is_older = drawn_ms < account::restored_ms(db)?;
    let is_spent = db.query_boolean(sql::IS_SPENT, params![challenge.id.0.clone()])?;
    if is_older || is_spent || challenge.expires_at_ms <= now_ms { Err(PASSKEY_REFUSED.into()) } else { Ok(()) }
}

/// Spends a checked challenge, within the caller's transaction.
pub fn spend(db: &impl Database, challenge: &SpentChallenge) -> DbResult {
    db.execute(sql::SPEND, params![challenge.id.0.clone(), challenge.expires_at_ms])
}

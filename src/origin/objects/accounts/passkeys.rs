//! Passkeys. A member's first passkey is stored when the invite is spent. Afterwards, a passkey signs in or verifies a
//! session. All refusals are the same error, so that a stranger learns nothing from them.

use super::{
    Context, account,
    audit::{self, Entry, Party},
    challenges, rates,
    sessions::{LiveSession, NewSession, stored_user_agent},
    sql,
};
use contract::{
    accounts::{NewPasskey, Passkey, PasskeyUse, SignIn, SignedIn, Verify},
    operation::Bytes,
};
use domain::{
    accounts::{
        ids::MemberId,
        webauthn::{PASSKEY_REFUSED, PasskeyError, check_sign_count},
    },
    model::ApiError,
};
use platform::{Database, DatabaseError, DbResult, Result, Row, database::json, log, params};

/// Maximum passkeys of a member: enough for all devices and for keys in a safe.
pub const MAX_PASSKEYS: i64 = 20;

pub const TOO_MANY_PASSKEYS: ApiError =
    ApiError::new(409, "too_many_passkeys", "a member has at most 20 passkeys: remove one that is not used");

/// A stored passkey, and the name of its member.
struct StoredPasskey {
    passkey: Passkey,
    name: String,
}

/// Reads a passkey.
///
/// # Errors
/// The account has no such passkey, or the passkey has failed too often.
pub fn read(db: &impl Database, now_ms: i64, credential_id: &[u8]) -> Result<Passkey> {
    let row = db.query_first(sql::GET_PASSKEY, params![credential_id.to_vec()])?;
    let row = row.ok_or_else(|| rates::refuse_unknown(db, now_ms, PASSKEY_REFUSED))?;
    rates::check_passkey(db, now_ms, credential_id)?;
    Ok(stored(&row)?.passkey)
}

fn find(db: &impl Database, credential_id: &[u8]) -> Result<StoredPasskey> {
    let row = db.query_first(sql::GET_PASSKEY, params![credential_id.to_vec()])?.ok_or(PASSKEY_REFUSED)?;
    Ok(stored(&row)?)
}

fn stored(row: &Row) -> DbResult<StoredPasskey> {
    Ok(StoredPasskey {
        passkey: Passkey {
            member: row.parse(0, MemberId::parse)?,
            algorithm: row.integer(2)?,
            spki: Bytes(row.blob(3)?.to_vec()),
            sign_count: row.number(4)?,
            is_backup_eligible: row.boolean(5)?,
        },
        name: row.text(1)?.to_owned(),
    })
}

/// Checks that a new passkey can be stored.
pub fn check_new(db: &impl Database, now_ms: i64, member: MemberId, passkey: &NewPasskey) -> Result {
    challenges::check(db, now_ms, &passkey.challenge)?;
    let counts = db.query_first(sql::COUNT_PASSKEYS, params![passkey.credential_id.0.clone(), member.to_string()])?;
    let counts = counts.ok_or_else(|| DatabaseError("no counts".into()))?;
    if counts.boolean(0)? {
        return Err(PASSKEY_REFUSED.into());
    }
    if counts.integer(1)? >= MAX_PASSKEYS {
        return Err(TOO_MANY_PASSKEYS.into());
    }
    Ok(())
}

/// Stores a checked passkey and spends its challenge, within the caller's transaction.
pub fn store(db: &impl Database, now_ms: i64, member: MemberId, passkey: &NewPasskey, user_agent: &str) -> DbResult {
    challenges::spend(db, &passkey.challenge)?;
    db.execute(
        sql::INSERT_PASSKEY,
        params![
            passkey.credential_id.0.clone(),
            member.to_string(),
            passkey.algorithm,
            passkey.spki.0.clone(),
            passkey.sign_count,
            json(&passkey.transports)?,
            passkey.is_backup_eligible,
            passkey.is_backed_up,
            now_ms,
            stored_user_agent(user_agent)
        ],
    )
}

/// Opens a session with a passkey. Only the holder of a passkey learns that the account is suspended.
pub fn sign_in(db: &impl Database, context: &Context<'_>, sign_in: &SignIn) -> Result<SignedIn> {
    let now_ms = context.now_ms;
    let stored = find(db, &sign_in.passkey.credential_id.0)?;
    check_count(&stored, sign_in.passkey.sign_count)?;
    challenges::check(db, now_ms, &sign_in.passkey.challenge)?;
    let account = account::require_admitted(db)?;
    let session = NewSession::draw(context, &account)?;
    db.transaction(|| {
        store_use(db, now_ms, &sign_in.passkey)?;
        let by = Party::member(stored.passkey.member, stored.name);
        audit::append(db, now_ms, &Entry::of(by, "signed_in"))?;
        Ok(session.open(db, now_ms, stored.passkey.member, false, &sign_in.user_agent)?)
    })
}

/// Marks a session as verified with a passkey of its own member.
pub fn verify(db: &impl Database, now_ms: i64, verify: &Verify) -> Result {
    let live = LiveSession::require(db, now_ms, &verify.session)?;
    let stored = find(db, &verify.passkey.credential_id.0)?;
    if stored.passkey.member != live.session.member {
        return Err(PASSKEY_REFUSED.into());
    }
    check_count(&stored, verify.passkey.sign_count)?;
    challenges::check(db, now_ms, &verify.passkey.challenge)?;
    db.transaction(|| {
        store_use(db, now_ms, &verify.passkey)?;
        Ok(live.verify(db, now_ms)?)
    })
}

/// Compares the signature counter with the stored one. Another sign-in may have raised the stored counter since the
/// caller read it.
fn check_count(stored: &StoredPasskey, sign_count: u32) -> Result<(), ApiError> {
    check_sign_count(stored.passkey.sign_count, sign_count).map_err(|error: PasskeyError| {
        log::warn("accounts", error.as_str());
        error.into()
    })
}

/// Stores a passkey's use and spends its challenge, within the caller's transaction.
fn store_use(db: &impl Database, now_ms: i64, passkey: &PasskeyUse) -> DbResult {
    challenges::spend(db, &passkey.challenge)?;
    db.execute(
        sql::USE_PASSKEY,
        params![passkey.credential_id.0.clone(), passkey.sign_count, passkey.is_backed_up, now_ms],
    )
}

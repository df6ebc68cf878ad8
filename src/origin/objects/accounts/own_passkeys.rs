//! A member's own passkeys. The member can add passkeys, and can remove all but the last one.

use super::{
    audit::{self, Entry, Party},
    ended::Ended,
    passkeys,
    sessions::LiveSession,
    sql,
};
use crate::delivery::register;
use contract::{
    accounts::{AddPasskey, PasskeyRow, RemovePasskey, Session},
    operation::Bytes,
};
use domain::{
    accounts::{ids::MemberId, webauthn},
    model::{ApiError, common},
};
use platform::{Database, DbResult, Result, params};

pub const LAST_PASSKEY: ApiError =
    ApiError::new(409, "last_passkey", "this is your only passkey: add another one before you remove it");

/// Returns a member's passkeys, oldest first.
pub fn list(db: &impl Database, member: MemberId) -> DbResult<Vec<PasskeyRow>> {
    db.read_all(sql::LIST_PASSKEYS, params![member.to_string()], |row| {
        let credential_id = row.blob(0)?.to_vec();
        Ok(PasskeyRow {
            passkey_id: webauthn::short_id(&credential_id),
            credential_id: Bytes(credential_id),
            transports: row.json(1)?,
            user_agent: row.text(2)?.to_owned(),
            created_at_ms: row.integer(3)?,
            last_used_at_ms: row.optional_integer(4)?,
        })
    })
}

pub fn add(db: &impl Database, now_ms: i64, add: &AddPasskey) -> Result {
    let LiveSession { session, .. } = LiveSession::require(db, now_ms, &add.session)?;
    passkeys::check_new(db, now_ms, session.member, &add.passkey)?;
    let id = webauthn::short_id(&add.passkey.credential_id.0);
    db.transaction(|| {
        passkeys::store(db, now_ms, session.member, &add.passkey, &add.user_agent)?;
        Ok(append(db, now_ms, &session, "passkey_added", &id)?)
    })
}

/// Removes a passkey and ends the member's other sessions: whoever has the passkey's device may have signed in.
pub fn remove(db: &impl Database, now_ms: i64, remove: &RemovePasskey) -> Result {
    let live = LiveSession::require(db, now_ms, &remove.session)?;
    let passkeys = list(db, live.session.member)?;
    let passkey = passkeys
        .iter()
        .find(|passkey| passkey.passkey_id == remove.passkey_id)
        .ok_or_else(|| common::NOT_FOUND.with_message("no passkey has this id"))?;
    if passkeys.len() == 1 {
        return Err(LAST_PASSKEY.into());
    }
    db.transaction(|| {
        db.execute(sql::DELETE_PASSKEY, params![passkey.credential_id.0.clone()])?;
        register::add(db, now_ms, &Ended::Passkey(passkey.credential_id.clone()))?;
        live.end_others(db)?;
        Ok(append(db, now_ms, &live.session, "passkey_removed", &passkey.passkey_id)?)
    })
}

fn append(db: &impl Database, now_ms: i64, session: &Session, action: &str, passkey_id: &str) -> DbResult {
    let entry = Entry {
        subject: Some(Party::thing(passkey_id)),
        ..Entry::of(Party::member(session.member, session.name.as_str()), action)
    };
    audit::append(db, now_ms, &entry)
}

//! Acceptance of an invite: the member joins, or returns through a recovery, with a first passkey and a session.

use super::{
    Context, account,
    audit::{self, Entry, Party},
    invites, members, passkeys,
    sessions::NewSession,
};
use contract::accounts::{Accept, SignedIn};
use platform::{Database, Result};

/// Spends an invite. If two calls spend it at the same time, the second finds no invite.
pub fn accept(db: &impl Database, context: &Context<'_>, accept: &Accept) -> Result<SignedIn> {
    let now_ms = context.now_ms;
    let invite = invites::read(db, now_ms, &accept.invite)?;
    let account = account::require_admitted(db)?;
    let member = invite.member;
    if !invite.is_recovery {
        members::check_room(db)?;
    }
    if let Some(passkey) = &accept.passkey {
        passkeys::check_new(db, now_ms, member, passkey)?;
    }
    let session = NewSession::draw(context, &account)?;
    db.transaction(|| {
        invites::spend(db, now_ms, &accept.invite)?;
        let action = if invite.is_recovery {
            "member_recovered"
        } else {
            members::store(db, now_ms, member, &invite.name, invite.role)?;
            "member_joined"
        };
        if let Some(passkey) = &accept.passkey {
            passkeys::store(db, now_ms, member, passkey, &accept.user_agent)?;
        }
        let entry = Entry {
            detail: Some(invite.role.as_str()),
            ..Entry::of(Party::member(member, invite.name.as_str()), action)
        };
        audit::append(db, now_ms, &entry)?;
        let is_local = accept.passkey.is_none();
        Ok(session.open(db, now_ms, member, is_local, &accept.user_agent)?)
    })
}

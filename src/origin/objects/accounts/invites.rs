//! Invites. An invite's hash is stored until the invite is spent, withdrawn or expired. A member has at most one open
//! recovery.

use super::{
    Context, account,
    audit::{self, Entry, Party, RECOVERY_ISSUED},
    ended::Ended,
    members::{self, check_role, unknown_member},
    rates::{self, Rate},
    sql,
};
use crate::delivery::register;
use contract::accounts::{Actor, Invite, InviteDetails, InviteRow, Invitee, NewInvite, WithdrawInvite};
use domain::{
    accounts::{
        ids::MemberId,
        invite::{self, UNKNOWN_INVITE},
        member::parse_name,
        permission::ROLE_FORBIDS,
        role::Role,
    },
    model::{ApiError, common, credentials},
};
use platform::{Database, DbResult, Result, params};

/// Maximum open invites, equal to the maximum members. Recoveries are not counted: each member has at most one.
pub const MAX_INVITES: i64 = 100;

pub const TOO_MANY_INVITES: ApiError =
    ApiError::new(409, "too_many_invites", "an account has at most 100 open invites: withdraw one that is not needed");

/// Issues an invite. Only this answer contains its text. A recovery immediately ends the member's sessions, passkeys
/// and earlier recovery, and withdraws the invites that the member has issued.
pub fn issue(db: &impl Database, context: &Context<'_>, invite: Invite) -> Result<NewInvite> {
    let now_ms = context.now_ms;
    let (account, is_new) = account::of_owner(db, context, &invite.owner)?;
    let issuer = members::manager(db, &invite.by)?;
    let draw = context.draw()?;
    let (member, name, role) = match invite.to {
        Invitee::New { name, role } => {
            let name = parse_name("name", &name).map_err(ApiError::from)?;
            check_role(role, account.kind())?;
            check_room(db, now_ms)?;
            (MemberId(draw.member), name, Some(role))
        }
        Invitee::Recovery(id) => {
            if invite.by == Actor::Member(id) {
                return Err(ROLE_FORBIDS
                    .with_message("you cannot create your own recovery link: ask another member")
                    .into());
            }
            let member = members::find(db, id)?.ok_or_else(unknown_member)?;
            (id, member.name, None)
        }
    };
    let invited = NewInvite {
        invite_id: hex::encode(draw.id),
        invite: invite::issue(&(context.mac)()?, &account, draw.secret),
        expires_at_ms: now_ms.saturating_add(invite::LIFE_MS),
    };
    let action = if role.is_some() { "member_invited" } else { RECOVERY_ISSUED };
    let role = role.map(Role::as_str);
    db.transaction(|| {
        rates::take(db, now_ms, &invite.by, Rate::Invites)?;
        if is_new {
            account::store_owner(db, &account)?;
        }
        if role.is_none() {
            members::lock_out(db, now_ms, member)?;
            register::add(db, now_ms, &Ended::LockedOut(member))?;
        }
        db.execute(
            sql::INSERT_INVITE,
            params![
                credentials::hash(&invited.invite).to_vec(),
                invited.invite_id.as_str(),
                member.to_string(),
                role.map(|_| name.as_str()),
                role,
                invited.expires_at_ms,
                issuer.name.as_str(),
                issuer.member.map(|member| member.to_string()),
                match &invite.by {
                    Actor::Console(member) => Some(member.to_string()),
                    _ => None,
                }
            ],
        )?;
        let entry = Entry { subject: Some(Party::member(member, name)), detail: role, ..Entry::of(issuer, action) };
        audit::append(db, now_ms, &entry)?;
        Ok(invited)
    })
}

/// Checks that the account has room for another invite.
fn check_room(db: &impl Database, now_ms: i64) -> Result {
    members::check_room(db)?;
    let open = db.query_integer(sql::COUNT_INVITES, params![now_ms])?;
    if open.is_some_and(|open| open >= MAX_INVITES) {
        return Err(TOO_MANY_INVITES.into());
    }
    Ok(())
}

/// Reads an invite that can be spent. Only the holder of an invite learns that the account is suspended.
pub fn read(db: &impl Database, now_ms: i64, invite: &str) -> Result<InviteDetails> {
    let hash = credentials::hash(invite).to_vec();
    let row = db
        .query_first(sql::GET_INVITE, params![hash, now_ms])?
        .ok_or_else(|| rates::refuse_unknown(db, now_ms, UNKNOWN_INVITE))?;
    account::check_admitted(db)?;
    Ok(InviteDetails {
        member: row.parse(0, MemberId::parse)?,
        name: row.text(1)?.to_owned(),
        role: row.parse(2, Role::parse)?,
        is_recovery: row.boolean(3)?,
        expires_at_ms: row.integer(4)?,
    })
}

/// Returns the console's member who issued an invite to a publisher's account, if one did, and the time.
pub fn console_issuer(db: &impl Database, invite: &str) -> DbResult<Option<(MemberId, i64)>> {
    let hash = credentials::hash(invite).to_vec();
    db.read_first(sql::GET_CONSOLE_ISSUER, params![hash], |row| {
        let issued_ms = row.integer(1)?.saturating_sub(invite::LIFE_MS);
        Ok((row.parse(0, MemberId::parse)?, issued_ms))
    })
}

/// Spends an invite, within the caller's transaction.
pub fn spend(db: &impl Database, now_ms: i64, invite: &str) -> DbResult {
    register::add(db, now_ms, &Ended::SignIn)?;
    db.execute(sql::DELETE_INVITE, params![credentials::hash(invite).to_vec()])
}

/// Withdraws an open invite. If the invite is a recovery, its member can no longer sign in.
pub fn withdraw(db: &impl Database, now_ms: i64, withdraw: &WithdrawInvite) -> Result {
    let by = members::manager(db, &withdraw.by)?;
    let row = db
        .query_first(sql::FIND_INVITE, params![withdraw.invite_id.as_str(), now_ms])?
        .ok_or_else(|| common::NOT_FOUND.with_message("no open invite has this id"))?;
    let entry = Entry {
        subject: Some(Party::member(row.parse(3, MemberId::parse)?, row.text(1)?)),
        detail: Some(row.text(2)?),
        ..Entry::of(by, "invite_withdrawn")
    };
    db.transaction(|| {
        db.execute(sql::DELETE_INVITE, params![row.blob(0)?.to_vec()])?;
        register::add(db, now_ms, &Ended::SignIn)?;
        Ok(audit::append(db, now_ms, &entry)?)
    })
}

/// Returns the open invites in the order of their expiry.
pub fn list(db: &impl Database, now_ms: i64) -> DbResult<Vec<InviteRow>> {
    db.read_all(sql::LIST_INVITES, params![now_ms], |row| {
        Ok(InviteRow {
            invite_id: row.text(0)?.to_owned(),
            name: row.text(1)?.to_owned(),
            role: row.parse(2, Role::parse)?,
            is_recovery: row.boolean(3)?,
            expires_at_ms: row.integer(4)?,
            by: row.text(5)?.to_owned(),
        })
    })
}

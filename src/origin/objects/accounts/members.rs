//! Members: their names and roles, and the checks of the actors who manage them.

use super::{
    audit::{self, Entry, Party},
    ended::Ended,
    rates::{self, Rate},
    sql,
};
use crate::delivery::register;
use contract::accounts::{Actor, ChangeMember, MemberRow};
use domain::{
    accounts::{
        account::AccountKind,
        ids::MemberId,
        member::{MemberChange, check_last_owner},
        permission::{Permission, ROLE_FORBIDS},
        role::Role,
        session::NOT_SIGNED_IN,
    },
    model::{ApiError, FieldError, common},
};
use platform::{Database, DbResult, Result, params};

/// Maximum members of an account. Usually fewer people see a publisher's figures.
pub const MAX_MEMBERS: i64 = 100;

pub const TOO_MANY_MEMBERS: ApiError =
    ApiError::new(409, "too_many_members", "an account has at most 100 members: remove one who no longer needs it");

/// Replaces the name of a member who was removed before the action was recorded.
const FORMER_MEMBER: &str = "a former member";

pub struct Member {
    pub name: String,
    pub role: Role,
}

pub fn find(db: &impl Database, member: MemberId) -> DbResult<Option<Member>> {
    db.read_first(sql::GET_MEMBER, params![member.to_string()], |row| {
        Ok(Member { name: row.text(0)?.to_owned(), role: row.parse(1, Role::parse)? })
    })
}

/// Returns the actor as the audit names it.
pub fn party_of(db: &impl Database, actor: &Actor) -> DbResult<Party> {
    match actor {
        Actor::Operator | Actor::Console(_) => Ok(Party::operator()),
        Actor::Member(id) => {
            let member = find(db, *id)?;
            let name = member.map_or_else(|| FORMER_MEMBER.to_owned(), |member| member.name);
            Ok(Party::member(*id, name))
        }
        Actor::Key(name) => Ok(Party::thing(name)),
    }
}

/// Checks that an actor may manage members, and returns the actor. The caller has already checked the session's role,
/// but another owner may have changed the role since.
pub fn manager(db: &impl Database, actor: &Actor) -> Result<Party> {
    let id = match actor {
        Actor::Operator | Actor::Console(_) => return Ok(Party::operator()),
        Actor::Member(id) => id,
        Actor::Key(_) => return Err(ROLE_FORBIDS.into()),
    };
    let member = find(db, *id)?.ok_or(NOT_SIGNED_IN)?;
    if Permission::ManageMembers.is_granted_to(member.role) {
        Ok(Party::member(*id, member.name))
    } else {
        Err(ROLE_FORBIDS.into())
    }
}

/// Checks that the account has room for another member.
pub fn check_room(db: &impl Database) -> Result {
    let count = db.query_integer(sql::COUNT_MEMBERS, &[])?;
    if count.is_some_and(|count| count >= MAX_MEMBERS) {
        return Err(TOO_MANY_MEMBERS.into());
    }
    Ok(())
}

/// Stores a new member, within the caller's transaction.
pub fn store(db: &impl Database, now_ms: i64, member: MemberId, name: &str, role: Role) -> DbResult {
    db.execute(sql::INSERT_MEMBER, params![member.to_string(), name, role.as_str(), now_ms])
}

/// Returns the members in the order in which they joined.
pub fn list(db: &impl Database) -> DbResult<Vec<MemberRow>> {
    db.read_all(sql::LIST_MEMBERS, &[], |row| {
        Ok(MemberRow {
            member: row.parse(0, MemberId::parse)?,
            name: row.text(1)?.to_owned(),
            role: row.parse(2, Role::parse)?,
            created_at_ms: row.integer(3)?,
            last_seen_at_ms: row.optional_integer(4)?,
            passkeys: row.number(5)?,
            invites_from_ms: row.integer(6)?,
        })
    })
}

/// Changes a member's role, or removes the member with its passkeys, sessions and invites.
pub fn change(db: &impl Database, now_ms: i64, change: &ChangeMember) -> Result {
    let by = manager(db, &change.by)?;
    let id = change.member;
    let member = find(db, id)?.ok_or_else(unknown_member)?;
    if let Some(role) = change.role {
        check_role(role, member.role.kind())?;
    }
    let rule = change.role.map_or(MemberChange::Remove(id), |role| MemberChange::SetRole(id, role));
    check_last_owner(&roles(db)?, rule)?;
    let old = member.role.as_str();
    match change.role {
        Some(role) if role == member.role => Ok(()),
        Some(role) => db.transaction(|| {
            rates::take(db, now_ms, &change.by, Rate::Settings)?;
            db.execute(sql::SET_ROLE, params![id.to_string(), role.as_str()])?;
            register::add(db, now_ms, &Ended::Role(id, role))?;
            if !Permission::ManageMembers.is_granted_to(role) {
                withdraw_invites_by(db, now_ms, id)?;
            }
            let entry = Entry {
                subject: Some(Party::member(id, member.name)),
                detail: Some(&format!("{old} to {}", role.as_str())),
                ..Entry::of(by, "role_changed")
            };
            Ok(audit::append(db, now_ms, &entry)?)
        }),
        None => db.transaction(|| {
            remove(db, now_ms, id)?;
            register::add(db, now_ms, &Ended::Member(id))?;
            let entry = Entry {
                subject: Some(Party::member(id, member.name)),
                detail: Some(old),
                ..Entry::of(by, "member_removed")
            };
            Ok(audit::append(db, now_ms, &entry)?)
        }),
    }
}

/// Withdraws the open invites that a member has issued. With one of them, a removed member could return.
/// A console's member may also have sent invites to publishers' accounts, which ask for the time.
fn withdraw_invites_by(db: &impl Database, now_ms: i64, member: MemberId) -> DbResult {
    let member = member.to_string();
    db.execute(sql::DELETE_INVITES_BY, params![member.as_str()])?;
    db.execute(sql::SET_INVITES_FROM, params![member, now_ms])
}

/// Ends a member's sessions, deletes its passkeys and its recovery, and withdraws the invites that it has issued,
/// within the caller's transaction.
pub fn lock_out(db: &impl Database, now_ms: i64, member: MemberId) -> DbResult {
    withdraw_invites_by(db, now_ms, member)?;
    let member = member.to_string();
    for sql in [sql::DELETE_SESSIONS_OF, sql::DELETE_PASSKEYS_OF, sql::DELETE_RECOVERY] {
        db.execute(sql, params![member.as_str()])?;
    }
    Ok(())
}

/// Removes a member with its passkeys, sessions and invites, within the caller's transaction.
pub fn remove(db: &impl Database, now_ms: i64, member: MemberId) -> DbResult {
    lock_out(db, now_ms, member)?;
    db.execute(sql::DELETE_MEMBER, params![member.to_string()])
}

/// The error for an unknown member.
pub fn unknown_member() -> ApiError {
    common::NOT_FOUND.with_message("no member has this id")
}

pub fn check_role(role: Role, kind: AccountKind) -> Result<(), ApiError> {
    if role.kind() == kind {
        return Ok(());
    }
    let roles = Role::ALL.into_iter().filter(|role| role.kind() == kind);
    let roles: Vec<_> = roles.map(Role::as_str).collect();
    let problem = format!("must be one of {}", roles.join(", "));
    Err(FieldError::new("role", problem).into())
}

fn roles(db: &impl Database) -> DbResult<Vec<(MemberId, Role)>> {
    db.read_all(sql::GET_ROLES, &[], |row| Ok((row.parse(0, MemberId::parse)?, row.parse(1, Role::parse)?)))
}

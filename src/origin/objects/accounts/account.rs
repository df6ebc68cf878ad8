//! The account itself: its owner, which the first invite names, and whether it is suspended.

use super::{
    Context,
    audit::{self, Entry, Party},
    ended::Ended,
    sql,
};
use crate::delivery::register;
use contract::accounts::{Owner, Suspend, object_name};
use domain::accounts::account::{ACCOUNT_SUSPENDED, Account};
use platform::{Database, DbResult, Failure, Result, params};

/// Returns the account of an invite, and whether its owner must still be stored.
///
/// # Errors
/// The object belongs to another account.
pub fn of_owner(db: &impl Database, context: &Context<'_>, owner: &Owner) -> Result<(Account, bool)> {
    let wrong = || Failure::Internal("an invite names the owner of another account".into());
    let account = owner.account().ok_or_else(wrong)?;
    let is_here = context.name.is_none_or(|name| name == object_name(account.id()));
    let known = self::owner(db)?;
    if !is_here || known.as_ref().is_some_and(|known| *known != account) {
        return Err(wrong());
    }
    Ok((account, known.is_none()))
}

/// Stores the owner, within the caller's transaction.
pub fn store_owner(db: &impl Database, account: &Account) -> DbResult {
    db.execute(sql::SET_OWNER, params![account.kind().letter(), account.owner()])
}

/// Returns the account. The caller has proved to be a member.
///
/// # Errors
/// The account is suspended, or its owner is missing.
pub fn require_admitted(db: &impl Database) -> Result<Account> {
    check_admitted(db)?;
    let missing = || Failure::Internal("the account has members, and no owner is stored".into());
    read(db)?.account.ok_or_else(missing)
}

/// Returns the account, if its owner is known.
pub fn owner(db: &impl Database) -> DbResult<Option<Account>> {
    Ok(read(db)?.account)
}

/// Returns when the object noticed that it was restored from a copy; 0 if never.
pub fn restored_ms(db: &impl Database) -> DbResult<i64> {
    Ok(read(db)?.restored_ms)
}

/// True if anybody was ever invited to the account.
pub fn is_known(db: &impl Database) -> DbResult<bool> {
    Ok(owner(db)?.is_some())
}

/// Checks that the account is not suspended.
pub fn check_admitted(db: &impl Database) -> Result {
    if read(db)?.is_suspended { Err(ACCOUNT_SUSPENDED.into()) } else { Ok(()) }
}

/// Suspends the account, which ends its sessions, or admits the account again. Passkeys and open invites stay.
pub fn suspend(db: &impl Database, now_ms: i64, suspend: Suspend) -> Result {
    let (is_suspended, revision) = (suspend.is_suspended, suspend.revision);
    let known = read(db)?;
    if known.revision >= revision {
        return Ok(());
    }
    db.transaction(|| {
        set_suspended(db, &suspend)?;
        register::add(db, now_ms, &Ended::Suspension(suspend))?;
        if known.is_suspended == is_suspended {
            return Ok(());
        }
        let action = if is_suspended { "account_suspended" } else { "account_admitted" };
        audit::append(db, now_ms, &Entry::of(Party::operator(), action))?;
        Ok(())
    })
}

/// Stores a suspension or its end, within the caller's transaction.
pub fn set_suspended(db: &impl Database, suspend: &Suspend) -> DbResult {
    db.execute(sql::SET_SUSPENDED, params![suspend.is_suspended, suspend.revision])?;
    if suspend.is_suspended {
        db.execute(sql::DELETE_SESSIONS, &[])?;
    }
    Ok(())
}

/// The stored row. If there is no row, nobody was invited to the account, and the defaults hold.
#[derive(Default)]
struct StoredAccount {
    account: Option<Account>,
    is_suspended: bool,
    revision: i64,
    restored_ms: i64,
}

fn read(db: &impl Database) -> DbResult<StoredAccount> {
    let Some(row) = db.query_first(sql::GET_ACCOUNT, &[])? else {
        return Ok(StoredAccount::default());
    };
    let account = match row.optional_text(0)? {
        Some(letter) => Some(row.parse(1, |owner| Account::parse(letter, owner))?),
        None => None,
    };
    Ok(StoredAccount {
        account,
        is_suspended: row.boolean(2)?,
        revision: row.integer(3)?,
        restored_ms: row.integer(4)?,
    })
}

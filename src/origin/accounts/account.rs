//! The account itself: its owner, which the first invite names, and whether it is suspended.

use super::{
    Context,
    audit::{self, Entry, Party},
    sql,
};
use contract::accounts::{Owner, object_name};
use domain::accounts::account::Account;
use platform::{
    database::{Database, DatabaseError},
    failure::Failure,
    params,
};

/// The account of an invite. The second value tells whether its owner is still to be stored.
///
/// # Errors
/// The object belongs to another account.
pub fn of_owner(
    db: &impl Database,
    context: &Context<'_>,
    owner: &Owner,
) -> Result<(Account, bool), Failure> {
    let wrong = || Failure::Internal("an invite names the owner of another account".into());
    let account = owner.account().ok_or_else(wrong)?;
    let is_here = context.name.is_none_or(|name| name == object_name(account.id()));
    let (known, _) = read(db)?;
    if !is_here || known.as_ref().is_some_and(|known| *known != account) {
        return Err(wrong());
    }
    Ok((account, known.is_none()))
}

/// Stores the owner, within the caller's transaction.
pub fn store_owner(db: &impl Database, account: &Account) -> Result<(), DatabaseError> {
    db.execute(sql::SET_OWNER, params![account.kind().letter(), account.owner()])
}

/// The account; `None` while it is suspended, or if nobody was ever invited to it.
pub fn admitted(db: &impl Database) -> Result<Option<Account>, DatabaseError> {
    let (account, is_suspended) = read(db)?;
    Ok(account.filter(|_| !is_suspended))
}

/// Suspends the account, which ends its sessions, or admits it again. Passkeys and open invites stay.
pub fn suspend(db: &impl Database, now_ms: i64, is_suspended: bool) -> Result<(), Failure> {
    let (_, was_suspended) = read(db)?;
    if is_suspended == was_suspended {
        return Ok(());
    }
    db.transaction(|| {
        db.execute(sql::SET_SUSPENDED, params![is_suspended])?;
        if is_suspended {
            db.execute(sql::DELETE_SESSIONS, &[])?;
        }
        let action = if is_suspended {
            "account_suspended"
        } else {
            "account_admitted"
        };
        audit::append(db, now_ms, &Entry::of(Party::operator(), action))?;
        Ok(())
    })
}

fn read(db: &impl Database) -> Result<(Option<Account>, bool), DatabaseError> {
    let Some(row) = db.query_first(sql::GET_ACCOUNT, &[])? else {
        return Ok((None, false));
    };
    let account = match row.optional_text(0)? {
        Some(letter) => Some(row.parse(1, |owner| Account::parse(letter, owner))?),
        None => None,
    };
    Ok((account, row.boolean(2)?))
}

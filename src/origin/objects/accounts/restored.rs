//! An account that was restored from a copy does not admit anybody whose access has ended since the copy was made.

use super::{account, audit, ended::Ended, members, sql};
use crate::delivery::register::Restore;
use contract::attention::Doubt;
use domain::{accounts::account::Account, model::PublisherId};
use platform::{Database, DbResult, Result, params};

/// An account that was restored from a copy.
pub struct RestoredAccount;

/// Ends all sessions and invites, and records the time of the restore, within the caller's transaction.
pub fn end_all(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::DELETE_SESSIONS, &[])?;
    db.execute(sql::DELETE_INVITES, &[])?;
    db.execute(sql::SET_RESTORED, params![now_ms])?;
    audit::append(db, now_ms, &audit::Entry::of(audit::Party::operator(), "account_restored"))
}

impl Restore for RestoredAccount {
    type Entry = Ended;

    fn begin(&self, db: &impl Database, now_ms: i64) -> DbResult {
        end_all(db, now_ms)
    }

    fn begun_ms(&self, db: &impl Database) -> DbResult<i64> {
        account::restored_ms(db)
    }

    fn apply(&self, db: &impl Database, at_ms: i64, entry: Ended) -> Result {
        match entry {
            Ended::SignIn => {}
            Ended::LockedOut(member) => members::lock_out(db, at_ms, member)?,
            Ended::Member(member) => members::remove(db, at_ms, member)?,
            Ended::Role(member, role) => db.execute(sql::SET_ROLE, params![member.to_string(), role.as_str()])?,
            Ended::Passkey(credential) => db.execute(sql::DELETE_PASSKEY, params![credential.0])?,
            Ended::Suspension(suspend) => account::set_suspended(db, &suspend)?,
        }
        Ok(())
    }

    fn doubts(&self, db: &impl Database, _lost: &[&Ended]) -> DbResult<(Option<PublisherId>, Vec<Doubt>)> {
        Ok(match account::owner(db)? {
            Some(Account::Publisher(publisher)) => {
                let doubt = Doubt::new(format!("members of {publisher}"), "account_restored");
                (Some(publisher), vec![doubt])
            }
            Some(Account::Operator) => (None, vec![Doubt::new("members of the console", "account_restored")]),
            None => (None, vec![Doubt::new("members of an unknown account", "account_restored")]),
        })
    }
}

//! Tells publishers' accounts that they are suspended, because the approval was taken back, or that they are admitted
//! again. The PUT or import that makes the change calls the accounts before it returns. The alarm calls the accounts
//! that did not answer ([`push`](crate::delivery::push)).
//!
//! A publisher has a row in `suspensions` once its approval was taken back or it was closed. A publisher that was never
//! approved is not suspended: its owner can sign in and see what is missing.

use super::sql;
use crate::delivery::push::{FIRST_PUSH_MS, Push};
use contract::{
    accounts::{self, Suspend},
    operation::ObjectAddress,
};
use domain::{accounts::account::Account, catalog::publisher::Publisher, model::PublisherId};
use platform::{Database, DbResult, Row, database::Value, params};

impl Push for Suspend {
    type Operation = Suspend;
    const NAME: &'static str = "a suspension";
    const REACHED: &'static str = "accounts know whether they are suspended";
    const LIST_DUE: &'static str = sql::LIST_DUE_SUSPENSIONS;
    const NEXT_DUE: &'static str = sql::GET_NEXT_DUE_SUSPENSION;
    const POSTPONE: &'static str = sql::POSTPONE_SUSPENSION;
    const CONFIRM: &'static str = sql::UNQUEUE_SUSPENSION;

    fn read(row: &Row) -> DbResult<Self> {
        Ok(Self {
            publisher: row.parse(0, PublisherId::parse)?,
            is_suspended: row.boolean(1)?,
            revision: row.integer(2)?,
        })
    }

    fn key(&self) -> Vec<Value> {
        vec![self.publisher.as_str().into()]
    }

    fn version(&self) -> Vec<Value> {
        vec![self.revision.into()]
    }

    fn receiver(&self) -> ObjectAddress {
        accounts::address(Account::Publisher(self.publisher.clone()).id())
    }

    fn operation(&self) -> Suspend {
        self.clone()
    }
}

/// Queues the suspension or admission that a PUT of a publisher causes, within the caller's transaction and before the
/// publisher is stored. Returns whether the PUT causes one.
pub fn enqueue(db: &impl Database, now_ms: i64, id: &str, publisher: &Publisher, revision: i64) -> DbResult<bool> {
    let was_approved = match db.query_first(sql::GET_APPROVAL, params![id])? {
        Some(row) => row.boolean(0)?,
        None if !publisher.closed => return Ok(false),
        // A closed publisher that the catalog does not know may still have an account, from before the catalog was
        // restored from a copy. So the change is queued for the account.
        None => false,
    };
    let due_at_ms = now_ms.saturating_add(FIRST_PUSH_MS);
    let statement = match (was_approved, publisher.approved) {
        (true, false) => sql::QUEUE_SUSPENSION,
        (false, true) => sql::QUEUE_ADMISSION,
        (false, false) if publisher.closed => sql::QUEUE_SUSPENSION,
        _ => return Ok(false),
    };
    db.execute(statement, params![id, revision, due_at_ms])?;
    Ok(true)
}

/// Returns the change that a publisher's account does not have yet, whether due or not.
pub fn queued_of(db: &impl Database, publisher: &PublisherId) -> DbResult<Vec<Suspend>> {
    Suspend::list(db, sql::GET_QUEUED_SUSPENSION, params![publisher.as_str()])
}

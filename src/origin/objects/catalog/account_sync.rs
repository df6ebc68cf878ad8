//! Tells the accounts of publishers whose approval was taken back that they are suspended, and that they are not any
//! more. The PUT or the import that changed it tells them first, since it is answered when they know; the alarm tells
//! those that were not reached ([`push`](crate::delivery::push)).
//!
//! A publisher has a row in `suspensions` from the first time that its approval was taken back. One that was never
//! approved is not suspended: its owner signs in and sees what is missing.

use super::sql;
use crate::delivery::push::{FIRST_PUSH_MS, Push, PushQueue};
use contract::{
    accounts::{self, Suspend},
    operation::ObjectAddress,
};
use domain::{
    accounts::account::Account,
    model::{PublisherId, api_error::common},
};
use platform::{
    database::{Database, DatabaseError, Row},
    failure::Failure,
    params,
    traits::{Clock, ObjectCall, Sleep},
};

/// The queue of what accounts do not know yet.
pub type AccountQueue<'a, D, R> = PushQueue<'a, D, R, QueuedSuspension>;

/// An account that does not know its newest state yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedSuspension {
    pub publisher: PublisherId,
    pub suspend: Suspend,
}

impl QueuedSuspension {
    fn read(row: &Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            publisher: row.parse(0, PublisherId::parse)?,
            suspend: Suspend {
                is_suspended: row.boolean(1)?,
                revision: row.integer(2)?,
                publisher: row.parse(0, PublisherId::parse)?,
            },
        })
    }
}

impl Push for QueuedSuspension {
    type Operation = Suspend;
    const NAME: &'static str = "a suspension";

    fn list_due(db: &impl Database, by_ms: i64, limit: u32) -> Result<Vec<Self>, DatabaseError> {
        let rows = db.query(sql::LIST_DUE_SUSPENSIONS, params![by_ms, limit])?;
        rows.iter().map(Self::read).collect()
    }

    fn next_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
        db.query_integer(sql::GET_NEXT_DUE_SUSPENSION, &[])
    }

    fn postpone(&self, db: &impl Database, due_ms: i64) -> Result<(), DatabaseError> {
        db.execute(sql::POSTPONE_SUSPENSION, params![self.publisher.as_str(), due_ms])
    }

    fn confirm(&self, db: &impl Database) -> Result<(), DatabaseError> {
        let parameters = params![self.publisher.as_str(), self.suspend.revision];
        db.execute(sql::UNQUEUE_SUSPENSION, parameters)
    }

    fn receiver(&self) -> ObjectAddress {
        accounts::address(Account::Publisher(self.publisher.clone()).id())
    }

    fn operation(&self) -> Suspend {
        self.suspend.clone()
    }
}

/// Queues what a PUT of a stored publisher changes, within the caller's transaction and before the publisher is stored. Returns
/// whether it is suspended or admitted again.
pub fn enqueue(
    db: &impl Database,
    now_ms: i64,
    id: &str,
    is_approved: bool,
    revision: i64,
) -> Result<bool, DatabaseError> {
    let was_approved = match db.query_first(sql::GET_APPROVAL, params![id])? {
        Some(row) => row.boolean(0)?,
        None => return Ok(false),
    };
    let due_at_ms = now_ms.saturating_add(FIRST_PUSH_MS);
    let statement = match (was_approved, is_approved) {
        (true, false) => sql::QUEUE_SUSPENSION,
        (false, true) => sql::QUEUE_ADMISSION,
        _ => return Ok(false),
    };
    db.execute(statement, params![id, revision, due_at_ms])?;
    Ok(true)
}

/// The queued change of a publisher's account, due or not.
pub fn queued(
    db: &impl Database,
    publisher: &PublisherId,
) -> Result<Option<QueuedSuspension>, DatabaseError> {
    let row = db.query_first(sql::GET_QUEUED_SUSPENSION, params![publisher.as_str()])?;
    row.as_ref().map(QueuedSuspension::read).transpose()
}

/// Tells a publisher's account, for a PUT of the publisher.
///
/// # Errors
/// 503 if the account does not know: the operator may rely on a suspension only once nobody gets in any more.
pub async fn push_publisher(
    queue: &AccountQueue<'_, impl Database, impl Clock + Sleep + ObjectCall>,
    publisher: &PublisherId,
) -> Result<(), Failure> {
    let Some(queued) = queued(queue.db, publisher)? else {
        return Ok(());
    };
    if queue.send(vec![queued]).await? == 1 {
        return Ok(());
    }
    let message = "the publisher is kept as it was put, but its account could not be told yet; it is told as soon \
         as that can be done, and the PUT may be repeated";
    Err(common::UNAVAILABLE.with_message(message).into())
}

/// Tells the accounts of the publishers that an import has changed.
///
/// # Errors
/// 503 if some of them do not know within the time limit; the alarm tells them.
pub async fn push_imported(
    queue: &AccountQueue<'_, impl Database, impl Clock + Sleep + ObjectCall>,
) -> Result<(), Failure> {
    if queue.send_imported().await? {
        return Ok(());
    }
    let message = "the import is applied, but not all accounts of its publishers could be told yet; they are told as \
         soon as that can be done, and the import may be repeated";
    Err(common::UNAVAILABLE.with_message(message).into())
}

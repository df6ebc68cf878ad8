//! Tells the accounts of publishers whose approval was taken back that they are suspended, and that they are not any
//! more. The PUT or the import that changed it tells them first, since it is answered when they know; the alarm tells
//! those that were not reached.
//!
//! A publisher has a row in `suspensions` from the first time that its approval was taken back. One that was never
//! approved is not suspended: its owner signs in and sees what is missing.

use std::time::Duration;

use futures_util::{
    StreamExt,
    future::{Either, select},
    stream,
};

use super::sql;
use contract::accounts::{self, Suspend};
use domain::{
    accounts::account::Account,
    model::{PublisherId, api_error::common, time::SECOND_MS},
};
use platform::{
    CONNECTIONS,
    database::{Database, DatabaseError, Row},
    failure::Failure,
    log, params,
    traits::{Clock, ObjectCall, Sleep},
};

/// How long the operator's call has to tell an account before the alarm does, in milliseconds.
pub const FIRST_PUSH_MS: i64 = 5 * SECOND_MS;
/// The time from the start of an attempt by the alarm or an import to its retry, in milliseconds.
pub const RETRY_MS: i64 = 10 * SECOND_MS;
/// Accounts told at a time.
const PAGE: u32 = 48;
/// The time that an import or an alarm spends. A call that is in flight at its end stays due.
const TIME: Duration = Duration::from_secs(10);
/// The timeout of a call to an account. It is short because the operator waits.
const ACCOUNT_TIMEOUT: Duration = Duration::from_secs(5);

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
            },
        })
    }
}

/// Queues what a PUT of a stored publisher changes, within the caller's transaction and before the publisher is stored.
pub fn enqueue(
    db: &impl Database,
    now_ms: i64,
    id: &str,
    is_approved: bool,
    revision: i64,
) -> Result<(), DatabaseError> {
    let was_approved = match db.query_first(sql::GET_APPROVAL, params![id])? {
        Some(row) => row.boolean(0)?,
        None => return Ok(()),
    };
    let due_at_ms = now_ms.saturating_add(FIRST_PUSH_MS);
    let statement = match (was_approved, is_approved) {
        (true, false) => sql::QUEUE_SUSPENSION,
        (false, true) => sql::QUEUE_ADMISSION,
        _ => return Ok(()),
    };
    db.execute(statement, params![id, revision, due_at_ms])
}

/// What a publisher's account does not know yet, whenever it is due.
pub fn queued(
    db: &impl Database,
    publisher: &PublisherId,
) -> Result<Option<QueuedSuspension>, DatabaseError> {
    let row = db.query_first(sql::GET_QUEUED_SUSPENSION, params![publisher.as_str()])?;
    row.as_ref().map(QueuedSuspension::read).transpose()
}

/// Claims at most `limit` accounts that are due by `by_ms`, the longest due first. Each becomes due again [`RETRY_MS`]
/// after `now_ms` unless [`confirm`] removes it first.
pub fn claim(
    db: &impl Database,
    now_ms: i64,
    by_ms: i64,
    limit: u32,
) -> Result<Vec<QueuedSuspension>, DatabaseError> {
    let mut claimed = Vec::new();
    for row in db.query(sql::LIST_DUE_SUSPENSIONS, params![by_ms, limit])? {
        let queued = QueuedSuspension::read(&row)?;
        db.execute(
            sql::POSTPONE_SUSPENSION,
            params![queued.publisher.as_str(), now_ms.saturating_add(RETRY_MS)],
        )?;
        claimed.push(queued);
    }
    Ok(claimed)
}

/// Records that an account knows a revision: unless there is a newer one, it needs no call.
pub fn confirm(db: &impl Database, told: &QueuedSuspension) -> Result<(), DatabaseError> {
    let parameters = params![told.publisher.as_str(), told.suspend.revision];
    db.execute(sql::UNQUEUE_SUSPENSION, parameters)
}

/// When the next call is due; none if every account knows.
pub fn next_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
    db.query_integer(sql::GET_NEXT_DUE_SUSPENSION, &[])
}

/// Tells accounts from the queue in `db`.
pub struct AccountPush<'a, D, R> {
    pub db: &'a D,
    pub runtime: &'a R,
}

impl<D: Database, R: Clock + Sleep + ObjectCall> AccountPush<'_, D, R> {
    /// Tells a publisher's account, for a PUT of the publisher.
    ///
    /// # Errors
    /// 503 if the account does not know: the operator may rely on a suspension only once nobody gets in any more.
    pub async fn push_publisher(&self, publisher: &PublisherId) -> Result<(), Failure> {
        let Some(queued) = queued(self.db, publisher)? else {
            return Ok(());
        };
        if self.push(queued).await? {
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
    pub async fn push_imported(&self) -> Result<(), Failure> {
        // Also those that an attempt just before has put off, and none of them twice.
        let by_ms = self.runtime.now_ms().saturating_add(RETRY_MS - 1);
        self.within_time_limit(async {
            while self.push_page(by_ms).await? {}
            Ok(())
        })
        .await?;
        if next_ms(self.db)?.is_none() {
            return Ok(());
        }
        let message = "the import is applied, but not all accounts of its publishers could be told yet; they are told as \
             soon as that can be done, and the import may be repeated";
        Err(common::UNAVAILABLE.with_message(message).into())
    }

    /// Tells the accounts that are due, for the alarm.
    pub async fn push_due(&self) -> Result<(), Failure> {
        self.within_time_limit(async { self.push_page(self.runtime.now_ms()).await.map(drop) })
            .await
    }

    async fn within_time_limit(
        &self,
        work: impl Future<Output = Result<(), Failure>>,
    ) -> Result<(), Failure> {
        match select(Box::pin(work), Box::pin(self.runtime.sleep(TIME))).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => {
                let problem = format_args!("suspensions: not all accounts told within {TIME:?}");
                log::warn("catalog", problem);
                Ok(())
            }
        }
    }

    /// Tells a page of the accounts that are due at `by_ms` or before. Returns whether there were any.
    async fn push_page(&self, by_ms: i64) -> Result<bool, Failure> {
        let claimed = claim(self.db, self.runtime.now_ms(), by_ms, PAGE)?;
        let any = !claimed.is_empty();
        let pushes = stream::iter(claimed)
            .map(|queued| self.push(queued))
            .buffer_unordered(CONNECTIONS);
        let outcomes: Vec<_> = pushes.collect().await;
        outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(any)
    }

    /// Returns whether the account knows.
    async fn push(&self, queued: QueuedSuspension) -> Result<bool, Failure> {
        let to = accounts::address(Account::Publisher(queued.publisher.clone()).id());
        match self.runtime.call(&to, queued.suspend, ACCOUNT_TIMEOUT).await {
            Ok(_) => {
                confirm(self.db, &queued)?;
                Ok(true)
            }
            Err(error) => {
                let publisher = &queued.publisher;
                log::warn("catalog", format_args!("suspension of {publisher}: {error}"));
                Ok(false)
            }
        }
    }
}

//! Delivers changes to other objects. A call that makes a change succeeds only after the receiver has the change. The
//! change's transaction puts it in a queue, the call sends it, and the alarm resends it if it did not arrive.

use std::{cell::Cell, marker::PhantomData, time::Duration};

use futures_util::{
    StreamExt,
    future::{Either, select},
    stream,
};

use contract::operation::{ObjectAddress, Operation};
use domain::model::{SECOND_MS, common};
use platform::{CONNECTIONS, Clock, Database, DbResult, ObjectCall, Result, Row, Sleep, database::Value, log, params};

/// The time for which the call may send its own changes before the alarm sends them, in milliseconds.
pub const FIRST_PUSH_MS: i64 = 5 * SECOND_MS;
/// The time from the start of an attempt by the alarm or an import until the retry, in milliseconds.
pub const RETRY_MS: i64 = 10 * SECOND_MS;
/// Maximum changes that are claimed at a time.
const PAGE: u32 = 48;
/// Maximum time that a PUT, an import or an alarm spends on sending. If a call is still in flight at the end, its
/// change stays in the queue.
const TIME: Duration = Duration::from_secs(10);
/// The timeout of a call to a receiver. It is short because other changes wait.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A change that its receiver does not know yet: a row of a queue.
pub trait Push: Sized {
    /// The receiver's operation.
    type Operation: Operation;
    /// The name of the change in the log.
    const NAME: &'static str;
    /// The end of the error message if some changes did not arrive. It follows `only 3 of 8` or `not all`.
    const REACHED: &'static str;
    /// Time, maximum rows → the rows that are due by that time, the longest due first.
    const LIST_DUE: &'static str;
    /// → the time when the first row is due; no value if the queue is empty.
    const NEXT_DUE: &'static str;
    /// Time, key: makes the row due at that time.
    const POSTPONE: &'static str;
    /// Key, version: deletes the row from the queue, unless the row has another version.
    const CONFIRM: &'static str;

    /// Reads a row of the queue.
    fn read(row: &Row) -> DbResult<Self>;
    /// The row's key, for statements.
    fn key(&self) -> Vec<Value>;
    /// The version of the change: the values by which [`CONFIRM`](Self::CONFIRM) recognizes it.
    fn version(&self) -> Vec<Value>;
    fn receiver(&self) -> ObjectAddress;
    fn operation(&self) -> Self::Operation;

    /// Returns the rows that a statement lists.
    fn list(db: &impl Database, sql: &str, parameters: &[Value]) -> DbResult<Vec<Self>> {
        db.query(sql, parameters)?.iter().map(Self::read).collect()
    }

    /// Returns the time when the first row is due; `None` if the queue is empty.
    fn next_ms(db: &impl Database) -> DbResult<Option<i64>> {
        db.query_integer(Self::NEXT_DUE, &[])
    }

    /// Records that the receiver has the change.
    fn confirm(&self, db: &impl Database) -> DbResult {
        let parameters = [self.key(), self.version()].concat();
        db.execute(Self::CONFIRM, &parameters)
    }
}

/// Claims at most `limit` changes that are due by `by_ms`. Each change is due again [`RETRY_MS`] after `now_ms` unless
/// it is confirmed first. So a call that hangs or fails neither delays other changes nor keeps the object awake.
pub fn claim<P: Push>(db: &impl Database, now_ms: i64, by_ms: i64, limit: u32) -> DbResult<Vec<P>> {
    let due = P::list(db, P::LIST_DUE, params![by_ms, limit])?;
    let retry_ms = now_ms.saturating_add(RETRY_MS);
    for push in &due {
        let parameters = [vec![retry_ms.into()], push.key()].concat();
        db.execute(P::POSTPONE, &parameters)?;
    }
    Ok(due)
}

/// Sends the queued changes of one kind.
pub struct PushQueue<'a, D, R, P> {
    pub db: &'a D,
    pub runtime: &'a R,
    kind: PhantomData<P>,
}

impl<'a, D: Database, R: Clock + Sleep + ObjectCall, P: Push> PushQueue<'a, D, R, P> {
    pub fn new(db: &'a D, runtime: &'a R) -> Self {
        Self { db, runtime, kind: PhantomData }
    }

    /// Sends these changes, and counts the changes that arrived.
    async fn send(&self, queued: Vec<P>, arrived: &Cell<usize>) -> Result {
        let mut sent = stream::iter(queued).map(|push| self.send_one(push)).buffer_unordered(CONNECTIONS);
        let mut failure = Ok(());
        while let Some(outcome) = sent.next().await {
            match outcome {
                Ok(has_arrived) => arrived.set(arrived.get() + usize::from(has_arrived)),
                Err(error) => failure = Err(error),
            }
        }
        failure
    }

    /// Sends the changes of a PUT, which succeeds only once they have arrived.
    ///
    /// # Errors
    /// 503 if a change did not arrive within the time limit. The alarm resends it.
    pub async fn require(&self, resource: &str, queued: Vec<P>) -> Result {
        let (all, arrived) = (queued.len(), Cell::new(0));
        self.within_time_limit(self.send(queued, &arrived)).await?;
        let arrived = arrived.get();
        if arrived == all {
            return Ok(());
        }
        let reached = P::REACHED;
        let message = format!(
            "the {resource} is stored, but only {arrived} of {all} {reached}; the others are updated as soon as \
             possible, and you can repeat the PUT"
        );
        Err(common::UNAVAILABLE.with_message(message).into())
    }

    /// Sends what an import has queued.
    ///
    /// # Errors
    /// 503 if some changes did not arrive within the time limit. The alarm resends them.
    pub async fn require_imported(&self) -> Result {
        if self.send_imported().await? {
            return Ok(());
        }
        let reached = P::REACHED;
        let message = format!(
            "the import is applied, but not all {reached}; the others are updated as soon as possible, and you can \
             repeat the import"
        );
        Err(common::UNAVAILABLE.with_message(message).into())
    }

    /// Sends the changes that an import has queued, within the time limit. Returns whether all arrived.
    pub async fn send_imported(&self) -> Result<bool> {
        // Includes the changes that an attempt just before this one has postponed, but sends no change twice in this
        // call.
        let by_ms = self.runtime.now_ms().saturating_add(RETRY_MS - 1);
        self.within_time_limit(async {
            while self.send_page(by_ms).await? {}
            Ok(())
        })
        .await?;
        Ok(P::next_ms(self.db)?.is_none())
    }

    /// Sends the changes that are due, for the alarm.
    pub async fn send_due(&self) -> Result {
        self.within_time_limit(async { self.send_page(self.runtime.now_ms()).await.map(drop) }).await
    }

    async fn within_time_limit(&self, work: impl Future<Output = Result>) -> Result {
        match select(Box::pin(work), Box::pin(self.runtime.sleep(TIME))).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => {
                let problem =
                    format_args!("sending {} took longer than {TIME:?}, so the alarm sends the rest", P::NAME);
                log::warn("push", problem);
                Ok(())
            }
        }
    }

    /// Sends a page of the changes that are due by `by_ms`. Returns whether any change was due.
    async fn send_page(&self, by_ms: i64) -> Result<bool> {
        let claimed = claim::<P>(self.db, self.runtime.now_ms(), by_ms, PAGE)?;
        let any = !claimed.is_empty();
        self.send(claimed, &Cell::new(0)).await?;
        Ok(any)
    }

    /// Sends a change. Returns whether it arrived.
    async fn send_one(&self, push: P) -> Result<bool> {
        let to = push.receiver();
        match self.runtime.call(&to, push.operation(), TIMEOUT).await {
            Ok(_) => {
                push.confirm(self.db)?;
                Ok(true)
            }
            Err(error) => {
                log::warn("push", format_args!("{} did not reach {}, and is sent again: {error}", P::NAME, to.name));
                Ok(false)
            }
        }
    }
}

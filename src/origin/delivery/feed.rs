//! A feed sends the changes of this object to another object, in numbered batches.
//!
//! Triggers mark changed rows in the transaction of the change. A batch has the marked rows as they are when the batch
//! is prepared. The marks stay until the receiver has confirmed the batch. So a failed batch is prepared again from the
//! newest state, and no request waits for a batch.

use std::time::Duration;

use super::backoff::{MAX_WAIT_MS, is_refusal, wait_ms};
use contract::operation::{ObjectAddress, Operation};
use domain::model::SECOND_MS;
use platform::{Clock, DbResult, ObjectCall, log};

/// The time that a batch waits for further changes, in milliseconds.
pub const FEED_MS: i64 = SECOND_MS;
/// The time between two batches of a busy outbox, in milliseconds. It is long because each batch writes about ten rows
/// in three objects.
pub const SPACING_MS: i64 = 2_500;
/// The time after a batch with changes within which the next batch is sent, even if nothing has changed, in
/// milliseconds. It allows for a late alarm.
const PROMISE_MS: i64 = 4 * SECOND_MS;
/// Maximum batches that an alarm sends, one after the other. The rest wait for the next alarm.
const BATCHES: usize = 20;
const TIMEOUT: Duration = Duration::from_secs(10);

/// The changes of an object for one receiver.
pub trait Feed: Sized {
    type Batch: Operation + Clone;
    /// The changes that the confirmation of a batch settles.
    type Marks;
    /// The receiver's name in the log.
    const NAME: &'static str;

    /// The earliest time for the next batch; `None` if nothing is to be sent.
    fn sends_at_ms(&self) -> DbResult<Option<i64>>;
    /// The number of failed attempts since the last confirmation.
    fn attempts(&self) -> DbResult<u32>;
    /// Prepares the next batch, under a number that no other batch of the object has. `None` if the receiver is
    /// unknown.
    fn prepare(&self, now_ms: i64) -> DbResult<Option<Prepared<Self>>>;
    /// Settles the marks of a batch that the receiver has applied, now or in an earlier attempt.
    fn confirm(&self, now_ms: i64, prepared: &Prepared<Self>, answer: &<Self::Batch as Operation>::Answer) -> DbResult;
    /// Counts a failed attempt. The next batch is sent at `until_ms`.
    fn put_off(&self, until_ms: i64) -> DbResult;
}

/// A batch that is ready to be sent.
pub struct Prepared<F: Feed> {
    pub batch: F::Batch,
    pub receiver: ObjectAddress,
    /// False if there are more changes than the batch has.
    pub is_complete: bool,
    pub marks: F::Marks,
}

/// Returns the time of the alarm for a batch that may be sent at `sends_at_ms`. A recent change waits [`FEED_MS`] for
/// further changes.
pub fn alarm_ms(sends_at_ms: Option<i64>, now_ms: i64) -> Option<i64> {
    sends_at_ms.map(|at_ms| at_ms.max(now_ms.saturating_add(FEED_MS)))
}

/// Returns the time by which a batch follows the one that is prepared now; `None` if the prepared batch has no changes.
pub fn promise_ms(has_changes: bool, now_ms: i64) -> Option<i64> {
    has_changes.then_some(now_ms.saturating_add(PROMISE_MS))
}

/// Sends batches until all changes are sent, a batch fails, or `BATCHES` were sent.
///
/// # Errors
/// A batch could not be prepared or settled. The next batch waits as long as after a batch that did not arrive.
pub async fn send(feed: &impl Feed, runtime: &(impl Clock + ObjectCall)) -> DbResult {
    let sent = send_due(feed, runtime).await;
    if sent.is_err() {
        put_off(feed, runtime.now_ms(), wait_ms(feed.attempts()?))?;
    }
    sent
}

fn put_off(feed: &impl Feed, now_ms: i64, wait_ms: i64) -> DbResult {
    feed.put_off(now_ms.saturating_add(wait_ms))
}

async fn send_due<F: Feed>(feed: &F, runtime: &(impl Clock + ObjectCall)) -> DbResult {
    if feed.sends_at_ms()?.is_none_or(|at_ms| at_ms > runtime.now_ms()) {
        return Ok(());
    }
    for _ in 0..BATCHES {
        let Some(prepared) = feed.prepare(runtime.now_ms())? else {
            return Ok(());
        };
        let to = &prepared.receiver;
        match runtime.call(to, prepared.batch.clone(), TIMEOUT).await {
            Ok(answer) => feed.confirm(runtime.now_ms(), &prepared, &answer)?,
            Err(error) => {
                log::warn(F::NAME, format_args!("a batch did not reach {}, and is sent again: {error}", to.name));
                let wait_ms = match is_refusal(&error) {
                    true => MAX_WAIT_MS,
                    false => wait_ms(feed.attempts()?),
                };
                return put_off(feed, runtime.now_ms(), wait_ms);
            }
        }
        if prepared.is_complete {
            return Ok(());
        }
    }
    Ok(())
}

//! The queue of changed conversion caps that must be pushed to outboxes ([`push`](crate::delivery::push)). Only those that have
//! asked for the offer's terms can pay for it. Any other asks first, and gets the cap with the terms.

use super::{sql, terms::in_force};
use crate::delivery::push::{FIRST_PUSH_MS, Push, PushQueue};
use contract::{
    operation::ObjectAddress,
    outbox::{OutboxShard, SetOffer},
};
use domain::{
    conversions::terms::CurrentOffer,
    model::{AppId, OfferId, api_error::common},
};
use platform::{
    database::{Database, DatabaseError, Row},
    failure::Failure,
    params,
    traits::{Clock, ObjectCall, Sleep},
};

/// The queue of what outboxes do not have yet.
pub type CapQueue<'a, D, R> = PushQueue<'a, D, R, QueuedCap>;

/// A cap that an outbox does not have yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedCap {
    pub shard: OutboxShard,
    pub offer: SetOffer,
}

impl QueuedCap {
    fn read(row: &Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            offer: SetOffer {
                offer: row.parse(5, OfferId::parse)?,
                current: current(row)?,
            },
            shard: OutboxShard {
                app: row.parse(6, AppId::parse)?,
                number: row.number(7)?,
            },
        })
    }

    fn key(&self) -> (String, String, u32) {
        let OutboxShard { app, number } = self.shard;
        (self.offer.offer.to_string(), app.to_string(), number.into())
    }
}

impl Push for QueuedCap {
    type Operation = SetOffer;
    const NAME: &'static str = "a cap";

    fn list_due(db: &impl Database, by_ms: i64, limit: u32) -> Result<Vec<Self>, DatabaseError> {
        let rows = db.query(sql::LIST_DUE_CAPS, params![by_ms, limit])?;
        rows.iter().map(Self::read).collect()
    }

    fn next_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
        db.query_integer(sql::GET_NEXT_DUE_CAP, &[])
    }

    fn postpone(&self, db: &impl Database, due_ms: i64) -> Result<(), DatabaseError> {
        let (offer, app, shard) = self.key();
        db.execute(sql::POSTPONE_CAP, params![due_ms, offer, app, shard])
    }

    fn confirm(&self, db: &impl Database) -> Result<(), DatabaseError> {
        let (offer, app, shard) = self.key();
        let revision = self.offer.current.revision;
        db.execute(sql::UNQUEUE_CAP, params![offer, app, shard, revision])
    }

    fn receiver(&self) -> ObjectAddress {
        self.shard.address()
    }

    fn operation(&self) -> SetOffer {
        self.offer.clone()
    }
}

/// Reads an offer's current values from the first columns of a row.
pub fn current(row: &Row) -> Result<CurrentOffer, DatabaseError> {
    Ok(CurrentOffer {
        revision: row.integer(0)?,
        terms: in_force(row, 1)?,
        conversion_cap: row.optional_number(3)?,
        min_seconds_to_convert: row.optional_number(4)?,
    })
}

/// Records that an outbox has an offer's terms and its current cap.
pub fn record_outbox(db: &impl Database, offer_id: &str, app: AppId, shard: u8) -> Result<(), DatabaseError> {
    let outbox = params![offer_id, app.to_string(), u32::from(shard)];
    db.execute(sql::RECORD_OFFER_OUTBOX, outbox)
}

/// Queues an offer's changed cap for each of its outboxes, within the caller's transaction.
pub fn enqueue(db: &impl Database, offer_id: &str, now_ms: i64) -> Result<(), DatabaseError> {
    let due_at_ms = now_ms.saturating_add(FIRST_PUSH_MS);
    db.execute(sql::QUEUE_CAP, params![due_at_ms, offer_id])
}

/// The outboxes that do not have an offer's cap yet, whenever they are due.
pub fn queued_of(db: &impl Database, offer: &OfferId) -> Result<Vec<QueuedCap>, DatabaseError> {
    let rows = db.query(sql::LIST_QUEUED_CAPS, params![offer.as_str()])?;
    rows.iter().map(QueuedCap::read).collect()
}

/// Pushes the cap of one offer, for a PUT of the offer.
///
/// # Errors
/// 503 if an outbox did not take it: the operator may rely on a cap only once no outbox pays without it.
pub async fn push_offer(
    queue: &CapQueue<'_, impl Database, impl Clock + Sleep + ObjectCall>,
    offer: &OfferId,
) -> Result<(), Failure> {
    let queued = queued_of(queue.db, offer)?;
    let all = queued.len();
    let taken = queue.send(queued).await?;
    if taken == all {
        return Ok(());
    }
    let message = format!(
        "the offer is kept as it was put, but {taken} of the {all} outboxes that pay for it have its cap; the others get it \
         as soon as that can be done, and the PUT may be repeated"
    );
    Err(common::UNAVAILABLE.with_message(message).into())
}

/// Pushes the caps that an import has changed.
///
/// # Errors
/// 503 if some outboxes do not have them within the time limit; the alarm goes on.
pub async fn push_imported(
    queue: &CapQueue<'_, impl Database, impl Clock + Sleep + ObjectCall>,
) -> Result<(), Failure> {
    if queue.send_imported().await? {
        return Ok(());
    }
    let message = "the import is applied, but not all outboxes have the changed caps yet; they get them as soon as that \
         can be done, and the import may be repeated";
    Err(common::UNAVAILABLE.with_message(message).into())
}

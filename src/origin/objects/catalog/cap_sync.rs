//! The queue of changed conversion caps for the outboxes ([`push`](crate::delivery::push)). Only outboxes that have
//! asked for the offer's terms can pay for the offer. Any other outbox asks first, and gets the cap with the terms.

use super::{
    Context,
    lasting::{self, Lasting},
    revisions::in_force,
    sql,
};
use crate::delivery::push::{FIRST_PUSH_MS, Push};
use contract::{
    operation::{ObjectAddress, OperatorReply},
    outbox::{OutboxShard, SetOffer},
};
use domain::{
    conversions::terms::CurrentOffer,
    model::{AppId, OfferId},
};
use platform::{Database, DbResult, Result, Row, database::Value, params};
use serde_json::json;

/// A cap that an outbox does not have yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedCap {
    pub shard: OutboxShard,
    pub offer: SetOffer,
}

impl Push for QueuedCap {
    type Operation = SetOffer;
    const NAME: &'static str = "a cap";
    const REACHED: &'static str = "outboxes that pay for it have its cap";
    const LIST_DUE: &'static str = sql::LIST_DUE_CAPS;
    const NEXT_DUE: &'static str = sql::GET_NEXT_DUE_CAP;
    const POSTPONE: &'static str = sql::POSTPONE_CAP;
    const CONFIRM: &'static str = sql::UNQUEUE_CAP;

    fn read(row: &Row) -> DbResult<Self> {
        Ok(Self {
            offer: SetOffer { offer: row.parse(5, OfferId::parse)?, current: current(row)? },
            shard: OutboxShard::new(row.parse(6, AppId::parse)?, row.number(7)?),
        })
    }

    fn key(&self) -> Vec<Value> {
        let OutboxShard { app, number } = self.shard;
        vec![self.offer.offer.as_str().into(), app.to_string().into(), number.into()]
    }

    fn version(&self) -> Vec<Value> {
        vec![self.offer.current.revision.into()]
    }

    fn receiver(&self) -> ObjectAddress {
        self.shard.address()
    }

    fn operation(&self) -> SetOffer {
        self.offer.clone()
    }
}

/// Reads an offer's current values from the first columns of a row.
pub fn current(row: &Row) -> DbResult<CurrentOffer> {
    Ok(CurrentOffer {
        revision: row.integer(0)?,
        terms: in_force(row, 1)?,
        conversion_cap: row.optional_number(3)?,
        min_seconds_to_convert: row.optional_number(4)?,
    })
}

/// Records that an outbox has an offer's terms and the offer's current cap, within the caller's transaction.
pub fn record_outbox(db: &impl Database, context: &Context<'_>, offer_id: &str, app: AppId, shard: u8) -> DbResult {
    let outbox = params![offer_id, app.to_string(), shard];
    if db.query(sql::RECORD_OFFER_OUTBOX, outbox)?.is_empty() {
        return Ok(());
    }
    lasting::add(db, context, &Lasting::OfferOutbox(offer_id.to_owned(), app, shard))
}

/// Lists the outboxes that have an offer's terms.
pub fn list_outboxes(db: &impl Database, offer: &OfferId) -> Result<OperatorReply> {
    let outboxes = db.read_all(sql::LIST_OFFER_OUTBOXES, params![offer.as_str()], |row| {
        Ok((row.text(0)?.to_owned(), row.integer(1)?))
    })?;
    Ok(OperatorReply::ok(&json!(outboxes)))
}

/// Queues an offer's changed cap for each of its outboxes, within the caller's transaction.
pub fn enqueue(db: &impl Database, offer_id: &str, now_ms: i64) -> DbResult {
    let due_at_ms = now_ms.saturating_add(FIRST_PUSH_MS);
    db.execute(sql::QUEUE_CAP, params![due_at_ms, offer_id])
}

/// Returns the outboxes that do not have an offer's cap yet, whether due or not.
pub fn queued_of(db: &impl Database, offer: &OfferId) -> DbResult<Vec<QueuedCap>> {
    QueuedCap::list(db, sql::LIST_QUEUED_CAPS, params![offer.as_str()])
}

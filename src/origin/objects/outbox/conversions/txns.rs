//! The senders' own ids of conversions (`txn`). Before a conversion is written, its click claims the id for the whole
//! app, in the outbox that a hash of the id selects. If the conversion is then refused, the claim is freed.

use crate::{
    delivery::backoff::wait_ms,
    objects::outbox::{peers::Peers, sql},
};
use contract::outbox::{Conversion, OutboxShard, Txn};
use domain::{
    callbacks::shards,
    conversions::log_number::{SHARDS, lowest_number},
    model::{AdvertiserId, AppId},
};
use platform::{Database, DbResult, Failure, Result, Row, Value, concurrent::try_each, database::json, log, params};

/// Maximum claims that one call frees.
const PAGE: usize = 60;

/// Returns a new, numbered claim on a conversion's `txn`; `None` if the conversion has no `txn`.
pub fn number(
    db: &impl Database,
    conversion: &Conversion,
    advertiser: &AdvertiserId,
    goal: &str,
) -> Result<Option<Txn>> {
    let Some(txn) = &conversion.txn else {
        return Ok(None);
    };
    Ok(Some(Txn {
        advertiser: advertiser.clone(),
        goal: goal.to_owned(),
        txn: txn.clone(),
        nonce: conversion.nonce.clone(),
        number: next_number(db)?,
    }))
}

/// Returns a number that no other claim of this outbox has.
pub fn next_number(db: &impl Database) -> Result<i64> {
    let number = db.query_integer(sql::NEXT_CLAIM, &[])?;
    number.ok_or_else(|| Failure::Internal("the outbox has no state row".into()))
}

/// Returns the outbox that keeps the claims of a `txn`.
pub fn keeper(app: AppId, outboxes: u8, txn: &Txn) -> OutboxShard {
    OutboxShard::new(app, shards::of_txn(&txn.advertiser, &txn.txn, outboxes))
}

/// Claims a `txn` in this outbox, which is `shard`. Returns false if another click has claimed the `txn`.
pub fn claim(db: &impl Database, now_ms: i64, shard: OutboxShard, txn: &Txn) -> DbResult<bool> {
    let [advertiser, goal, id, nonce, number] = parameters(txn);
    db.transaction(|| {
        let claimed = db.query_first(sql::CLAIM_TXN, &[advertiser, goal, id, nonce, number, now_ms.into()])?;
        if claimed.is_none() {
            return Ok(false);
        }
        let nonce = hex::encode_upper(&txn.nonce.0);
        let claim = json(&(&txn.advertiser, &txn.goal, &txn.txn, nonce, txn.number, now_ms))?;
        db.execute(sql::CHANGE, params![lowest_number(now_ms, shard.number), SHARDS, Value::Null, claim])?;
        Ok(true)
    })
}

/// True if no other click has claimed the `txn` in this outbox.
pub fn is_free(db: &impl Database, txn: &Txn) -> DbResult<bool> {
    let [advertiser, goal, id, nonce, _] = parameters(txn);
    db.query_boolean(sql::TXN_IS_FREE, &[advertiser, goal, id, nonce])
}

/// Ends a claim in this outbox.
pub fn free(db: &impl Database, txn: &Txn) -> DbResult {
    db.execute(sql::FREE_TXN, &parameters(txn))
}

fn parameters(txn: &Txn) -> [Value; 5] {
    [
        txn.advertiser.as_str().into(),
        txn.goal.as_str().into(),
        txn.txn.as_str().into(),
        txn.nonce.0.clone().into(),
        txn.number.into(),
    ]
}

/// Queues a claim of this outbox to be freed, within the caller's transaction.
pub fn queue_free(db: &impl Database, now_ms: i64, txn: &Txn) -> DbResult {
    db.execute(sql::QUEUE_FREE, params![txn.number, now_ms, json(txn)?])
}

/// Frees the claims that are due. A call that the keeper does not confirm is retried with backoff. Returns whether more
/// claims can be freed right away.
pub async fn free_due(db: &impl Database, peers: &impl Peers) -> Result<bool> {
    let now_ms = peers.now_ms();
    let due = db.query(sql::DUE_FREES, params![now_ms, PAGE])?;
    let due = due.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    for (number, attempts, _) in &due {
        let due_ms = now_ms.saturating_add(wait_ms(*attempts));
        db.execute(sql::PUT_FREE_OFF, params![due_ms, attempts.saturating_add(1), *number])?;
    }
    peers.committed()?;
    let is_full = due.len() == PAGE;
    let free = async |(number, _, txn)| match peers.free_txn(&txn).await {
        Ok(()) => db.execute(sql::FREED, params![number]).map(|()| true),
        Err(failure) => {
            log::warn("outbox", format_args!("a txn was not freed, and is tried again: {failure}"));
            Ok(false)
        }
    };
    let freed = try_each(due, free).await?;
    Ok(is_full && freed.contains(&true))
}

fn read(row: &Row) -> DbResult<(i64, u32, Txn)> {
    Ok((row.integer(0)?, row.number(1)?, row.json(2)?))
}

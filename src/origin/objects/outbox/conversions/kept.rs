//! Postbacks whose terms the catalog has lost. No other terms were promised, so nothing is paid yet. The sender is told
//! to retry. The postback is kept here and decided once the terms are available again. The operator is told which terms
//! are missing.

use std::collections::BTreeSet;

use contract::{
    catalog::LOST_TERMS,
    outbox::{Answer, Conversion, OutboxShard},
};
use domain::{
    conversions::table::Event,
    model::{AdvertiserId, HOUR_MS, common},
};
use platform::{Database, DbResult, Failure, Result, database::json, params};

use super::goals;
use crate::{
    delivery::backoff::{FIRST_WAIT_MS, wait_ms},
    objects::outbox::{erasure, peers::Peers, sql},
};

/// How long an unknown goal may be a new goal that has not arrived yet, in milliseconds.
const GOAL_ARRIVES_MS: i64 = HOUR_MS;
/// Maximum postbacks that one alarm decides.
const PAGE: usize = 60;

/// Keeps a postback whose terms are lost, and returns the refusal for its sender. `failure` names the terms. An action
/// of the operator gets the same refusal, but is not kept. Any other failure is returned unchanged.
pub fn keep(db: &impl Database, now_ms: i64, conversion: &Conversion, failure: Failure) -> DbResult<Failure> {
    let lacks = match &failure {
        Failure::Refused(refusal) if refusal.code == LOST_TERMS.code => refusal.message.as_ref(),
        _ => return Ok(failure),
    };
    let refusal = common::UNAVAILABLE
        .with_message("the terms of the click are missing; the postback is stored, and may be sent again");
    let Event::Postback(status) = conversion.event else {
        return Ok(refusal.into());
    };
    if erasure::is_of_erased(db, &conversion.click)? {
        return Ok(common::UNAVAILABLE.into());
    }
    let kept = Conversion { received_ms: conversion.received_ms.or(Some(now_ms)), ..conversion.clone() };
    db.execute(
        sql::KEEP_POSTBACK,
        params![
            conversion.nonce.0.clone(),
            conversion.goal.as_deref().unwrap_or_default(),
            status.as_str(),
            conversion.advertiser.as_ref().map_or("", AdvertiserId::as_str),
            &*conversion.click.user_id,
            lacks,
            now_ms,
            now_ms.saturating_add(FIRST_WAIT_MS),
            json(&kept)?
        ],
    )?;
    Ok(refusal.into())
}

/// Decides the kept postbacks that are due. If a postback cannot be decided, it is due again later, and this call skips
/// the other postbacks that lack the same terms. Returns whether more postbacks are due.
pub async fn decide_due(
    db: &impl Database,
    peers: &impl Peers,
    convert: impl AsyncFn(&Conversion) -> Result<Answer>,
) -> Result<bool> {
    let now_ms = peers.now_ms();
    let due = db.query(sql::DUE_KEPT, params![now_ms, PAGE])?;
    let mut missing = BTreeSet::new();
    for row in &due {
        let due_ms = now_ms.saturating_add(wait_ms(row.number(1)?));
        db.execute(sql::PUT_KEPT_OFF, params![due_ms, row.integer(0)?])?;
    }
    if !due.is_empty() {
        peers.committed()?;
    }
    for row in &due {
        let (number, lacks) = (row.integer(0)?, row.text(2)?);
        if missing.contains(lacks) {
            continue;
        }
        // The postback is read only now, because its user may have been erased while others were decided.
        let Some(kept) = db.query_first(sql::GET_KEPT, params![number])? else {
            continue;
        };
        let conversion: Conversion = kept.json(0)?;
        let outcome = convert(&conversion).await;
        if is_temporary(&outcome) && !lacks_goal(now_ms, &conversion, &outcome) {
            missing.insert(lacks);
            continue;
        }
        if db.query_first(sql::DROP_KEPT, params![number])?.is_none() {
            // The user was erased while the postback was decided.
            let click = &conversion.click;
            let shard = OutboxShard::new(click.app, click.shard);
            erasure::erase(db, now_ms, shard, &click.user_id)?;
        }
    }
    Ok(due.len() == PAGE)
}

/// True if the terms are available again, but neither these nor newer terms have the goal, and a new goal would have
/// arrived by now.
fn lacks_goal<T>(now_ms: i64, conversion: &Conversion, outcome: &Result<T>) -> bool {
    let received_ms = conversion.received_ms.unwrap_or(now_ms);
    let has_waited = now_ms.saturating_sub(received_ms) > GOAL_ARRIVES_MS;
    has_waited && matches!(outcome, Err(Failure::Refused(refusal)) if refusal.message == goals::NOT_KNOWN_YET)
}

/// True if the outcome is an error that may not recur on a retry.
pub fn is_temporary<T>(outcome: &Result<T>) -> bool {
    match outcome {
        Ok(_) => false,
        Err(Failure::Refused(refusal)) => refusal.status >= 500,
        Err(Failure::Internal(_)) => true,
    }
}

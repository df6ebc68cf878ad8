//! Steps over many conversions: conversions that the operator settles, and conversions that were held for a reason that
//! has passed. The argument `convert` is the function that decides one conversion.

use super::{
    kept,
    settlement::{conversion, matching, of_entry},
};
use crate::objects::outbox::{endpoint, gap, peers::Peers, sql};
use contract::outbox::{Answer, Conversion, OutboxShard, Settle, SettleFilter, SettleMany, Settled};
use domain::conversions::{state::State, table::Action};
use platform::{Database, Failure, Result, params};

/// Settles the conversions of a step, one after the other.
///
/// # Errors
/// The first temporary error. Earlier conversions of the step were settled.
pub async fn settle_step(
    db: &impl Database,
    peers: &impl Peers,
    shard: OutboxShard,
    many: &SettleMany,
    convert: impl AsyncFn(&Conversion) -> Result<Answer>,
) -> Result<Settled> {
    let (matching, next) = matching(db, many)?;
    let mut settled = Settled {
        count: u32::try_from(matching.len()).unwrap_or(u32::MAX),
        payout_micro_usd: matching.iter().map(|(_, payout)| payout).sum(),
        next,
        ..Settled::default()
    };
    if many.dry_run {
        return Ok(settled);
    }
    for (transaction_id, payout_micro_usd) in matching {
        let settle =
            Settle { transaction_id, action: many.action, reason: many.reason.clone(), despite: many.despite.clone() };
        let answer = match conversion(db, peers.now_ms(), shard, &settle) {
            Ok(conversion) => convert(&conversion).await,
            Err(failure) => Err(failure),
        };
        match answer {
            Ok(answer) if answer.duplicate => {}
            Ok(_) => {
                settled.settled += 1;
                settled.settled_micro_usd += payout_micro_usd;
            }
            Err(Failure::Refused(refusal)) if refusal.status < 500 => {
                *settled.refused.entry(refusal.code.to_owned()).or_default() += 1;
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(settled)
}

/// Re-evaluates the held conversions of one step, once a suspension or the holds after a restore have ended. Returns
/// whether more conversions may follow.
///
/// # Errors
/// The first temporary error. The step is then retried for the conversions that are still held.
pub async fn release_step(
    db: &impl Database,
    peers: &impl Peers,
    convert: impl AsyncFn(&Conversion) -> Result<Answer>,
) -> Result<bool> {
    gap::end(db, peers)?;
    let released = db.query_integer(sql::GET_RELEASED, &[])?;
    let state = endpoint::read(db)?.filter(|state| !state.callback.is_suspended);
    let (Some(after), Some(state)) = (released, state) else {
        return Ok(false);
    };
    let held = SettleMany {
        filter: SettleFilter { status: "held".into(), ..SettleFilter::default() },
        action: Action::Approve,
        reason: String::new(),
        despite: Vec::new(),
        dry_run: false,
        after,
    };
    let (matching, next) = matching(db, &held)?;
    let mut outcome = Ok(());
    for (transaction_id, _) in matching {
        let (held, _, conversion) = of_entry(db, state.shard, &transaction_id)?;
        if !matches!(held, State::Held(reason) if reason.passes()) {
            continue;
        }
        let judged = convert(&conversion).await;
        if kept::is_temporary(&judged) {
            outcome = outcome.and(judged.map(drop));
        }
    }
    outcome?;
    // If the publisher was suspended again during this step, this write changes nothing, and the next release starts
    // over.
    db.execute(sql::SET_RELEASED, params![next, state.callback.revision])?;
    Ok(next.is_some())
}

//! Dry-runs a postback: applies the rules of [`crate::objects::outbox::conversions`] with statements that only read.

use std::rc::Rc;

use super::{
    Claim,
    decision::{Decision, Verdict, decide},
    txns,
};
use crate::objects::outbox::{
    calls, endpoint,
    peers::Peers,
    terms::{Holds, Revision, Terms},
};
use contract::{
    counters::ReadTaken,
    outbox::{CheckPostback, CheckedPostback, FindTxn, NumberedTerms, OutboxShard, Txn},
};
use domain::{
    conversions::{
        parameters::INVALID_CLICK_ID,
        reward::check_life,
        state::{Reason, State, Status},
        table::Transition,
    },
    model::{OfferId, UtcDay},
};
use platform::{Database, Failure, ObjectCall, Result};

/// # Errors
/// The refusal that the postback would get. Or another object did not answer, or the database failed.
pub async fn check(
    db: &impl Database,
    peers: &impl Peers,
    runtime: &impl ObjectCall,
    check: &CheckPostback,
) -> Result<CheckedPostback> {
    let mut claim = Claim::Open;
    loop {
        match judge(db, peers, check, &claim)? {
            PartialVerdict::Unclaimed(txn) => {
                claim = if is_free(db, runtime, check, &txn).await? { Claim::Made(txn) } else { Claim::Refused };
            }
            PartialVerdict::Answered(answered) => return Ok(answered),
            PartialVerdict::Takes { answered, cap, offer } => {
                let day = UtcDay::of_ms(peers.now_ms());
                let counters = calls::counters_of(&offer);
                let taken = calls::ask(runtime, &counters, ReadTaken { offer, day }).await?;
                return if taken.conversions < cap { Ok(answered) } else { Err(Reason::Capped.refusal().into()) };
            }
        }
    }
}

/// The answer to a postback, as far as this outbox alone can decide it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartialVerdict {
    /// The outbox that keeps the `txn` must be asked first whether the `txn` is free.
    Unclaimed(Txn),
    Answered(CheckedPostback),
    /// The answer if the offer's cap is not spent.
    Takes {
        answered: CheckedPostback,
        cap: u32,
        offer: OfferId,
    },
}

/// # Errors
/// The refusal that the postback would get. Or the database failed.
pub fn judge(db: &impl Database, peers: &impl Peers, check: &CheckPostback, claim: &Claim) -> Result<PartialVerdict> {
    let now_ms = peers.now_ms();
    let conversion = &check.conversion;
    check_life(conversion.click.clicked_at_ms, now_ms)?;
    let terms = terms_of(db, check)?;
    let Decision { approval, row, step, verdict } = decide(db, peers, now_ms, conversion, &terms, claim)?;
    let answered = |status: Status, is_duplicate: bool, reason| {
        let answer = approval.answer(status, is_duplicate)?;
        Ok::<_, Failure>(CheckedPostback { answer, reason })
    };
    match verdict {
        // An earlier copy of the postback waits for the cap and would be paid first.
        Verdict::Reserved(_) => {
            return Ok(PartialVerdict::Answered(answered(Status::Approved, true, None)?));
        }
        Verdict::Unclaimed => {
            let txn = conversion.txn.clone().unwrap_or_default();
            return Ok(PartialVerdict::Unclaimed(Txn {
                advertiser: approval.advertiser,
                goal: approval.goal,
                txn,
                nonce: conversion.nonce.clone(),
                number: 0,
            }));
        }
        Verdict::Against(reason, refusal) => {
            return match step.objected(reason) {
                Some(state @ State::Held(_)) => {
                    let status = state.answer().unwrap_or_default();
                    Ok(PartialVerdict::Answered(answered(status, false, Some(reason))?))
                }
                _ => Err(refusal.into()),
            };
        }
        Verdict::Nothing => {}
    }
    let current = row.map(|row| row.state);
    let same = current.filter(|_| step == Transition::Repeat);
    let state = step.outcome().map(|(state, _)| state).or(same);
    let state = state.ok_or_else(|| {
        Failure::Internal(format!("the transition {step:?} has no resulting state, so a postback cannot cause it"))
    })?;
    let status = state.answer().map_err(Failure::from)?;
    let answered = answered(status, step == Transition::Repeat, state.reason())?;
    let current = conversion.current.offer.as_ref();
    Ok(match current.and_then(|current| current.conversion_cap) {
        Some(cap) if step.pays() => PartialVerdict::Takes { answered, cap, offer: terms.offer },
        _ => PartialVerdict::Answered(answered),
    })
}

/// Returns the terms that came with the command, with the app's limit that this outbox has stored.
fn terms_of(db: &impl Database, check: &CheckPostback) -> Result<Terms> {
    let revision =
        |numbered: &NumberedTerms| Revision { number: numbered.revision, terms: Rc::new(numbered.terms.clone()) };
    let current = check.conversion.current.offer.as_ref();
    let app = endpoint::read(db)?.and_then(|state| state.current);
    Ok(Terms {
        offer: OfferId::parse(&check.conversion.click.offer).ok_or(INVALID_CLICK_ID)?,
        paying: revision(&check.paying),
        current: check.current.as_ref().map(revision),
        currency: check.currency.clone(),
        superseded: check.current.is_some(),
        is_newest: check.conversion.current.is_recent && current.is_some(),
        holds: Holds {
            min_seconds_to_convert: current.and_then(|current| current.min_seconds_to_convert),
            max_rewards_per_user_day: app.and_then(|app| app.max_rewards_per_user_day),
        },
    })
}

/// Asks the outbox that keeps a `txn` whether the postback's click could claim the `txn`.
async fn is_free(db: &impl Database, runtime: &impl ObjectCall, check: &CheckPostback, txn: &Txn) -> Result<bool> {
    let click = &check.conversion.click;
    let own = OutboxShard::new(click.app, click.shard);
    let keeper = txns::keeper(own.app, check.outbox_shards, txn);
    if keeper == own {
        return Ok(txns::is_free(db, txn)?);
    }
    Ok(calls::ask(runtime, &keeper.address(), FindTxn(txn.clone())).await?.claimed)
}

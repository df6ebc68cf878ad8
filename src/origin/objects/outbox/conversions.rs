//! Applies the table of states (`domain::conversions::table`) to an outbox's rows (docs/DECISIONS.md, "Conversions").
//! [`admit`] and [`settle`] are one transaction each; [`commit`] runs them and takes from the cap between them.
//!
//! - `decision`: decides without a write; [`rows`], [`goals`] and [`reservations`]: the data that it reads;
//! - [`kept`]: postbacks whose terms are lost;
//! - [`txns`]: the senders' own ids; [`rewarded`]: one reward for a user and a goal;
//! - [`settlement`]: an action of the operator; [`check`]: the dry run of a postback.

pub mod check;
pub mod commit;
mod decision;
pub mod goals;
pub mod kept;
pub mod reservations;
pub mod rewarded;
pub mod rows;
pub mod settlement;
pub mod steps;
pub mod txns;

use super::{
    approval::Approval,
    log::entries,
    peers::Peers,
    terms::{self, Terms},
};
use crate::objects::outbox::erasure;
use contract::{
    counters::{CapKind, Take},
    outbox::{Answer, Conversion, Txn},
};
use decision::{Decision, Verdict};
use domain::{
    conversions::{
        state::{Movement, Reason, State},
        table::{Transition, step},
    },
    model::{ApiError, UtcDay},
};
use platform::{Database, Failure, Result};
use reservations::Reservation;
use rows::ConversionRow;

/// How many days after its receipt a conversion is still taken from that day's cap. The counters keep takes for 30 days.
const RECEIPT_DAYS: i32 = 20;

/// The result of [`admit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    Settled(Answer),
    /// Refused. A new conversion is logged as refused.
    Refused(ApiError),
    /// The conversion's `txn` must be claimed next.
    Unclaimed(Txn),
    /// The cap must be taken next. `own` is true if this postback made the reservation. If it is false, an earlier copy
    /// of the postback made the reservation, which must be settled first.
    Reserved {
        reservation: Box<Reservation>,
        own: bool,
    },
}

/// The state of the claim on a postback's `txn`. `Open` means that the claim has not been tried yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    Open,
    Made(Txn),
    /// Another click has claimed the `txn`.
    Refused,
}

/// Decides a postback or an action of the operator from the stored rows and the terms, and writes the result: the
/// conversion, or a reservation if the offer has a cap.
///
/// # Errors
/// A refusal that leaves no entry in the log: another advertiser's token, an unknown goal, or an action that the state
/// does not allow. Or the database failed.
pub fn admit(
    db: &impl Database,
    peers: &impl Peers,
    conversion: &Conversion,
    terms: &Terms,
    claim: &Claim,
) -> Result<Admission> {
    // The whole command uses one time, because around midnight the log and the batch must name the same day.
    let now_ms = peers.now_ms();
    let Decision { mut approval, row, step, verdict } = decision::decide(db, peers, now_ms, conversion, terms, claim)?;
    let row = row.as_ref();
    match verdict {
        Verdict::Reserved(reservation) => {
            return Ok(Admission::Reserved { reservation, own: false });
        }
        Verdict::Unclaimed => {
            let numbered = txns::number(db, conversion, &approval.advertiser, &approval.goal)?;
            let missing = || Failure::Internal("a claim without a txn".into());
            return Ok(Admission::Unclaimed(numbered.ok_or_else(missing)?));
        }
        Verdict::Against(reason, refusal) => {
            return match step.objected(reason) {
                Some(State::Refused(_)) => {
                    if *claim == Claim::Open {
                        // An earlier copy of the postback, whose answer was lost, may have claimed the `txn`. The
                        // refusal frees that claim.
                        approval.txn = txns::number(db, conversion, &approval.advertiser, &approval.goal)?;
                    }
                    db.transaction(|| refuse(db, peers, now_ms, &approval, row, reason))?;
                    Ok(Admission::Refused(refusal))
                }
                Some(state) => {
                    db.transaction(|| rows::store(db, peers, now_ms, &approval, row, state))?;
                    let status = state.answer().unwrap_or_default();
                    Ok(Admission::Settled(approval.answer(status, false)?))
                }
                None => {
                    db.transaction(|| free_of_refused(db, now_ms, &approval, row))?;
                    Ok(Admission::Refused(refusal))
                }
            };
        }
        Verdict::Nothing => {}
    }
    let cap = terms::cap(db, peers, &terms.offer)?;
    approval.uncapped = cap.is_none();
    if step.pays()
        && let Some((limit, revision)) = cap
    {
        let take = Take {
            kind: CapKind::Conversion,
            key: format!("{}/{}", hex::encode(&conversion.nonce.0), approval.goal),
            offer: approval.offer.clone(),
            day: day_of_cap(conversion, now_ms),
            limit,
            revision,
            by_force: step == Transition::Force,
            asker: None,
        };
        let reservation = reservations::create(db, now_ms, approval, take)?;
        return Ok(Admission::Reserved { reservation: Box::new(reservation), own: true });
    }
    let answer = db.transaction(|| commit(db, peers, now_ms, &approval, row, step))?;
    Ok(Admission::Settled(answer))
}

/// Returns the day from whose cap a conversion is taken: the day of receipt, except for a postback that was kept for so
/// long that the counters may forget that day while its take is retried.
fn day_of_cap(conversion: &Conversion, now_ms: i64) -> UtcDay {
    let today = UtcDay::of_ms(now_ms);
    let received = conversion.received_ms.map(UtcDay::of_ms);
    received.filter(|day| *day >= today.minus(RECEIPT_DAYS)).unwrap_or(today)
}

/// Returns the state in which a reserved conversion is held, if the outbox was restored or the publisher suspended after
/// the reservation was made.
pub fn held_state(db: &impl Database, peers: &impl Peers, reservation: &Reservation) -> Result<Option<State>> {
    let (now_ms, approval) = (peers.now_ms(), &reservation.approval);
    let conversion = &approval.conversion;
    for reason in [Reason::AfterRestore, Reason::Suspended] {
        if decision::holds_now(db, peers, now_ms, conversion, reason)? {
            let (rows, _) = rows::of_click(db, &conversion.nonce.0)?;
            let row = rows.iter().find(|row| row.goal == approval.goal);
            // An operator's approval is not held.
            return Ok(step(row.map(|row| row.state), conversion.event).objected(reason));
        }
    }
    Ok(None)
}

/// The end of a reservation.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// The cap was taken, so the conversion is paid.
    Taken,
    /// The cap is spent, so the conversion is refused.
    Spent,
    /// The conversion is held in this state, whether or not the cap was taken.
    Held(State),
}

/// Ends a reservation. If another task has already ended it, nothing is written and the stored state is the answer.
pub fn settle(
    db: &impl Database,
    peers: &impl Peers,
    reservation: &Reservation,
    end: End,
) -> Result<Result<Answer, ApiError>> {
    let now_ms = peers.now_ms();
    let approval = &reservation.approval;
    let nonce = &approval.conversion.nonce.0;
    db.transaction(|| {
        let ended = reservations::end(db, reservation)?;
        let (rows, _) = rows::of_click(db, nonce)?;
        let row = rows.iter().find(|row| row.goal == approval.goal);
        let current = row.map(|row| row.state);
        let Some(erase) = ended else {
            let state = match current {
                // Only approvals are reserved. A conversion that is still pending was therefore refused by the cap.
                None | Some(State::Pending) => State::Refused(Reason::Capped),
                Some(state) => state,
            };
            return match state.answer() {
                Ok(status) => Ok(Ok(approval.answer(status, false)?)),
                Err(refusal) => Ok(Err(refusal)),
            };
        };
        let settled = match end {
            // All events of a conversion wait for its reservation, so the conversion's state has not changed since
            // admission.
            End::Taken => {
                let step = step(current, approval.conversion.event);
                Ok(commit(db, peers, now_ms, approval, row, step)?)
            }
            End::Spent => {
                // A pending conversion stays pending: its window and txn were accepted, and the cap may be free
                // tomorrow.
                if current != Some(State::Pending) {
                    refuse(db, peers, now_ms, approval, row, Reason::Capped)?;
                }
                Err(Reason::Capped.refusal())
            }
            End::Held(state) => {
                rows::store(db, peers, now_ms, approval, row, state)?;
                Ok(approval.answer(state.answer().unwrap_or_default(), false)?)
            }
        };
        if erase {
            erasure::mark(db, &approval.transaction_id(Movement::Reward)?)?;
        }
        Ok(settled)
    })
}

/// Writes a refusal, and frees the `txn` that was claimed before the refusal, within the caller's transaction.
fn refuse(
    db: &impl Database,
    peers: &impl Peers,
    now_ms: i64,
    approval: &Approval,
    row: Option<&ConversionRow>,
    reason: Reason,
) -> Result {
    if let Some(txn) = &approval.txn {
        txns::queue_free(db, now_ms, txn)?;
    }
    if row.is_none_or(|row| row.state != State::Refused(reason)) {
        rows::store(db, peers, now_ms, approval, row, State::Refused(reason))?;
    }
    Ok(())
}

/// Frees the `txn` that was claimed for a conversion that stays refused. A pending or held conversion keeps its claim.
fn free_of_refused(db: &impl Database, now_ms: i64, approval: &Approval, row: Option<&ConversionRow>) -> Result {
    match (&approval.txn, row.map(|row| row.state)) {
        (Some(txn), Some(State::Refused(_))) => Ok(txns::queue_free(db, now_ms, txn)?),
        _ => Ok(()),
    }
}

/// Carries out a step that no reason prevents, within the caller's transaction.
fn commit(
    db: &impl Database,
    peers: &impl Peers,
    now_ms: i64,
    approval: &Approval,
    row: Option<&ConversionRow>,
    step: Transition,
) -> Result<Answer> {
    let duplicate = step == Transition::Repeat;
    let same = row.filter(|_| duplicate).map(|row| (row.state, None));
    let (state, movement) = step.outcome().or(same).ok_or_else(|| {
        Failure::Internal(format!("the transition {step:?} has no resulting state, so it cannot be committed"))
    })?;
    if !(duplicate && row.is_some_and(|row| row.has_name(approval.name()))) {
        rows::store(db, peers, now_ms, approval, row, state)?;
    }
    if let Some(movement) = movement {
        entries::move_money(db, now_ms, approval, movement, row.is_none())?;
    }
    let status = state.answer().map_err(|_| Failure::Internal("a refusal cannot be committed".into()))?;
    approval.answer(status, duplicate)
}

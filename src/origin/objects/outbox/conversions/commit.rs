//! The order of a conversion's writes (docs/DECISIONS.md, "Conversions"), so that nothing is lost if another object
//! does not answer. A reservation is durable before the cap is taken, and the counters' answer is written together with
//! its consequences. The alarm or another copy of the postback resumes from the stored state.

use futures_util::future::join_all;

use super::{
    Admission, Claim, End, admit, held_state,
    reservations::{Reservation, overdue, put_off},
    settle, txns,
};
use crate::{
    delivery::backoff::wait_ms,
    objects::outbox::{peers::Peers, terms::Terms},
};
use contract::outbox::{Answer, Conversion};
use domain::model::common;
use platform::{CONNECTIONS, Database, Failure, Result};

/// Maximum reservations that one call resumes.
const PAGE: usize = 60;

/// Carries out a postback. The returned answer is durable.
///
/// # Errors
/// The refusal; or `unavailable` if another object does not answer. Then the alarm or the next copy of the postback
/// resumes.
pub async fn convert(db: &impl Database, peers: &impl Peers, conversion: &Conversion, terms: &Terms) -> Result<Answer> {
    if conversion.click.app.is_test() {
        peers.state_cache().take_test(peers.now_ms())?;
    }
    let mut claim = Claim::Open;
    // An earlier copy's reservation is settled first, because its result decides this postback. Then the txn is
    // claimed, and this copy's reservation is settled.
    for _ in 0..4 {
        let admitted = admit(db, peers, conversion, terms, &claim)?;
        peers.committed()?;
        let (reservation, own) = match admitted {
            Admission::Settled(answer) => return Ok(answer),
            Admission::Refused(refusal) => {
                if conversion.txn.is_some() {
                    peers.resume_soon();
                }
                return Err(refusal.into());
            }
            Admission::Unclaimed(txn) => {
                claim = if peers.claim_txn(&txn).await? { Claim::Made(txn) } else { Claim::Refused };
                continue;
            }
            Admission::Reserved { reservation, own } => (reservation, own),
        };
        let settled = finish(db, peers, &reservation).await?;
        if own {
            return settled;
        }
    }
    // This copy gives up, because between its steps other copies were refused and made new reservations.
    Err(common::UNAVAILABLE.into())
}

/// Takes from the cap and settles the reservation. Returns the answer for the postback that made the reservation.
async fn finish(db: &impl Database, peers: &impl Peers, reservation: &Reservation) -> Result<Result<Answer>> {
    let end = match held_state(db, peers, reservation)? {
        Some(state) => End::Held(state),
        None if !take(peers, reservation).await? => End::Spent,
        // The publisher may have been suspended meanwhile.
        None => held_state(db, peers, reservation)?.map_or(End::Taken, End::Held),
    };
    let settled = settle(db, peers, reservation, end)?;
    peers.committed()?;
    if matches!(end, End::Spent) && reservation.approval.txn.is_some() {
        peers.resume_soon();
    }
    Ok(settled.map_err(Failure::from))
}

/// Takes from the cap. The counters do not count test apps. The cap of a test offer always counts as spent, so only a
/// forced take succeeds.
async fn take(peers: &impl Peers, reservation: &Reservation) -> Result<bool> {
    match reservation.approval.conversion.click.app.is_test() {
        true => Ok(reservation.take.by_force),
        false => peers.take(&reservation.take).await,
    }
}

/// Resumes reservations whose requests have ended, and frees the claims of refused conversions. A call without an
/// answer is retried with backoff. Returns whether more reservations or claims can be handled right away.
///
/// # Errors
/// The first error. The other reservations were resumed nevertheless.
pub async fn resume_overdue(db: &impl Database, peers: &impl Peers) -> Result<bool> {
    let freed = txns::free_due(db, peers).await;
    let mut reservations = overdue(db, peers.now_ms(), PAGE)?.into_iter();
    let is_full = reservations.len() == PAGE;
    let (mut settled, mut outcome) = (false, Ok(()));
    while reservations.len() > 0 {
        let some = reservations.by_ref().take(CONNECTIONS);
        let resumes = some.map(|(attempts, reservation)| resume_one(db, peers, attempts, reservation));
        for resumed in join_all(resumes).await {
            settled |= resumed.is_ok();
            outcome = outcome.and(resumed);
        }
    }
    let has_more = freed?;
    outcome.map(|()| has_more || (is_full && settled))
}

async fn resume_one(db: &impl Database, peers: &impl Peers, attempts: u32, reservation: Reservation) -> Result {
    let due_ms = peers.now_ms().saturating_add(wait_ms(attempts));
    let is_open = put_off(db, &reservation, due_ms, attempts.saturating_add(1))?;
    peers.committed()?;
    if is_open {
        finish(db, peers, &reservation).await?.map(drop).or_else(ignore_refusal)?;
    }
    Ok(())
}

/// For the alarm a refusal is a success, because it concerns only the postback's sender.
fn ignore_refusal(failure: Failure) -> Result {
    match failure {
        Failure::Refused(_) => Ok(()),
        failure => Err(failure),
    }
}

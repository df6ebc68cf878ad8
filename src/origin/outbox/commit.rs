//! The order in which a conversion is written (docs/DECISIONS.md, "Conversions"), over other objects that may not answer: a
//! reservation is durable before the cap is asked, and what the cap said is written with what follows from it. Whoever
//! comes next, the alarm or another copy, goes on from what is stored.

use futures_util::future::join_all;

use super::{
    conversions::{Admitted, admit, settle},
    endpoint::{self, StateCache},
    reservations::{Reservation, overdue, put_off},
};
use crate::batches::wait_ms;
use contract::{
    catalog::Terms,
    counters::Take,
    outbox::{Answer, Conversion},
};
use domain::model::api_error::common;
use platform::{CONNECTIONS, database::Database, failure::Failure};

/// Reservations that are taken up in one go.
const PAGE: usize = 60;

/// What a conversion needs of others, and of the clock, once its terms are known.
pub trait Peers {
    fn now_ms(&self) -> i64;

    /// By how much a try that is under way has put its callback off.
    fn under_way_ms(&self) -> i64;

    /// What the process remembers of what it has state_cache; `None` where it reads it anew each time.
    fn state_cache(&self) -> Option<&StateCache> {
        None
    }

    /// Takes one of an offer's cap, once for a key; whether there was one.
    #[expect(async_fn_in_trait, reason = "an object runs on one thread")]
    async fn take(&self, take: &Take) -> Result<bool, Failure>;

    /// Called after each commit and before anything is waited for: the alarm is part of the commit.
    fn committed(&self) -> Result<(), Failure>;
}

/// Carries a postback out, by terms that were asked for after it came. The answer may go out: what it says is written.
///
/// # Errors
/// What is refused; `unavailable` if the counters do not answer, and then what was begun is finished by the alarm or by
/// the next copy.
pub async fn convert(
    db: &impl Database,
    peers: &impl Peers,
    conversion: &Conversion,
    terms: &Terms,
) -> Result<Answer, Failure> {
    if !peers
        .state_cache()
        .is_some_and(|state_cache| state_cache.covers(&terms.callback))
    {
        // Before it is written: a write that reports an error may have happened.
        if let Some(state_cache) = peers.state_cache() {
            state_cache.set_nowhere(false);
        }
        let released = endpoint::learn(
            db,
            peers.now_ms(),
            conversion.click.app,
            Some(&terms.publisher_id),
            &terms.callback,
            peers.under_way_ms(),
        )?;
        // What waited for a callback's new settings is due, also if this postback is refused.
        if released {
            peers.committed()?;
        }
        if let Some(state_cache) = peers.state_cache() {
            state_cache.note(&terms.callback);
        }
    }
    // An earlier copy that got no further is finished first; then this one is judged by what it left.
    for _ in 0..3 {
        let admitted = admit(db, peers.now_ms(), conversion, terms)?;
        peers.committed()?;
        let (reservation, own) = match admitted {
            Admitted::Settled(answer) => return Ok(answer),
            Admitted::Refused(refusal) => return Err(refusal.into()),
            Admitted::Reserved { reservation, own } => (reservation, own),
        };
        let settled = finish(db, peers, &reservation).await?;
        if own {
            return settled;
        }
    }
    // Copies that are refused and judged afresh, faster than this one gets its turn.
    Err(common::UNAVAILABLE.into())
}

/// Asks the cap and writes what follows. The answer is that of the postback that made the reservation.
async fn finish(
    db: &impl Database,
    peers: &impl Peers,
    reservation: &Reservation,
) -> Result<Result<Answer, Failure>, Failure> {
    let taken = peers.take(&reservation.take).await?;
    let settled = settle(db, peers.now_ms(), reservation, taken)?;
    peers.committed()?;
    Ok(settled.map_err(Failure::from))
}

/// The alarm's part: takes up reservations that their requests have left behind. One whose cap does not answer waits,
/// longer each time. Returns whether there are more to take up at once.
///
/// # Errors
/// What the database says, or what one of them met; the others were taken up all the same.
pub async fn resume_overdue(db: &impl Database, peers: &impl Peers) -> Result<bool, Failure> {
    let mut left_behind = overdue(db, peers.now_ms(), PAGE)?.into_iter();
    let is_full = left_behind.len() == PAGE;
    let (mut settled, mut outcome) = (false, Ok(()));
    while left_behind.len() > 0 {
        let some = left_behind.by_ref().take(CONNECTIONS);
        let some = some.map(|(attempts, reservation)| resume_one(db, peers, attempts, reservation));
        for resumed in join_all(some).await {
            settled |= resumed.is_ok();
            outcome = outcome.and(resumed);
        }
    }
    outcome.map(|()| is_full && settled)
}

async fn resume_one(
    db: &impl Database,
    peers: &impl Peers,
    attempts: u32,
    reservation: Reservation,
) -> Result<(), Failure> {
    let due_ms = peers.now_ms().saturating_add(wait_ms(attempts));
    let stands = put_off(db, &reservation, due_ms, attempts.saturating_add(1))?;
    peers.committed()?;
    if stands {
        finish(db, peers, &reservation)
            .await?
            .map(drop)
            .or_else(of_its_sender)?;
    }
    Ok(())
}

/// That one is refused is for who sent it, and no failure of the alarm's.
fn of_its_sender(refused: Failure) -> Result<(), Failure> {
    match refused {
        Failure::Refused(_) => Ok(()),
        broken => Err(broken),
    }
}

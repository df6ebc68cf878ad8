//! The order in which a conversion is written (`design.md` section 6), over other objects that may not answer: terms
//! are asked first, a reservation is durable before the cap is asked, and what the cap said is written with what
//! follows from it. Whoever comes next, the alarm or another copy, goes on from what is stored.

use std::ops::Deref;

use super::{
    about,
    command::{Answer, Conversion},
    conversions::{Admitted, Reservation, admit, overdue, put_off, settle},
};
use crate::{
    catalog::OfferId,
    conversions::parameters::INVALID_CLICK_ID,
    origin::{catalog::terms::Terms, command::Failure, counters::Take, database::Database, forward::wait_ms},
    refusal::common,
};

/// Reservations that an alarm takes up at once: an invocation has six connections.
const AT_ONCE: usize = 6;

/// What a conversion needs of others, and of the clock.
pub trait Peers {
    fn now_ms(&self) -> i64;

    /// By how much a try that is under way has put its callback off.
    fn under_way_ms(&self) -> i64;

    /// The catalog's terms, as they are now.
    #[expect(async_fn_in_trait, reason = "an object runs on one thread")]
    async fn terms(&self, offer: &OfferId) -> Result<impl Deref<Target = Terms>, Failure>;

    /// Takes one of an offer's cap, once for a key; whether there was one.
    #[expect(async_fn_in_trait, reason = "an object runs on one thread")]
    async fn take(&self, take: &Take) -> Result<bool, Failure>;

    /// Called after each commit and before anything is waited for: the alarm is part of the commit.
    fn committed(&self) -> Result<(), Failure>;
}

/// Carries a postback out. The answer may go out: what it says is written.
///
/// # Errors
/// What is refused; `unavailable` if another object does not answer, and then what was begun is finished by the alarm
/// or by the next copy.
pub async fn convert(
    db: &impl Database,
    peers: &impl Peers,
    conversion: &Conversion,
) -> Result<Answer, Failure> {
    let offer = OfferId::parse(&conversion.click.offer).ok_or(INVALID_CLICK_ID)?;
    let terms = peers.terms(&offer).await?;
    about::learn(
        db,
        peers.now_ms(),
        conversion.click.app,
        Some(&terms.publisher_id),
        &terms.callback,
        peers.under_way_ms(),
    )?;
    // An earlier copy that got no further is finished first; then this one is judged by what it left.
    for _ in 0..3 {
        let admitted = admit(db, peers.now_ms(), conversion, &terms)?;
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
/// longer each time.
///
/// # Errors
/// What the database says, or what one of them met; the others were taken up all the same.
pub async fn take_up(db: &impl Database, peers: &impl Peers) -> Result<(), Failure> {
    let now_ms = peers.now_ms();
    let mut outcome = Ok(());
    for (attempts, reservation) in overdue(db, now_ms, AT_ONCE)? {
        let due_ms = now_ms.saturating_add(wait_ms(u32::try_from(attempts).unwrap_or(u32::MAX)));
        put_off(db, &reservation, due_ms, attempts.saturating_add(1))?;
        peers.committed()?;
        outcome = outcome.and(finish(db, peers, &reservation).await.map(drop));
    }
    outcome
}

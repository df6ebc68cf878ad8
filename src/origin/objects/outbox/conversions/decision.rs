//! Decides what a postback or an action of the operator does, and writes nothing. [`admit`](super::admit) carries out
//! the decision, and [`check`](super::check) only reports it.

use super::{
    Claim, goals,
    reservations::Reservation,
    rewarded,
    rows::{self, ConversionRow},
};
use crate::objects::outbox::{approval::Approval, endpoint, peers::Peers, sql, terms::Terms};
use contract::outbox::Conversion;
use domain::{
    catalog::offer::OncePer,
    conversions::{
        reward::check_window,
        state::Reason,
        table::{Event, Transition, UNKNOWN_CONVERSION, USER_ERASED, WRONG_STATE, step},
    },
    model::{ApiError, SECOND_MS, UtcDay},
};
use platform::{Database, DbResult, Result, params};

/// A decision and the data that is needed to carry it out.
pub struct Decision {
    pub approval: Approval,
    /// The stored conversion, if there is one.
    pub row: Option<ConversionRow>,
    pub step: Transition,
    pub verdict: Verdict,
}

/// Whether a step may be taken; if not, the reason. `Nothing` means that nothing prevents the step.
pub enum Verdict {
    Nothing,
    /// An earlier copy of the postback waits for the cap.
    Reserved(Box<Reservation>),
    /// The `txn` must be claimed before the other reasons are checked.
    Unclaimed,
    /// The first reason that refuses or holds the step, and the error for the sender.
    Against(Reason, ApiError),
}

/// Decides from the stored rows and the terms.
///
/// # Errors
/// A refusal that leaves no entry in the log; see [`admit`](super::admit).
pub fn decide(
    db: &impl Database,
    peers: &impl Peers,
    now_ms: i64,
    conversion: &Conversion,
    terms: &Terms,
    claim: &Claim,
) -> Result<Decision> {
    let (rows, reserved) = rows::of_click(db, &conversion.nonce.0)?;
    let resolved = goals::resolve(db, rows, reserved, conversion, terms)?;
    let mut approval = resolved.approval(conversion, terms);
    if let Claim::Made(txn) = claim {
        approval.txn = Some(txn.clone());
    }
    approval.rewarded = rewarded::key(db, peers, conversion, &approval.goal)?;
    let row = resolved.row;
    let step = match step(row.as_ref().map(|row| row.state), conversion.event) {
        // A restore may have lost the payment that the sender takes back.
        Transition::LeaveTombstone
            if row.is_none() && holds_now(db, peers, now_ms, conversion, Reason::AfterRestore)? =>
        {
            Transition::TakeBack
        }
        step => step,
    };
    if let Some(reservation) = resolved.reserved {
        let verdict = Verdict::Reserved(Box::new(reservation));
        return Ok(Decision { approval, row, step, verdict });
    }
    match step {
        Transition::Missing => return Err(UNKNOWN_CONVERSION.into()),
        Transition::Conflict => return Err(WRONG_STATE.into()),
        // Only a conversion that is read from the log can have an erased user. The user may also have been erased
        // after the read. The click of a postback always names the user.
        Transition::Force | Transition::Release | Transition::TakeBack if is_erased(db, conversion, row.as_ref())? => {
            return Err(USER_ERASED.into());
        }
        _ => {}
    }
    let case = Case {
        db,
        peers,
        now_ms,
        conversion,
        terms,
        window_days: resolved.terms.terms.conversion_window_days,
        once_per: resolved.terms.terms.once_per,
        claim,
        approval: &approval,
        row: row.as_ref(),
    };
    let verdict = case.judge(step)?;
    Ok(Decision { approval, row, step, verdict })
}

/// True if a conversion was read from the log and its user was erased.
fn is_erased(db: &impl Database, conversion: &Conversion, row: Option<&ConversionRow>) -> DbResult<bool> {
    match row {
        _ if conversion.click.user_id.is_empty() => Ok(true),
        Some(row) if !matches!(conversion.event, Event::Postback(_)) => {
            db.query_boolean(sql::HAS_NO_USER, params![row.entry])
        }
        _ => Ok(false),
    }
}

/// True if a restore or a suspension holds a conversion. Both may begin while the conversion waits for its cap.
pub fn holds_now(
    db: &impl Database,
    peers: &impl Peers,
    now_ms: i64,
    conversion: &Conversion,
    reason: Reason,
) -> DbResult<bool> {
    let app = endpoint::app_now(db, peers)?;
    Ok(app.is_some_and(|app| match reason {
        Reason::AfterRestore => app.may_have_lost(now_ms, conversion.click.clicked_at_ms),
        _ => reason == Reason::Suspended && app.is_suspended,
    }))
}

/// A conversion, and the data with which the reasons against it are checked.
struct Case<'a, D, P> {
    db: &'a D,
    peers: &'a P,
    now_ms: i64,
    conversion: &'a Conversion,
    terms: &'a Terms,
    window_days: u16,
    once_per: OncePer,
    claim: &'a Claim,
    approval: &'a Approval,
    row: Option<&'a ConversionRow>,
}

impl<D: Database, P: Peers> Case<'_, D, P> {
    /// Checks the reasons in their order, and stops at the first that applies.
    fn judge(&self, step: Transition) -> Result<Verdict> {
        let state = self.row.map(|row| row.state);
        for reason in Reason::ALL {
            if !step.judges(reason) {
                continue;
            }
            // The `txn` is claimed even if the operator overrides this reason, so that no other click can claim it
            // later.
            if reason == Reason::DuplicateTxn && *self.claim == Claim::Open && self.conversion.txn.is_some() {
                return Ok(Verdict::Unclaimed);
            }
            if step.overrides(reason, state, &self.conversion.despite) {
                continue;
            }
            if let Some(refusal) = self.refusal(reason)? {
                return Ok(Verdict::Against(reason, refusal));
            }
        }
        Ok(Verdict::Nothing)
    }

    /// Returns the error for the sender if a reason applies.
    fn refusal(&self, reason: Reason) -> Result<Option<ApiError>> {
        let stands = match reason {
            Reason::WindowClosed => {
                let clicked_at_ms = self.conversion.click.clicked_at_ms;
                return Ok(check_window(clicked_at_ms, self.received_ms(), Some(self.window_days)).err());
            }
            Reason::DuplicateTxn => *self.claim == Claim::Refused,
            Reason::AlreadyRewarded => self.is_rewarded()?,
            Reason::AfterRestore | Reason::Suspended => {
                holds_now(self.db, self.peers, self.now_ms, self.conversion, reason)?
            }
            Reason::TooFast => self.is_too_fast(),
            Reason::TooManyToday => self.has_many_today()?,
            // The counters decide this after all other reasons.
            Reason::Capped => false,
        };
        Ok(stands.then(|| reason.refusal()))
    }

    fn received_ms(&self) -> i64 {
        self.conversion.received_ms.unwrap_or(self.now_ms)
    }

    /// True if the terms pay a goal once for each user and another click has the reward.
    fn is_rewarded(&self) -> DbResult<bool> {
        match &self.approval.rewarded {
            Some(key) if self.once_per == OncePer::User => rewarded::is_taken(self.db, key, &self.conversion.nonce),
            _ => Ok(false),
        }
    }

    /// True if the first postback came sooner after the click than the offer allows.
    fn is_too_fast(&self) -> bool {
        let first_ms = self.row.map_or(self.received_ms(), |row| row.first_ms);
        let took_ms = first_ms.saturating_sub(self.conversion.click.clicked_at_ms);
        let least = self.terms.holds.min_seconds_to_convert;
        least.is_some_and(|seconds| took_ms < i64::from(seconds) * SECOND_MS)
    }

    fn has_many_today(&self) -> DbResult<bool> {
        let Some(most) = self.terms.holds.max_rewards_per_user_day else {
            return Ok(false);
        };
        let day_s = UtcDay::of_ms(self.now_ms).start_ms() / SECOND_MS;
        let user = &*self.conversion.click.user_id;
        let rewards = self.db.query_integer(sql::COUNT_REWARDS, params![user, day_s])?;
        Ok(rewards.unwrap_or(0) >= i64::from(most))
    }
}

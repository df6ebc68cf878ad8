//! Applies the rules in `domain::conversions` to an outbox's rows (docs/DECISIONS.md, "Conversions"). [`admit`] and
//! [`settle`] are one transaction each; [`super::commit`] runs them and takes from the cap between them.

use super::{
    approval::Approval,
    entries,
    peers::Peers,
    reservations::{self, Ended, Reservation},
    retention, rewarded, sql,
    terms::{self, Terms},
    txns,
};
use contract::{
    counters::{CapKind, Take},
    outbox::{Answer, Conversion, Txn},
};
use domain::{
    catalog::offer::OncePer,
    conversions::{
        reward::check_window,
        state::{Movement, Outcome, Reason, State, Status, is_judged, next},
        terms::{GoalTerms, OfferTerms, UNKNOWN_GOAL},
        token::INVALID_TOKEN,
    },
    model::{
        api_error::{ApiError, common},
        time::UtcDay,
    },
};
use platform::{
    database::{Database, DatabaseError, json},
    failure::Failure,
    params,
};

/// The result of [`admit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admitted {
    Settled(Answer),
    /// Refused; a conversion that is not known yet is in the log as refused.
    Refused(ApiError),
    /// Its `txn` must be claimed next.
    Unclaimed(Txn),
    /// The cap must be taken next. `own` is false if the reservation is an earlier copy's that has not been settled.
    Reserved {
        reservation: Box<Reservation>,
        own: bool,
    },
}

/// Whether the `txn` of a postback was claimed for its click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    Open,
    Made(Txn),
    /// Another click has it.
    Refused,
}

/// A row of `conversions`: a click that reached a goal.
struct ConversionRow {
    goal: String,
    names: Vec<String>,
    state: State,
    entry: i64,
    offer_terms: i64,
}

/// Decides a postback by the stored rows and its terms, and writes the result: the conversion, or a
/// reservation if the offer has a cap.
///
/// # Errors
/// A refusal that leaves no entry in the log: another advertiser's token, an unknown goal. Or the database failed.
pub fn admit(
    db: &impl Database,
    peers: &impl Peers,
    conversion: &Conversion,
    terms: &Terms,
    claim: &Claim,
) -> Result<Admitted, Failure> {
    let now_ms = peers.now_ms();
    if conversion.advertiser != terms.paying.terms.advertiser_id {
        return Err(INVALID_TOKEN.into());
    }
    let (rows, reserved) = read_click(db, &conversion.nonce.0)?;
    let (goal, offer_terms) = resolve_goal(db, &rows, &reserved, conversion, terms)?;
    let approval = Approval {
        conversion: conversion.clone(),
        advertiser: conversion.advertiser.clone(),
        offer: terms.offer.clone(),
        goal_value: goal.gl_val,
        payout_micro_usd: goal.payout_micro_usd,
        offer_terms,
        superseded: terms.superseded,
        currency: terms.currency.clone(),
        txn: match claim {
            Claim::Made(txn) => Some(txn.clone()),
            Claim::Open | Claim::Refused => None,
        },
        rewarded: match terms.paying.terms.once_per {
            OncePer::User => Some(rewarded::key(db, peers, conversion, &goal.id)?),
            OncePer::Click => None,
        },
        goal: goal.id,
    };
    let mut reserved = reserved.into_iter();
    if let Some(reservation) = reserved.find(|reservation| reservation.approval.goal == approval.goal) {
        return Ok(Admitted::Reserved {
            reservation: Box::new(reservation),
            own: false,
        });
    }

    let row = rows.into_iter().find(|row| row.goal == approval.goal);
    let current = row.as_ref().map(|row| row.state);
    let outcome = next(current, conversion.status);
    let is_new = is_judged(current, conversion.status);
    let objection = if is_new {
        window_closed(now_ms, &approval, &terms.paying.terms)
    } else {
        None
    };
    // The approval of a pending conversion may have a txn that the pending postback had not. A rejection or a reversal
    // needs none.
    let needs_txn = is_new || outcome.movement == Some(Movement::Reward);
    let objection = match (objection, claim) {
        (None, Claim::Open) if needs_txn => {
            if let Some(txn) = txns::number(db, conversion, &approval.advertiser, &approval.goal)? {
                return Ok(Admitted::Unclaimed(txn));
            }
            None
        }
        (None, Claim::Refused) if needs_txn => Some((Reason::DuplicateTxn, Reason::DuplicateTxn.refusal())),
        (objection, _) => objection,
    };
    let nonce = &conversion.nonce;
    let objection = match (objection, &approval.rewarded) {
        (None, Some(key)) if needs_txn && rewarded::is_taken(db, key, nonce)? => {
            Some((Reason::AlreadyRewarded, Reason::AlreadyRewarded.refusal()))
        }
        (objection, _) => objection,
    };
    if let Some((reason, refusal)) = objection {
        // A pending conversion stays pending, and keeps its txn.
        if is_new {
            db.transaction(|| refuse(db, now_ms, &approval, row.as_ref(), reason))?;
        }
        return Ok(Admitted::Refused(refusal));
    }
    if outcome.movement == Some(Movement::Reward)
        && let Some((limit, revision)) = terms.cap
    {
        let take = Take {
            kind: CapKind::Conversion,
            key: format!("{}/{}", hex::encode(&conversion.nonce.0), approval.goal),
            offer: approval.offer.clone(),
            day: UtcDay::of_ms(now_ms),
            limit,
            revision,
        };
        let reservation = db.transaction(|| reservations::create(db, now_ms, approval, take))?;
        return Ok(Admitted::Reserved {
            reservation: Box::new(reservation),
            own: true,
        });
    }
    let answer = db.transaction(|| commit(db, now_ms, &approval, row.as_ref(), outcome))?;
    Ok(Admitted::Settled(answer))
}

/// Ends a reservation by paying or, if the cap is spent (`taken` is false), refusing. If another task has ended it
/// already, nothing is written and the stored state is the answer.
pub fn settle(
    db: &impl Database,
    now_ms: i64,
    reservation: &Reservation,
    taken: bool,
) -> Result<Result<Answer, ApiError>, Failure> {
    let approval = &reservation.approval;
    let nonce = &approval.conversion.nonce.0;
    db.transaction(|| {
        let ended = reservations::end(db, reservation)?;
        let (rows, _) = read_click(db, nonce)?;
        let row = rows.into_iter().find(|row| row.goal == approval.goal);
        let current = row.as_ref().map(|row| row.state);
        let Some(Ended { erase }) = ended else {
            let state = match current {
                // Only approvals are reserved, so a conversion that is still pending was refused.
                None | Some(State::Pending) => State::Refused(Reason::Capped),
                Some(state) => state,
            };
            return match state.answer() {
                Ok(status) => Ok(Ok(approval.answer(status, false)?)),
                Err(refusal) => Ok(Err(refusal)),
            };
        };
        let settled = if taken {
            let outcome = next(current, Status::Approved);
            Ok(commit(db, now_ms, approval, row.as_ref(), outcome)?)
        } else {
            // A pending conversion stays pending: its window and txn were accepted, and the cap may be free tomorrow.
            if current != Some(State::Pending) {
                refuse(db, now_ms, approval, row.as_ref(), Reason::Capped)?;
            }
            Err(Reason::Capped.refusal())
        };
        if erase {
            retention::mark(db, &approval.transaction_id(Movement::Reward)?)?;
        }
        Ok(settled)
    })
}

/// A click's conversions and reservations.
fn read_click(
    db: &impl Database,
    nonce: &[u8],
) -> Result<(Vec<ConversionRow>, Vec<Reservation>), DatabaseError> {
    let (mut rows, mut reserved) = (Vec::new(), Vec::new());
    for row in db.query(sql::OF_CLICK, params![nonce.to_vec()])? {
        if row.is_null(0) {
            rows.push(ConversionRow {
                goal: row.text(1)?.to_owned(),
                names: row.json(2)?,
                state: state_of(row.integer(3)?)?,
                entry: row.integer(4)?,
                offer_terms: row.integer(5)?,
            });
        } else {
            reserved.push(row.json(0)?);
        }
    }
    Ok((rows, reserved))
}

/// Resolves a postback's goal, and returns it with the revision of the terms that it comes from: the terms that pay the
/// click, else the current ones, since the goal may be newer than the click. A name that an earlier postback of the click
/// used keeps its meaning, and its goal stays known by the terms of that time.
fn resolve_goal(
    db: &impl Database,
    rows: &[ConversionRow],
    reserved: &[Reservation],
    conversion: &Conversion,
    terms: &Terms,
) -> Result<(GoalTerms, i64), Failure> {
    let named = conversion.goal.as_deref();
    let name = named.unwrap_or_default();
    let converted = rows
        .iter()
        .find(|row| row.names.iter().any(|known| known == name));
    let mut pending = reserved
        .iter()
        .map(|reservation| &reservation.approval)
        .filter(|approval| approval.name() == name)
        .map(|approval| approval.goal.as_str());
    let known = converted.map(|row| row.goal.as_str()).or(pending.next());
    let revisions = [Some(&terms.paying), terms.current.as_ref()];
    let found = revisions.into_iter().flatten().find_map(|revision| {
        let goal = match known {
            Some(id) => revision.terms.goal_by_id(id),
            None => revision.terms.goal(named),
        };
        Some((goal?.clone(), revision.number))
    });
    if let Some(found) = found {
        return Ok(found);
    }
    if let Some(row) = converted
        && let Some(earlier) = terms::of_offer(db, &terms.offer, row.offer_terms)?
        && let Some(goal) = earlier.goal_by_id(&row.goal)
    {
        return Ok((goal.clone(), row.offer_terms));
    }
    if conversion.current.is_recent && conversion.current.offer.is_some() {
        Err(UNKNOWN_GOAL.into())
    } else {
        Err(common::UNAVAILABLE
            .with_message("goal is not known here yet")
            .into())
    }
}

/// A reason against a conversion, and the error for its sender.
type Objection = (Reason, ApiError);

fn window_closed(now_ms: i64, approval: &Approval, terms: &OfferTerms) -> Option<Objection> {
    let clicked_at_ms = approval.conversion.click.clicked_at_ms;
    let refusal = check_window(clicked_at_ms, now_ms, Some(terms.conversion_window_days)).err()?;
    Some((Reason::WindowClosed, refusal))
}

/// Writes a refusal, and frees the `txn` that was claimed before it, within the caller's transaction.
fn refuse(
    db: &impl Database,
    now_ms: i64,
    approval: &Approval,
    row: Option<&ConversionRow>,
    reason: Reason,
) -> Result<(), Failure> {
    if let Some(txn) = &approval.txn {
        txns::queue_free(db, now_ms, txn)?;
    }
    if row.is_none_or(|row| row.state != State::Refused(reason)) {
        store(db, now_ms, approval, row, State::Refused(reason))?;
    }
    Ok(())
}

/// Writes the outcome of a postback, within the caller's transaction.
fn commit(
    db: &impl Database,
    now_ms: i64,
    approval: &Approval,
    row: Option<&ConversionRow>,
    outcome: Outcome,
) -> Result<Answer, Failure> {
    let known_name = row.is_some_and(|row| row.names.iter().any(|name| name == approval.name()));
    if !(outcome.duplicate && known_name) {
        store(db, now_ms, approval, row, outcome.state)?;
    }
    if let Some(movement) = outcome.movement {
        entries::move_money(db, now_ms, approval, movement, row.is_none())?;
    }
    let status = outcome
        .state
        .answer()
        .map_err(|_| Failure::Internal("a refusal cannot be committed".into()))?;
    approval.answer(status, outcome.duplicate)
}

/// Writes a conversion in its new state, with its entry in the log.
fn store(
    db: &impl Database,
    now_ms: i64,
    approval: &Approval,
    row: Option<&ConversionRow>,
    state: State,
) -> Result<(), Failure> {
    let mut names = row.map(|row| row.names.clone()).unwrap_or_default();
    if !names.iter().any(|name| name == approval.name()) {
        names.push(approval.name().to_owned());
    }
    let is_paid = row.is_some_and(|row| matches!(row.state, State::Approved | State::Reversed));
    let entry = match row {
        // A paid conversion's entry never changes, and a repeat changes only the names.
        Some(row) if is_paid || row.state == state => row.entry,
        Some(row) => entries::amend(db, now_ms, approval, row.entry, state)?,
        None => entries::create(db, now_ms, approval, state == State::Approved)?,
    };
    Ok(db.execute(
        sql::PUT_CONVERSION,
        params![
            approval.conversion.nonce.0.clone(),
            approval.goal.as_str(),
            json(&names)?,
            state_number(state),
            entry,
            approval.offer_terms,
            approval
                .rewarded
                .as_ref()
                .filter(|_| state == State::Approved)
                .map(|key| key.0.clone())
        ],
    )?)
}

/// The stored number of a state. It must not change, or stored conversions would change their states.
fn state_number(state: State) -> i64 {
    match state {
        State::Pending => 0,
        State::Approved => 1,
        State::Rejected => 2,
        State::Reversed => 3,
        State::Tombstone => 4,
        State::Refused(Reason::Capped) => 5,
        State::Refused(Reason::WindowClosed) => 6,
        State::Refused(Reason::DuplicateTxn) => 7,
        State::Refused(Reason::AlreadyRewarded) => 8,
    }
}

pub(super) fn state_of(number: i64) -> Result<State, DatabaseError> {
    let refused = Reason::ALL.map(State::Refused);
    [
        State::Pending,
        State::Approved,
        State::Rejected,
        State::Reversed,
        State::Tombstone,
    ]
    .into_iter()
    .chain(refused)
    .find(|state| state_number(*state) == number)
    .ok_or_else(|| DatabaseError(format!("{number} is not a state of a conversion")))
}

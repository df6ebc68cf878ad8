//! What a postback writes (docs/DECISIONS.md, "Conversions", "Order of writes"). The rules are `conversions`'; here they meet the
//! rows. Each function is one transaction; what happens between two of them is [`super::commit`]'s.

use serde::{Deserialize, Serialize};

use super::{
    entries,
    reservations::{self, Ended, Reservation},
    retention, sql,
};
use contract::{
    catalog::{OfferTerms, Terms},
    counters::{CapKind, Take},
    outbox::{Answer, Conversion},
};
use domain::{
    conversions::{
        ids::{RowKey, transaction_id},
        parameters::INVALID_CLICK_ID,
        reward::{PayableGoal, check_window, paid_goal},
        state::{Movement, Outcome, Reason, State, Status, is_judged, next},
    },
    model::{AdvertiserId, CurrencyRate, MicroUsd, OfferId, api_error::ApiError, credentials, time::UtcDay},
    tracking::click_id::Nonce,
};
use platform::{
    database::{Database, DatabaseError, json},
    failure::Failure,
    params,
};

/// Not the advertiser whose offer was clicked: the same for a token that is unknown, revoked, or another advertiser's.
pub const INVALID_TOKEN: ApiError = ApiError::new(
    401,
    "invalid_token",
    "token is not a valid token of the advertiser whose offer was clicked",
);

/// All that it takes to pay a conversion. It is kept with a reservation, so that the alarm pays what the request would
/// have paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub conversion: Conversion,
    pub advertiser: AdvertiserId,
    pub offer: OfferId,
    pub goal: String,
    /// The goal's event code.
    pub goal_value: Option<String>,
    pub payout_micro_usd: i64,
    pub currency: CurrencyRate,
}

impl Approval {
    pub fn nonce(&self) -> Result<Nonce, Failure> {
        let nonce = self.conversion.nonce.0.as_slice();
        Nonce::try_from(nonce).map_err(|_| Failure::Internal("a nonce has 12 bytes".into()))
    }

    pub fn transaction_id(&self, movement: Movement) -> Result<String, Failure> {
        let row = RowKey {
            app: self.conversion.click.app,
            nonce: self.nonce()?,
            goal: &self.goal,
        };
        Ok(transaction_id(&row, movement))
    }

    /// As the sender called the goal; nothing where it named none, since no name is empty.
    pub(super) fn name(&self) -> &str {
        self.conversion.goal.as_deref().unwrap_or_default()
    }

    fn answer(&self, status: Status, duplicate: bool) -> Result<Answer, Failure> {
        Ok(Answer {
            transaction_id: self.transaction_id(Movement::Reward)?,
            status,
            duplicate,
        })
    }
}

/// What became of a postback so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admitted {
    Settled(Answer),
    /// Taken down in the log, where that is worth it, and refused.
    Refused(ApiError),
    /// The cap has to be asked; `own` if it is for this postback, and not for an earlier copy of it that got no further.
    Reserved {
        reservation: Box<Reservation>,
        own: bool,
    },
}

/// A click that reached a goal.
struct Conversed {
    goal: String,
    names: Vec<String>,
    state: State,
    entry: i64,
}

/// Judges a postback by what is stored and by the catalog's terms, and writes what follows: the whole of it, or, where
/// the offer has a cap, the reservation.
///
/// # Errors
/// What is refused without a trace (token, goal), or what the database says.
pub fn admit(
    db: &impl Database,
    now_ms: i64,
    conversion: &Conversion,
    terms: &Terms,
) -> Result<Admitted, Failure> {
    // Offers are never deleted, so a click that was sealed here is of one that there is.
    let (offer_id, offer) = OfferId::parse(&conversion.click.offer)
        .and_then(|id| terms.offers.get_key_value(&id))
        .ok_or_else(|| INVALID_CLICK_ID.with_message("click_id is of an offer that there is not"))?;
    check_token(conversion, offer)?;
    let (rows, reserved) = of_click(db, &conversion.nonce.0)?;
    let goal = goal_of(&rows, &reserved, conversion.goal.as_deref(), offer)?;
    let approval = Approval {
        conversion: conversion.clone(),
        advertiser: offer.advertiser_id.clone(),
        offer: offer_id.clone(),
        goal: goal.id.to_owned(),
        goal_value: goal.gl_val.map(str::to_owned),
        payout_micro_usd: goal.payout.0,
        currency: terms.currency.clone(),
    };
    let mut reserved = reserved.into_iter();
    if let Some(reservation) = reserved.find(|reservation| reservation.approval.goal == goal.id) {
        return Ok(Admitted::Reserved {
            reservation: Box::new(reservation),
            own: false,
        });
    }

    let row = rows.into_iter().find(|row| row.goal == goal.id);
    let current = row.as_ref().map(|row| row.state);
    let outcome = next(current, conversion.status);
    let is_new = is_judged(current, conversion.status);
    let objection = if is_new {
        window_closed(now_ms, &approval, offer)
    } else {
        None
    };
    let objection = match objection {
        // An approval of a pending conversion may bring a txn that the pending one had not.
        None if is_new || outcome.movement == Some(Movement::Reward) => txn_used(db, &approval)?,
        objection => objection,
    };
    if let Some((reason, refusal)) = objection {
        // A pending conversion stays one.
        if is_new && current != Some(State::Refused(reason)) {
            db.transaction(|| keep(db, now_ms, &approval, row.as_ref(), State::Refused(reason)))?;
        }
        return Ok(Admitted::Refused(refusal));
    }
    if outcome.movement == Some(Movement::Reward)
        && let Some(limit) = offer.conversion_cap
    {
        let take = Take {
            kind: CapKind::Conversion,
            key: format!("{}/{}", hex::encode(&conversion.nonce.0), approval.goal),
            offer: approval.offer.clone(),
            day: UtcDay::of_ms(now_ms),
            limit,
            revision: offer.revision,
        };
        let reservation = db.transaction(|| {
            // Its txn is taken already, so that no other click can have it while the cap is asked.
            claim_txn(db, &approval)?;
            reservations::make(db, now_ms, approval, take)
        })?;
        return Ok(Admitted::Reserved {
            reservation: Box::new(reservation),
            own: true,
        });
    }
    let answer = db.transaction(|| commit(db, now_ms, &approval, row.as_ref(), outcome))?;
    Ok(Admitted::Settled(answer))
}

/// Ends a reservation: pays, or refuses. One that another hand has ended meanwhile is left as it ended.
///
/// # Errors
/// What the database says.
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
        let (rows, _) = of_click(db, nonce)?;
        let row = rows.into_iter().find(|row| row.goal == approval.goal);
        let current = row.as_ref().map(|row| row.state);
        let Some(Ended { erase }) = ended else {
            let state = match current {
                // Reservations are for approvals: what it left pending was refused.
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
            // A pending conversion stays one: its window and its txn were judged, and the cap may have room tomorrow.
            if current != Some(State::Pending) {
                free_txn(db, approval)?;
                keep(db, now_ms, approval, row.as_ref(), State::Refused(Reason::Capped))?;
            }
            Err(Reason::Capped.refusal())
        };
        if erase {
            retention::mark(db, &approval.transaction_id(Movement::Reward)?)?;
        }
        Ok(settled)
    })
}

fn check_token(conversion: &Conversion, offer: &OfferTerms) -> Result<(), ApiError> {
    let presented = credentials::CredentialHash::try_from(conversion.token.0.as_slice());
    let valid = presented.is_ok_and(|presented| {
        // All of them are compared, so that the time tells nothing.
        offer.tokens.iter().fold(false, |valid, token| {
            valid | credentials::matches(&presented, &token.0)
        })
    });
    if valid { Ok(()) } else { Err(INVALID_TOKEN) }
}

/// What there is of a click: its conversions, and those that are on their way.
fn of_click(db: &impl Database, nonce: &[u8]) -> Result<(Vec<Conversed>, Vec<Reservation>), DatabaseError> {
    let (mut rows, mut reserved) = (Vec::new(), Vec::new());
    for row in db.query(sql::OF_CLICK, params![nonce.to_vec()])? {
        if row.is_null(0) {
            rows.push(Conversed {
                goal: row.text(1)?.to_owned(),
                names: entries::parse(&row, 2)?,
                state: state_of(row.integer(3)?)?,
                entry: row.integer(4)?,
            });
        } else {
            reserved.push(entries::parse(&row, 0)?);
        }
    }
    Ok((rows, reserved))
}

/// The goal that a postback is about: as an earlier postback with the same name was understood, whatever the offer's
/// goals have become since; else as the offer's goals are now.
fn goal_of<'t>(
    rows: &[Conversed],
    reserved: &[Reservation],
    named: Option<&str>,
    offer: &'t OfferTerms,
) -> Result<PayableGoal<'t>, ApiError> {
    let goals: Vec<_> = offer
        .goals
        .iter()
        .map(|goal| PayableGoal {
            id: &goal.id,
            ord: goal.ord,
            gl_val: goal.gl_val.as_deref(),
            payout: MicroUsd(goal.payout_micro_usd),
            retired: goal.retired,
        })
        .collect();
    let name = named.unwrap_or_default();
    let mut in_rows = rows
        .iter()
        .filter(|row| row.names.iter().any(|known| known == name))
        .map(|row| row.goal.as_str());
    let mut on_their_way = reserved
        .iter()
        .filter(|reservation| reservation.approval.name() == name)
        .map(|reservation| reservation.approval.goal.as_str());
    let named = in_rows.next().or(on_their_way.next()).or(named);
    paid_goal(&goals, named).copied()
}

/// What speaks against a conversion, and how its sender is told.
type Objection = (Reason, ApiError);

fn window_closed(now_ms: i64, approval: &Approval, offer: &OfferTerms) -> Option<Objection> {
    let clicked_at_ms = approval.conversion.click.clicked_at_ms;
    let refusal = check_window(clicked_at_ms, now_ms, Some(offer.conversion_window_days)).err()?;
    Some((Reason::WindowClosed, refusal))
}

fn txn_used(db: &impl Database, approval: &Approval) -> Result<Option<Objection>, DatabaseError> {
    let Some(txn) = &approval.conversion.txn else {
        return Ok(None);
    };
    let key = params![approval.advertiser.as_str(), approval.goal.as_str(), txn.as_str()];
    let of_another = match db.query_first(sql::GET_TXN, key)? {
        Some(row) => row.blob(0)? != approval.conversion.nonce.0,
        None => false,
    };
    Ok(of_another.then(|| (Reason::DuplicateTxn, Reason::DuplicateTxn.refusal())))
}

/// Writes what a postback makes of a row; the caller's transaction holds it.
fn commit(
    db: &impl Database,
    now_ms: i64,
    approval: &Approval,
    row: Option<&Conversed>,
    outcome: Outcome,
) -> Result<Answer, Failure> {
    let known_name = row.is_some_and(|row| row.names.iter().any(|name| name == approval.name()));
    if !(outcome.duplicate && known_name) {
        // Also by an approval of what was pending, as where a cap is asked; a rejection or a reversal takes none.
        let is_judged = is_judged(row.map(|row| row.state), approval.conversion.status);
        if is_judged || outcome.movement == Some(Movement::Reward) {
            claim_txn(db, approval)?;
        }
        keep(db, now_ms, approval, row, outcome.state)?;
    }
    if let Some(movement) = outcome.movement {
        entries::move_money(db, now_ms, approval, movement, row.is_none())?;
    }
    let status = outcome
        .state
        .answer()
        .map_err(|_| Failure::Internal("a refusal is no outcome".into()))?;
    approval.answer(status, outcome.duplicate)
}

/// Writes a row in its new state, with its entry in the log.
fn keep(
    db: &impl Database,
    now_ms: i64,
    approval: &Approval,
    row: Option<&Conversed>,
    state: State,
) -> Result<(), Failure> {
    let mut names = row.map(|row| row.names.clone()).unwrap_or_default();
    if !names.iter().any(|name| name == approval.name()) {
        names.push(approval.name().to_owned());
    }
    let is_paid = row.is_some_and(|row| matches!(row.state, State::Approved | State::Reversed));
    let entry = match row {
        // What was paid stands as it was paid, and a repeat changes nothing but the names.
        Some(row) if is_paid || row.state == state => row.entry,
        Some(row) => entries::amend(db, now_ms, approval, row.entry, state)?,
        None => entries::enter(db, now_ms, approval, state == State::Approved)?,
    };
    Ok(db.execute(
        sql::PUT_CONVERSION,
        params![
            approval.conversion.nonce.0.clone(),
            approval.goal.as_str(),
            json(&names)?,
            state_number(state),
            entry
        ],
    )?)
}

fn claim_txn(db: &impl Database, approval: &Approval) -> Result<(), DatabaseError> {
    write_txn(db, sql::PUT_TXN, approval)
}

fn free_txn(db: &impl Database, approval: &Approval) -> Result<(), DatabaseError> {
    write_txn(db, sql::FREE_TXN, approval)
}

fn write_txn(db: &impl Database, sql: &str, approval: &Approval) -> Result<(), DatabaseError> {
    match &approval.conversion.txn {
        Some(txn) => db.execute(
            sql,
            params![
                approval.advertiser.as_str(),
                approval.goal.as_str(),
                txn.as_str(),
                approval.conversion.nonce.0.clone()
            ],
        ),
        None => Ok(()),
    }
}

/// As the table has it. A changed number would change what was paid.
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
    .ok_or_else(|| DatabaseError(format!("{number} is no state of a conversion")))
}

//! Reservations: approvals that wait for the counters to take one conversion from the offer's cap. A reservation stores
//! all the data that is needed to pay, so that the alarm or the next copy of the postback can finish it.

use serde::{Deserialize, Serialize};

use crate::objects::outbox::{NET_MS, approval::Approval, erasure, sql};
use contract::counters::Take;
use domain::model::common;
use platform::{Database, DbResult, Result, Value, database::json, params};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    pub approval: Approval,
    pub take: Take,
    /// A random number, so that a late answer does not end a newer reservation of the same conversion.
    pub number: i64,
}

/// Maximum reservations of an outbox, and of each offer in it. The limit for each offer leaves room for other offers
/// while the counters of a busy offer do not answer. The sender of another postback is told to retry.
pub const MAX_RESERVED: usize = 4_000;
pub const MAX_OF_OFFER: usize = 1_000;

/// Stores a reservation.
///
/// # Errors
/// `unavailable` if there are too many reservations.
pub fn create(db: &impl Database, now_ms: i64, approval: Approval, take: Take) -> Result<Reservation> {
    let offer = take.offer.to_string();
    let number = db.query_integer(sql::NEXT_RESERVATION, params![MAX_RESERVED, offer.as_str(), MAX_OF_OFFER])?;
    let number = number.ok_or(common::UNAVAILABLE)?;
    let reservation = Reservation { approval, take, number };
    let approval = &reservation.approval;
    db.execute(
        sql::RESERVE,
        params![
            approval.conversion.nonce.0.clone(),
            approval.goal.as_str(),
            now_ms.saturating_add(NET_MS),
            number,
            offer,
            &*approval.conversion.click.user_id,
            json(&reservation)?,
            approval.rewarded.as_ref().map(|key| key.0.clone())
        ],
    )?;
    if erasure::is_of_erased(db, &reservation.approval.conversion.click)? {
        let user_id = &*reservation.approval.conversion.click.user_id;
        db.query(sql::MARK_RESERVATIONS, params![user_id])?;
    }
    Ok(reservation)
}

/// Deletes a reservation. Returns whether the user's erasure was requested while the reservation existed; `None` if
/// another task has already ended the reservation.
pub fn end(db: &impl Database, reservation: &Reservation) -> DbResult<Option<bool>> {
    db.read_first(sql::END_RESERVATION, &key(reservation), |row| row.boolean(0))
}

/// Returns at most `most` due reservations, the longest due first, each with the number of times that it was resumed.
pub fn overdue(db: &impl Database, now_ms: i64, most: usize) -> DbResult<Vec<(u32, Reservation)>> {
    db.read_all(sql::DUE_RESERVATIONS, params![now_ms, most], |row| Ok((row.number(0)?, row.json(1)?)))
}

/// Makes a reservation due again at `due_ms`. Returns false if the reservation has ended. Then the cap must not be
/// taken.
pub fn put_off(db: &impl Database, reservation: &Reservation, due_ms: i64, attempts: u32) -> DbResult<bool> {
    let [nonce, goal, number] = key(reservation);
    let updated = db.query(sql::PUT_RESERVATION_OFF, &[due_ms.into(), attempts.into(), nonce, goal, number])?;
    Ok(!updated.is_empty())
}

fn key(reservation: &Reservation) -> [Value; 3] {
    let approval = &reservation.approval;
    [approval.conversion.nonce.0.clone().into(), approval.goal.as_str().into(), reservation.number.into()]
}

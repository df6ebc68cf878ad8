//! Conversions on their way to an approval: one of the offer's cap is asked for, and not yet answered. What is kept is
//! all that it takes to pay, so that the alarm, or the next copy, can finish what a request began.

use serde::{Deserialize, Serialize};

use super::{conversions::Approval, entries, sql};
use contract::counters::Take;
use domain::model::time::SECOND_MS;
use platform::{
    database::{Database, DatabaseError, Value, json},
    failure::Failure,
    params,
};

/// How long a reservation is its request's own affair, in milliseconds; then the alarm takes it up.
const NET_MS: i64 = 15 * SECOND_MS;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    pub approval: Approval,
    pub take: Take,
    /// What tells it from an earlier one of the same conversion: an answer that comes late ends no other.
    pub number: i64,
}

/// A reservation that has come to its end.
pub struct Ended {
    /// Whether the operator has asked meanwhile to forget its user.
    pub erase: bool,
}

/// Makes a reservation. The caller's transaction holds it.
///
/// # Errors
/// What the database says.
pub fn make(db: &impl Database, now_ms: i64, approval: Approval, take: Take) -> Result<Reservation, Failure> {
    let number = db.query_first(sql::NEXT_RESERVATION, &[])?;
    let number =
        number.ok_or_else(|| Failure::Internal("an outbox knows itself before it reserves".into()))?;
    let reservation = Reservation {
        approval,
        take,
        number: number.integer(0)?,
    };
    let Reservation { approval, number, .. } = &reservation;
    db.execute(
        sql::RESERVE,
        params![
            approval.conversion.nonce.0.clone(),
            approval.goal.as_str(),
            now_ms.saturating_add(NET_MS),
            *number,
            &*approval.conversion.click.user_id,
            json(&reservation)?
        ],
    )?;
    Ok(reservation)
}

/// Ends one; `None` if another hand has ended it.
///
/// # Errors
/// What the database says.
pub fn end(db: &impl Database, reservation: &Reservation) -> Result<Option<Ended>, DatabaseError> {
    let ended = db.query_first(sql::END_RESERVATION, &key(reservation))?;
    ended
        .map(|row| {
            Ok(Ended {
                erase: row.boolean(0)?,
            })
        })
        .transpose()
}

/// Those that their requests have left behind, the longest waiting first, with how often each was taken up.
///
/// # Errors
/// What the database says.
pub fn overdue(
    db: &impl Database,
    now_ms: i64,
    most: usize,
) -> Result<Vec<(u32, Reservation)>, DatabaseError> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = db.query(sql::DUE_RESERVATIONS, params![now_ms, most])?;
    rows.iter()
        .map(|row| {
            Ok((
                u32::try_from(row.integer(0)?).unwrap_or(u32::MAX),
                entries::parse(row, 1)?,
            ))
        })
        .collect()
}

/// Has the alarm take one up again at a time, in milliseconds. False if it has ended: then nothing is to be asked for it.
///
/// # Errors
/// What the database says.
pub fn put_off(
    db: &impl Database,
    reservation: &Reservation,
    due_ms: i64,
    attempts: u32,
) -> Result<bool, DatabaseError> {
    let [nonce, goal, number] = key(reservation);
    let put_off = db.query(
        sql::PUT_RESERVATION_OFF,
        &[due_ms.into(), attempts.into(), nonce, goal, number],
    )?;
    Ok(!put_off.is_empty())
}

fn key(reservation: &Reservation) -> [Value; 3] {
    let approval = &reservation.approval;
    [
        approval.conversion.nonce.0.clone().into(),
        approval.goal.as_str().into(),
        reservation.number.into(),
    ]
}

//! The rows of conversions: one for each goal that a click reached. They prevent a second payment.

use super::reservations::Reservation;
use crate::objects::outbox::{
    approval::Approval,
    log::{
        entries,
        states::{state_number, state_of},
    },
    peers::Peers,
    sql,
};
use domain::{
    callbacks::fields::Status,
    conversions::{state::State, table::Event},
    model::AdvertiserId,
};
use platform::{Database, DbResult, Result, database::json, params};

/// A row of `conversions`.
pub struct ConversionRow {
    pub goal: String,
    /// The names by which senders called the goal; an empty text for a postback without a name.
    pub names: Vec<String>,
    pub state: State,
    pub entry: i64,
    /// A revision of the offer's terms that has the goal.
    pub offer_terms: i64,
    /// The advertiser that last reported the conversion.
    pub advertiser: AdvertiserId,
    /// When the first postback arrived, in milliseconds.
    pub first_ms: i64,
}

impl ConversionRow {
    pub fn has_name(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }
}

/// Returns a click's conversions and reservations.
pub fn of_click(db: &impl Database, nonce: &[u8]) -> DbResult<(Vec<ConversionRow>, Vec<Reservation>)> {
    let (mut rows, mut reserved) = (Vec::new(), Vec::new());
    for row in db.query(sql::OF_CLICK, params![nonce.to_vec()])? {
        if row.is_null(0) {
            rows.push(ConversionRow {
                goal: row.text(1)?.to_owned(),
                names: row.json(2)?,
                state: state_of(row.integer(3)?)?,
                entry: row.integer(4)?,
                offer_terms: row.integer(5)?,
                first_ms: row.integer(6)?,
                advertiser: row.parse(7, AdvertiserId::parse)?,
            });
        } else {
            reserved.push(row.json(0)?);
        }
    }
    Ok((rows, reserved))
}

/// Writes a conversion in its new state, with its entry in the log, within the caller's transaction. A publisher that
/// wants notices is told that the conversion is pending or rejected.
pub fn store(
    db: &impl Database,
    peers: &impl Peers,
    now_ms: i64,
    approval: &Approval,
    row: Option<&ConversionRow>,
    state: State,
) -> Result {
    let mut names = row.map(|row| row.names.clone()).unwrap_or_default();
    if !row.is_some_and(|row| row.has_name(approval.name())) {
        names.push(approval.name().to_owned());
    }
    let is_action = matches!(approval.conversion.event, Event::Action(_));
    let entry = match row {
        // A paid conversion's entry never changes, and a repeat changes only the names.
        Some(row) if matches!(row.state, State::Approved | State::Reversed) || row.state == state => row.entry,
        // A rejection by the operator changes only the reason.
        Some(row) if is_action && state == State::Rejected => {
            let reason = approval.conversion.reason.as_deref();
            db.execute(sql::SET_REASON, params![reason, row.entry])?;
            entries::note_change(db, now_ms, approval, row.entry)?;
            row.entry
        }
        Some(row) => entries::amend(db, now_ms, approval, row.entry, (row.state, state))?,
        None => {
            let due_ms = (state == State::Approved).then(|| peers.reward_due_ms(now_ms));
            let entry = entries::create(db, now_ms, approval, due_ms)?;
            if due_ms > Some(now_ms) {
                peers.claimed_ahead(entry);
            }
            entry
        }
    };
    db.execute(
        sql::PUT_CONVERSION,
        params![
            approval.conversion.nonce.0.clone(),
            approval.goal.as_str(),
            json(&names)?,
            state_number(state),
            entry,
            approval.offer_terms,
            approval.advertiser.as_str(),
            approval.rewarded.as_ref().filter(|_| state == State::Approved).map(|key| key.0.clone())
        ],
    )?;
    let told = row.and_then(|row| notice_of(row.state));
    match notice_of(state).filter(|status| Some(*status) != told) {
        Some(status) if peers.wants(status)? => {
            // A notice cannot be sent for an erased user. An action may have read the user before the erasure.
            let is_erased = approval.conversion.click.user_id.is_empty()
                || (is_action && db.query_boolean(sql::HAS_NO_USER, params![entry])?);
            match is_erased {
                true => Ok(()),
                false => entries::notify(db, now_ms, approval, entry, status),
            }
        }
        _ => Ok(()),
    }
}

/// Returns the status of the notice for a state.
fn notice_of(state: State) -> Option<Status> {
    match state {
        State::Pending | State::Held(_) => Some(Status::Pending),
        State::Rejected => Some(Status::Rejected),
        _ => None,
    }
}

//! The log as the operator reads it (`design.md` section 10): an entry for each transaction id, with every attempt.

use std::collections::HashMap;

use serde_json::{Map, Value as Json, json};

use super::{about, about::About, conversions::state_of, entries, sql};
use crate::{
    catalog::document::INVALID_FIELD,
    conversions::state::{State, Status},
    origin::{
        command::{Failure, Reply},
        database::{Database, DatabaseError, Row, json as as_json},
    },
    params,
    refusal::common,
    time::SECOND_MS,
};

/// What `?status=` may be, by its number in `sql::LIST`.
const STATUSES: [(&str, i64); 5] = [
    (Status::Pending.as_str(), 0),
    (Status::Approved.as_str(), 1),
    (Status::Rejected.as_str(), 2),
    (Status::Reversed.as_str(), 3),
    (REFUSED, REFUSED_NUMBER),
];
const REFUSED: &str = "refused";
const REFUSED_NUMBER: i64 = 5;
const WAITING: &str = "waiting";
const DELIVERED: &str = "delivered";
const DEAD: &str = "dead";
const NO_ENDPOINT: &str = "no_endpoint";

/// `GET …/conversions`, the newest first. The cursor of a page is the number of its last entry.
pub fn list(
    db: &impl Database,
    status: Option<&str>,
    state: Option<&str>,
    limit: u32,
    cursor: Option<&str>,
) -> Result<Reply, Failure> {
    let about = about::read(db)?;
    let mut status = status.map(status_number).transpose()?;
    let before = match cursor {
        None => i64::from(u32::MAX) << 20,
        Some(cursor) => cursor
            .parse()
            .ok()
            .filter(|entry| (1..1 << 52).contains(entry))
            .ok_or_else(|| INVALID_FIELD.because("cursor: must be one that a page before this one gave"))?,
    };
    let delivery = match state {
        None => None,
        Some(REFUSED) => {
            // No callback of a refused conversion waits, so the two filters together find either this or nothing.
            match status {
                None | Some(REFUSED_NUMBER) => status = Some(REFUSED_NUMBER),
                Some(_) => return page(db, about.as_ref(), Vec::new(), limit),
            }
            None
        }
        Some(state @ (WAITING | NO_ENDPOINT)) => {
            let has_callback = has_callback(about.as_ref());
            if has_callback != (state == WAITING) {
                return page(db, about.as_ref(), Vec::new(), limit);
            }
            Some(entries::WAITING)
        }
        Some(DELIVERED) => Some(entries::DELIVERED),
        Some(DEAD) => Some(entries::DEAD),
        Some(_) => {
            return Err(INVALID_FIELD
                .because("state: must be waiting, delivered, dead, no_endpoint or refused")
                .into());
        }
    };
    let sql = match delivery {
        Some(entries::WAITING | entries::DEAD) => sql::LIST_FEW,
        _ => sql::LIST,
    };
    // One more than asked for says whether there is a next page.
    let most = limit.saturating_add(1);
    let rows = db.query(sql, params![before, status, delivery, most])?;
    page(db, about.as_ref(), rows, limit)
}

/// `GET …/conversions/{transaction_id}`.
pub fn get(db: &impl Database, transaction_id: &str) -> Result<Reply, Failure> {
    let about = about::read(db)?;
    let rows = db.query(sql::GET_ENTRY, params![transaction_id])?;
    let shown = shown(db, about.as_ref(), &rows)?.pop();
    let entry = shown.ok_or_else(|| common::NOT_FOUND.because("there is no such conversion"))?;
    Ok(Reply::ok(&entry))
}

fn status_number(status: &str) -> Result<i64, Failure> {
    let known = STATUSES.iter().find(|(name, _)| *name == status);
    known.map(|(_, number)| *number).ok_or_else(|| {
        INVALID_FIELD
            .because("status: must be pending, approved, rejected, reversed or refused")
            .into()
    })
}

fn page(db: &impl Database, about: Option<&About>, mut rows: Vec<Row>, limit: u32) -> Result<Reply, Failure> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_last = rows.len() <= limit;
    rows.truncate(limit);
    let cursor = match rows.last() {
        Some(last) if !is_last => Some(last.integer(0)?.to_string()),
        _ => None,
    };
    let shown = shown(db, about, &rows)?;
    Ok(Reply::ok(&json!({ "conversions": shown, "cursor": cursor })))
}

fn shown(db: &impl Database, about: Option<&About>, rows: &[Row]) -> Result<Vec<Json>, DatabaseError> {
    let entries: Vec<i64> = rows.iter().map(|row| row.integer(0)).collect::<Result<_, _>>()?;
    let mut attempts = attempts(db, &entries)?;
    rows.iter()
        .zip(entries)
        .map(|(row, entry)| show(row, about, attempts.remove(&entry).unwrap_or_default()))
        .collect()
}

fn show(row: &Row, about: Option<&About>, attempts: Vec<Json>) -> Result<Json, DatabaseError> {
    // As it was said, but for what was erased; a number with more digits than a double holds stays as it is.
    let said: Map<String, Json> = entries::parse(row, 6)?;
    let delivery = row.optional_integer(2)?;
    let original = row.optional_text(8)?;
    let state = state_of(row.integer(7)?)?;
    let refusal = match state {
        State::Refused(reason) if original.is_none() => Some(reason.refusal().code),
        _ => None,
    };
    let status = match state.answer() {
        _ if original.is_some() => Status::Reversed.as_str(),
        Ok(status) => status.as_str(),
        Err(_) => REFUSED,
    };
    let state = match delivery {
        Some(entries::WAITING) if has_callback(about) => Some(WAITING),
        Some(entries::WAITING) => Some(NO_ENDPOINT),
        Some(entries::DELIVERED) => Some(DELIVERED),
        Some(_) => Some(DEAD),
        None => refusal.map(|_| REFUSED),
    };
    let next_try_ms = match state {
        Some(WAITING) => row.optional_integer(3)?,
        _ => None,
    };
    let member = |name: &str| said.get(name).cloned().unwrap_or_default();
    let mut shown = json!({
        "transaction_id": row.text(1)?,
        "user_id": row.optional_text(4)?,
        "offer_id": member("offer_id"),
        "goal_id": member("goal_id"),
        "click_ts": member("click_ts"),
        "conversion_ts": member("conversion_ts"),
        "status": status,
        "state": state,
        "attempts": attempts,
    });
    let optional = [
        ("original_transaction_id", original.map(Json::from)),
        ("txn", row.optional_text(5)?.map(Json::from)),
        ("refusal", refusal.map(Json::from)),
        (
            "next_try_ts",
            next_try_ms.map(|ms| ms.div_euclid(SECOND_MS).into()),
        ),
        ("payout", delivery.and_then(|_| number(&said, "payout"))),
        ("value", delivery.and_then(|_| number(&said, "value"))),
    ];
    if let Json::Object(members) = &mut shown {
        let present = optional
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        members.extend(present);
    }
    Ok(shown)
}

/// An amount, which is kept as a text, as a number.
fn number(said: &Map<String, Json>, name: &str) -> Option<Json> {
    serde_json::from_str(said.get(name)?.as_str()?).ok()
}

fn has_callback(about: Option<&About>) -> bool {
    about.is_some_and(|about| about.callback.sealed.is_some())
}

fn attempts(db: &impl Database, entries: &[i64]) -> Result<HashMap<i64, Vec<Json>>, DatabaseError> {
    let mut attempts: HashMap<i64, Vec<Json>> = HashMap::new();
    for row in db.query(sql::LIST_ATTEMPTS, params![as_json(&entries)?])? {
        let mut attempt = json!({
            "at": row.integer(1)?.div_euclid(SECOND_MS),
            "ms": row.integer(2)?,
            "http_status": row.optional_integer(3)?,
            "body": row.text(4)?,
        });
        if let (Some(error), Json::Object(members)) = (row.optional_text(5)?, &mut attempt) {
            members.insert("error".into(), error.into());
        }
        attempts.entry(row.integer(0)?).or_default().push(attempt);
    }
    Ok(attempts)
}

//! The log as the operator reads it (docs/OPERATING.md, "The operator's API"): an entry for each transaction id, with every attempt.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json, value::RawValue};

use super::{
    conversions::state_of,
    endpoint::{self, OutboxState},
    entries, sql,
};
use contract::operation::Reply;
use domain::{
    callbacks::fields::Decimal,
    conversions::state::{State, Status},
    model::{api_error::common, document::INVALID_FIELD, time::SECOND_MS},
};
use platform::{
    database::{Database, DatabaseError, Row, json as as_json},
    failure::Failure,
    params,
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

/// Entries that a page looks at: some 20 ms of an object's time, in which it answers nobody. A filter that finds few of
/// them makes a short page, or an empty one.
pub const WALK: i64 = 20_000;
/// Bytes of attempts after which a page ends.
pub const MAX_TEXT: usize = 1 << 20;
/// Entries whose attempts are read at once.
const CHUNK: usize = 50;

/// `GET …/conversions`, the newest first. The cursor of a page is the number of the last entry that it is done with;
/// only where the log ends it has none.
pub fn list(
    db: &impl Database,
    status: Option<&str>,
    state: Option<&str>,
    limit: u32,
    cursor: Option<&str>,
) -> Result<Reply, Failure> {
    let about = endpoint::read(db)?;
    let mut status = status.map(status_number).transpose()?;
    let after_last = last_entry(db)?.saturating_add(1);
    let before = match cursor {
        None => after_last,
        Some(cursor) => cursor
            .parse::<i64>()
            .ok()
            .filter(|entry| (1..1 << 52).contains(entry))
            .ok_or_else(|| {
                INVALID_FIELD.with_message("cursor: must be one that a page before this one gave")
            })?
            .min(after_last),
    };
    let delivery = match state {
        None => None,
        Some(REFUSED) => {
            // No callback of a refused conversion waits, so the two filters together find either this or nothing.
            match status {
                None | Some(REFUSED_NUMBER) => status = Some(REFUSED_NUMBER),
                Some(_) => return page(db, about.as_ref(), &[], None),
            }
            None
        }
        Some(state @ (WAITING | NO_ENDPOINT)) => {
            let has_callback = has_callback(about.as_ref());
            if has_callback != (state == WAITING) {
                return page(db, about.as_ref(), &[], None);
            }
            Some(entries::WAITING)
        }
        Some(DELIVERED) => Some(entries::DELIVERED),
        Some(DEAD) => Some(entries::DEAD),
        Some(_) => {
            return Err(INVALID_FIELD
                .with_message("state: must be waiting, delivered, dead, no_endpoint or refused")
                .into());
        }
    };
    // One more than asked for says whether there is a next page.
    let most = limit.saturating_add(1);
    let (mut rows, end) = if delivery == Some(entries::DEAD) {
        let rows = db.query(sql::LIST_FEW, params![before, status, delivery, most])?;
        (rows, None)
    } else {
        let from = before.saturating_sub(WALK);
        let rows = db.query(sql::LIST, params![before, status, delivery, most, from])?;
        // The first entry is 1.
        (rows, Some(from).filter(|from| *from > 1))
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_cut = rows.len() > limit;
    rows.truncate(limit);
    let end = match rows.last() {
        Some(last) if is_cut => Some(last.integer(0)?),
        _ => end,
    };
    page(db, about.as_ref(), &rows, end)
}

/// The highest entry; 0 of an empty log.
///
/// # Errors
/// What the database says.
pub fn last_entry(db: &impl Database) -> Result<i64, DatabaseError> {
    let last = db.query_first(sql::LAST_ENTRY, &[])?;
    let last = last.map_or(Ok(None), |row| row.optional_integer(0))?;
    Ok(last.unwrap_or(0))
}

/// `GET …/conversions/{transaction_id}`.
pub fn get(db: &impl Database, transaction_id: &str) -> Result<Reply, Failure> {
    let about = endpoint::read(db)?;
    let rows = db.query(sql::GET_ENTRY, params![transaction_id])?;
    let (mut shown, _) = shown(db, about.as_ref(), &rows)?;
    let entry = shown
        .pop()
        .ok_or_else(|| common::NOT_FOUND.with_message("there is no such conversion"))?;
    reply(&entry)
}

fn status_number(status: &str) -> Result<i64, Failure> {
    let known = STATUSES.iter().find(|(name, _)| *name == status);
    known.map(|(_, number)| *number).ok_or_else(|| {
        INVALID_FIELD
            .with_message("status: must be pending, approved, rejected, reversed or refused")
            .into()
    })
}

/// These entries, as far as their attempts have room on one page. `end` is the cursor of a page that has them all.
fn page(
    db: &impl Database,
    about: Option<&OutboxState>,
    rows: &[Row],
    end: Option<i64>,
) -> Result<Reply, Failure> {
    let (mut conversions, mut end, mut room) = (Vec::with_capacity(rows.len()), end, MAX_TEXT);
    for chunk in rows.chunks(CHUNK) {
        let (entries, text) = shown(db, about, chunk)?;
        conversions.extend(entries);
        room = room.saturating_sub(text);
        if let (0, Some(last)) = (room, chunk.last()) {
            if conversions.len() < rows.len() {
                end = Some(last.integer(0)?);
            }
            break;
        }
    }
    reply(&Page {
        conversions,
        cursor: end.map(|end| end.to_string()),
    })
}

#[derive(Serialize)]
struct Page<'r> {
    conversions: Vec<Shown<'r>>,
    cursor: Option<String>,
}

fn reply(body: &impl Serialize) -> Result<Reply, Failure> {
    Ok(Reply {
        status: 200,
        body: as_json(body)?,
    })
}

/// With the bytes of their attempts' texts.
fn shown<'r>(
    db: &impl Database,
    about: Option<&OutboxState>,
    rows: &'r [Row],
) -> Result<(Vec<Shown<'r>>, usize), DatabaseError> {
    let entries: Vec<i64> = rows.iter().map(|row| row.integer(0)).collect::<Result<_, _>>()?;
    let (mut attempts, text) = attempts(db, &entries)?;
    let shown = rows
        .iter()
        .zip(entries)
        .map(|(row, entry)| show(row, about, attempts.remove(&entry).unwrap_or_default()))
        .collect::<Result<_, _>>()?;
    Ok((shown, text))
}

/// An entry as the operator reads it.
#[derive(Serialize)]
struct Shown<'r> {
    transaction_id: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_transaction_id: Option<&'r str>,
    user_id: Option<&'r str>,
    offer_id: String,
    goal_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    txn: Option<&'r str>,
    click_ts: i64,
    conversion_ts: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    payout: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
    status: &'static str,
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_try_ts: Option<i64>,
    attempts: Vec<Json>,
}

/// What the log shows of what was said.
#[derive(Deserialize)]
struct Said {
    offer_id: String,
    goal_id: String,
    click_ts: i64,
    conversion_ts: i64,
    payout: Decimal,
    value: Decimal,
}

fn show<'r>(
    row: &'r Row,
    about: Option<&OutboxState>,
    attempts: Vec<Json>,
) -> Result<Shown<'r>, DatabaseError> {
    let said: Said = entries::parse(row, 6)?;
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
        // None is due while the endpoint is switched off.
        Some(WAITING) if about.is_some_and(OutboxState::has_endpoint) => row.optional_integer(3)?,
        _ => None,
    };
    // Digit by digit as it was sent: a double could not hold them all.
    let amount = |amount: &Decimal| RawValue::from_string(amount.as_str().to_owned()).ok();
    Ok(Shown {
        transaction_id: row.text(1)?,
        original_transaction_id: original,
        user_id: row.optional_text(4)?,
        offer_id: said.offer_id,
        goal_id: said.goal_id,
        txn: row.optional_text(5)?,
        click_ts: said.click_ts,
        conversion_ts: said.conversion_ts,
        payout: delivery.and_then(|_| amount(&said.payout)),
        value: delivery.and_then(|_| amount(&said.value)),
        status,
        state,
        refusal,
        next_try_ts: next_try_ms.map(|ms| ms.div_euclid(SECOND_MS)),
        attempts,
    })
}

fn has_callback(about: Option<&OutboxState>) -> bool {
    about.is_some_and(OutboxState::has_callback)
}

/// The attempts of these entries, and the bytes of their texts.
fn attempts(db: &impl Database, entries: &[i64]) -> Result<(HashMap<i64, Vec<Json>>, usize), DatabaseError> {
    let (mut attempts, mut text) = (HashMap::<i64, Vec<Json>>::new(), 0_usize);
    for row in db.query(sql::LIST_ATTEMPTS, params![as_json(&entries)?])? {
        let mut attempt = json!({
            "at": row.integer(1)?.div_euclid(SECOND_MS),
            "ms": row.integer(2)?,
            "http_status": row.optional_integer(3)?,
            "body": row.text(4)?,
        });
        text = text.saturating_add(row.text(4)?.len());
        if let (Some(error), Json::Object(members)) = (row.optional_text(5)?, &mut attempt) {
            text = text.saturating_add(error.len());
            members.insert("error".into(), error.into());
        }
        attempts.entry(row.integer(0)?).or_default().push(attempt);
    }
    Ok((attempts, text))
}

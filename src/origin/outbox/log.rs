//! The operator's view of the log (docs/OPERATING.md, "The conversion log"): an entry for each transaction id, with its
//! callback's attempts.

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

/// The values of `?status=`, with their numbers in `sql::LIST`.
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

/// Entries that a page examines at most: about 20 ms, during which the object answers no other request. A selective
/// filter therefore makes a short or empty page.
pub const WALK: i64 = 20_000;
/// Bytes of attempts' texts after which a page ends.
pub const MAX_TEXT: usize = 1 << 20;
/// Entries whose attempts are read at a time.
const CHUNK: usize = 50;

/// `GET …/conversions`, the newest first. A page's cursor is the number of the last entry that it has examined; only
/// the last page has none.
pub fn list(
    db: &impl Database,
    status: Option<&str>,
    state: Option<&str>,
    limit: u32,
    cursor: Option<&str>,
) -> Result<Reply, Failure> {
    let outbox = endpoint::read(db)?;
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
            // A refused conversion has the status `refused`, so any other status matches nothing.
            match status {
                None | Some(REFUSED_NUMBER) => status = Some(REFUSED_NUMBER),
                Some(_) => return page(db, outbox.as_ref(), &[], None),
            }
            None
        }
        Some(state @ (WAITING | NO_ENDPOINT)) => {
            let has_callback = has_callback(outbox.as_ref());
            if has_callback != (state == WAITING) {
                return page(db, outbox.as_ref(), &[], None);
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
    // One entry more than requested shows whether there is a next page.
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
    page(db, outbox.as_ref(), &rows, end)
}

/// The highest entry; 0 if the log is empty.
pub fn last_entry(db: &impl Database) -> Result<i64, DatabaseError> {
    Ok(db.query_integer(sql::LAST_ENTRY, &[])?.unwrap_or(0))
}

/// `GET …/conversions/{transaction_id}`.
pub fn get(db: &impl Database, transaction_id: &str) -> Result<Reply, Failure> {
    let outbox = endpoint::read(db)?;
    let rows = db.query(sql::GET_ENTRY, params![transaction_id])?;
    let (mut shown, _) = log_entries(db, outbox.as_ref(), &rows)?;
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

/// A page of these entries, cut after [`MAX_TEXT`] bytes of attempts. `end` is the cursor of the uncut page.
fn page(
    db: &impl Database,
    outbox: Option<&OutboxState>,
    rows: &[Row],
    end: Option<i64>,
) -> Result<Reply, Failure> {
    let (mut conversions, mut end, mut free_text) = (Vec::with_capacity(rows.len()), end, MAX_TEXT);
    for chunk in rows.chunks(CHUNK) {
        let (entries, text) = log_entries(db, outbox, chunk)?;
        conversions.extend(entries);
        free_text = free_text.saturating_sub(text);
        if let (0, Some(last)) = (free_text, chunk.last()) {
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
    conversions: Vec<LogEntry<'r>>,
    cursor: Option<String>,
}

fn reply(body: &impl Serialize) -> Result<Reply, Failure> {
    Ok(Reply {
        status: 200,
        body: as_json(body)?,
    })
}

/// These entries as the operator reads them, and the bytes of their attempts' texts.
fn log_entries<'r>(
    db: &impl Database,
    outbox: Option<&OutboxState>,
    rows: &'r [Row],
) -> Result<(Vec<LogEntry<'r>>, usize), DatabaseError> {
    let entries: Vec<i64> = rows.iter().map(|row| row.integer(0)).collect::<Result<_, _>>()?;
    let (mut attempts, text) = attempts(db, &entries)?;
    let shown = rows
        .iter()
        .zip(entries)
        .map(|(row, entry)| log_entry(row, outbox, attempts.remove(&entry).unwrap_or_default()))
        .collect::<Result<_, _>>()?;
    Ok((shown, text))
}

/// An entry as the operator reads it.
#[derive(Serialize)]
struct LogEntry<'r> {
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

/// The fields of a callback that the log shows.
#[derive(Deserialize)]
struct LoggedFields {
    offer_id: String,
    goal_id: String,
    click_ts: i64,
    conversion_ts: i64,
    payout: Decimal,
    value: Decimal,
}

fn log_entry<'r>(
    row: &'r Row,
    outbox: Option<&OutboxState>,
    attempts: Vec<Json>,
) -> Result<LogEntry<'r>, DatabaseError> {
    let fields: LoggedFields = row.json(6)?;
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
        Some(entries::WAITING) if has_callback(outbox) => Some(WAITING),
        Some(entries::WAITING) => Some(NO_ENDPOINT),
        Some(entries::DELIVERED) => Some(DELIVERED),
        Some(_) => Some(DEAD),
        None => refusal.map(|_| REFUSED),
    };
    let next_try_ms = match state {
        // No attempt is due while the endpoint is disabled.
        Some(WAITING) if outbox.is_some_and(OutboxState::has_endpoint) => row.optional_integer(3)?,
        _ => None,
    };
    // The digits exactly as they were sent; a double could not hold them all.
    let amount = |amount: &Decimal| RawValue::from_string(amount.as_str().to_owned()).ok();
    Ok(LogEntry {
        transaction_id: row.text(1)?,
        original_transaction_id: original,
        user_id: row.optional_text(4)?,
        offer_id: fields.offer_id,
        goal_id: fields.goal_id,
        txn: row.optional_text(5)?,
        click_ts: fields.click_ts,
        conversion_ts: fields.conversion_ts,
        payout: delivery.and_then(|_| amount(&fields.payout)),
        value: delivery.and_then(|_| amount(&fields.value)),
        status,
        state,
        refusal,
        next_try_ts: next_try_ms.map(|ms| ms.div_euclid(SECOND_MS)),
        attempts,
    })
}

fn has_callback(outbox: Option<&OutboxState>) -> bool {
    outbox.is_some_and(OutboxState::has_callback)
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

//! The operator's view of the log (docs/OPERATING.md, "The conversion log"): an entry for each transaction id, with its
//! callback's attempts.
//!
//! - [`entries`]: the writing of entries; [`states`]: the numbers of their states.

pub mod entries;
pub mod states;

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{
    Value as Json, json,
    value::{RawValue, to_raw_value},
};

use super::{
    endpoint::{self, OutboxState},
    sql,
};
use contract::{
    operation::OperatorReply,
    outbox::{List, ListPage, ListedEntry},
};
use domain::{
    callbacks::fields::Decimal,
    conversions::state::{Reason, State, Status},
    model::{ApiError, INVALID_FIELD, SECOND_MS, common},
};
use entries::LoggedFields;
use platform::{
    Database, DbResult, Failure, Result, Row,
    database::{MAX_INTEGER, json as as_json},
    params,
};
use states::{state_number, state_of};

/// The values of `?status=`, with their numbers in `sql::LIST`.
const STATUSES: [(&str, i64); 6] = [
    (Status::Pending.as_str(), 0),
    (Status::Approved.as_str(), 1),
    (Status::Rejected.as_str(), 2),
    (Status::Reversed.as_str(), 3),
    (HELD, 4),
    (REFUSED, REFUSED_NUMBER),
];
const HELD: &str = "held";
const REFUSED: &str = "refused";
const REFUSED_NUMBER: i64 = 5;
const WAITING: &str = "waiting";
const DELIVERED: &str = "delivered";
const DEAD: &str = "dead";
const NO_ENDPOINT: &str = "no_endpoint";
const NOT_WANTED: &str = "not_wanted";

/// Maximum entries that a page examines. This takes about 20 ms, during which the object answers no other request. With
/// a selective filter a page may therefore be short or empty.
pub const WALK: i64 = 20_000;
/// Maximum entries whose attempts are read at a time.
const CHUNK: usize = 50;

/// The filter of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The number of a status in [`STATUSES`].
    status: Option<i64>,
    state: Option<DeliveryFilter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeliveryFilter {
    /// `waiting` if the app has a callback, `no_endpoint` if not.
    Waiting {
        has_callback: bool,
    },
    Ended(i64),
    Refused,
}

impl Filter {
    /// # Errors
    /// `invalid_field` for an unknown name.
    pub fn parse(status: Option<&str>, state: Option<&str>) -> Result<Self, ApiError> {
        let state = match state {
            None => None,
            Some(REFUSED) => Some(DeliveryFilter::Refused),
            Some(WAITING) => Some(DeliveryFilter::Waiting { has_callback: true }),
            Some(NO_ENDPOINT) => Some(DeliveryFilter::Waiting { has_callback: false }),
            Some(DELIVERED) => Some(DeliveryFilter::Ended(entries::DELIVERED)),
            Some(DEAD) => Some(DeliveryFilter::Ended(entries::DEAD)),
            Some(NOT_WANTED) => Some(DeliveryFilter::Ended(entries::NOT_WANTED)),
            Some(_) => {
                return Err(INVALID_FIELD
                    .with_message("state: must be waiting, delivered, dead, not_wanted, no_endpoint or refused"));
            }
        };
        Ok(Self {
            status: status
                .map(status_number)
                .transpose()
                .map_err(|problem| INVALID_FIELD.with_message(format!("status: {problem}")))?,
            state,
        })
    }
}

/// Returns a page of the log, newest entries first, after examining at most `walk` entries.
pub fn list(db: &impl Database, list: &List, walk: i64) -> Result<ListPage> {
    let Filter { mut status, state } = Filter::parse(list.status.as_deref(), list.state.as_deref())?;
    let reason = list.reason.as_deref();
    let [refused, held] = numbers_of(reason);
    let outbox = endpoint::read(db)?;
    let before = list.before.unwrap_or(MAX_INTEGER);
    let nothing = ListPage { entries: Vec::new(), end: None };
    let delivery = match state {
        None => None,
        // A refused conversion has only the status `refused`, so with any other status nothing matches.
        Some(DeliveryFilter::Refused) if status.is_some_and(|status| status != REFUSED_NUMBER) => {
            return Ok(nothing);
        }
        Some(DeliveryFilter::Refused) => {
            status = Some(REFUSED_NUMBER);
            None
        }
        Some(DeliveryFilter::Waiting { has_callback: wanted }) if wanted != has_callback(outbox.as_ref()) => {
            return Ok(nothing);
        }
        Some(DeliveryFilter::Waiting { .. }) => Some(entries::WAITING),
        Some(DeliveryFilter::Ended(delivery)) => Some(delivery),
    };
    // One entry more than the limit shows whether there is a next page.
    let most = list.limit.saturating_add(1);
    let mut parameters = params![before, status, delivery, most, reason, refused, held].to_vec();
    let (sql, end) = if let Some(user_id) = &list.user_id {
        parameters.push(user_id.as_str().into());
        (sql::LIST_OF_USER, None)
    } else if delivery == Some(entries::DEAD) {
        (sql::LIST_FEW, None)
    } else {
        let unexamined = db.query_integer(sql::ENTRY_BEFORE, params![before, walk])?;
        let end = unexamined.map(|entry| entry.saturating_add(1));
        parameters.push(end.unwrap_or(0).into());
        (sql::LIST, end)
    };
    let mut rows = db.query(sql, &parameters)?;
    let limit = usize::try_from(list.limit).unwrap_or(usize::MAX);
    let is_cut = rows.len() > limit;
    rows.truncate(limit);
    let end = match rows.last() {
        Some(last) if is_cut => Some(last.integer(0)?),
        _ => end,
    };
    page(db, outbox.as_ref(), &rows, end, list.max_text)
}

/// Answers `GET …/conversions/{transaction_id}`.
pub fn get(db: &impl Database, transaction_id: &str) -> Result<OperatorReply> {
    let outbox = endpoint::read(db)?;
    let rows = db.query(sql::GET_ENTRY, params![transaction_id])?;
    let (mut shown, _) = log_entries(db, outbox.as_ref(), &rows)?;
    let entry = shown.pop().ok_or_else(|| common::NOT_FOUND.with_message("no conversion has this transaction_id"))?;
    Ok(OperatorReply::new(200, as_json(&entry)?))
}

/// Returns the number that statements use for a status.
///
/// # Errors
/// The status is unknown. The error is a text for the answer.
pub fn status_number(status: &str) -> Result<i64, &'static str> {
    let known = STATUSES.iter().find(|(name, _)| *name == status);
    known.map(|(_, number)| *number).ok_or("must be pending, held, approved, rejected, reversed or refused")
}

/// Returns the numbers of two states: refused, and held, for the reason with this code. Both are `None` for a reason in
/// words.
pub fn numbers_of(reason: Option<&str>) -> [Option<i64>; 2] {
    let code = reason.and_then(Reason::parse);
    [State::Refused, State::Held].map(|state| code.map(state).map(state_number))
}

/// Makes a page of these entries. The page is cut once the texts of its attempts reach `max_text` bytes. `end` is the
/// end of the uncut page.
fn page(
    db: &impl Database,
    outbox: Option<&OutboxState>,
    rows: &[Row],
    mut end: Option<i64>,
    max_text: usize,
) -> Result<ListPage> {
    let (mut listed, mut free_text) = (Vec::with_capacity(rows.len()), max_text);
    for chunk in rows.chunks(CHUNK) {
        let (entries, text) = log_entries(db, outbox, chunk)?;
        for (row, entry) in chunk.iter().zip(&entries) {
            listed.push(ListedEntry {
                number: row.integer(0)?,
                entry: to_raw_value(entry).map_err(|error| Failure::Internal(error.to_string()))?,
            });
        }
        free_text = free_text.saturating_sub(text);
        if let (0, Some(last)) = (free_text, chunk.last()) {
            if listed.len() < rows.len() {
                end = Some(last.integer(0)?);
            }
            break;
        }
    }
    Ok(ListPage { entries: listed, end })
}

/// Returns these entries as the operator reads them, and the size of their attempts' texts in bytes.
fn log_entries<'r>(
    db: &impl Database,
    outbox: Option<&OutboxState>,
    rows: &'r [Row],
) -> DbResult<(Vec<LogEntry<'r>>, usize)> {
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
    promised_payout: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
    status: &'static str,
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_try_ts: Option<i64>,
    attempts: Vec<Json>,
}

fn log_entry<'r>(row: &'r Row, outbox: Option<&OutboxState>, attempts: Vec<Json>) -> DbResult<LogEntry<'r>> {
    let fields: LoggedFields = row.json(6)?;
    let delivery = row.optional_integer(2)?;
    let original = row.optional_text(8)?;
    let state = state_of(row.integer(7)?)?;
    let code = state.reason().filter(|_| original.is_none()).map(Reason::code);
    let notice = row.optional_integer(11)?.map(state_of).transpose()?;
    let is_payment = delivery.is_some() && notice.is_none();
    let status = match (state, state.answer()) {
        _ if notice == Some(State::Pending) => Status::Pending.as_str(),
        _ if notice.is_some() => Status::Rejected.as_str(),
        _ if original.is_some() => Status::Reversed.as_str(),
        (State::Held(_), _) => HELD,
        (_, Ok(status)) => status.as_str(),
        (_, Err(_)) => REFUSED,
    };
    let is_refused = status == REFUSED;
    let waits = delivery.is_none() && [HELD, Status::Pending.as_str()].contains(&status);
    let state = match delivery {
        Some(delivery) => Some(delivery_name(delivery, has_callback(outbox))),
        None => is_refused.then_some(REFUSED),
    };
    let next_try_ms = match state {
        // No attempt is due while the endpoint is disabled.
        Some(WAITING) if outbox.is_some_and(OutboxState::has_endpoint) => row.optional_integer(3)?,
        _ => None,
    };
    // Shows the digits exactly as they were sent, because a double cannot hold all of them.
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
        payout: is_payment.then(|| amount(&fields.payout)).flatten(),
        promised_payout: waits.then(|| amount(&fields.payout)).flatten(),
        value: is_payment.then(|| amount(&fields.value)).flatten(),
        status,
        state,
        code,
        reason: row.optional_text(10)?,
        next_try_ts: next_try_ms.map(|ms| ms.div_euclid(SECOND_MS)),
        attempts,
    })
}

/// Returns the name of a callback's delivery state.
pub fn delivery_name(delivery: i64, has_callback: bool) -> &'static str {
    match delivery {
        entries::WAITING if has_callback => WAITING,
        entries::WAITING => NO_ENDPOINT,
        entries::DELIVERED => DELIVERED,
        entries::NOT_WANTED => NOT_WANTED,
        _ => DEAD,
    }
}

fn has_callback(outbox: Option<&OutboxState>) -> bool {
    outbox.is_some_and(OutboxState::has_callback)
}

pub type Attempts = HashMap<i64, Vec<Json>>;

/// Returns the newest attempts of each of these entries.
pub fn newest_attempts(db: &impl Database, entries: &[i64], most: u32) -> DbResult<Attempts> {
    let rows = db.query(sql::NEWEST_ATTEMPTS, params![as_json(&entries)?, most])?;
    shown_attempts(&rows).map(|(attempts, _)| attempts)
}

/// Returns all attempts of these entries, and the size of the attempts' texts in bytes.
fn attempts(db: &impl Database, entries: &[i64]) -> DbResult<(Attempts, usize)> {
    shown_attempts(&db.query(sql::LIST_ATTEMPTS, params![as_json(&entries)?])?)
}

fn shown_attempts(rows: &[Row]) -> DbResult<(Attempts, usize)> {
    let (mut attempts, mut text) = (Attempts::new(), 0_usize);
    for row in rows {
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

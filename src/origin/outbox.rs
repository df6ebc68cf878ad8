//! Outboxes: one object for each app. An outbox makes conversions durable, pays each once, and delivers their callbacks to
//! the publisher (docs/DECISIONS.md, "Conversions" and "Completion callbacks").
//!
//! - [`conversions`], [`reservations`] and [`commit`]: the rows that a postback writes, and their order;
//! - [`entries`] and [`log`]: the entry of each transaction id, and how the operator reads it;
//! - [`deliveries`]: callbacks in delivery; [`endpoint`]: where they go;
//! - [`click_locks`]: one conversion of a click at a time;
//! - [`terms_client`]: the catalog's terms; [`revenue_batches`]: sums for ledgers and counters;
//! - [`replay`] and [`retention`]: the operator's repairs, and what is deleted.

pub mod callback_sender;
pub mod click_locks;
pub mod commit;
pub mod conversions;
pub mod deliveries;
pub mod delivery_log;
pub mod endpoint;
pub mod entries;
pub mod log;
#[cfg(target_arch = "wasm32")]
mod object;
pub mod replay;
pub mod reservations;
pub mod retention;
mod revenue_batches;
pub mod service;
pub mod sql;
pub mod terms_cache;
pub mod terms_client;

pub use sql::MIGRATIONS;

use crate::batches;
use domain::model::time::SECOND_MS;
use platform::{
    database::{Database, DatabaseError},
    params,
};

/// How long due work may wait for the request that should begin it, in milliseconds; then the alarm does.
pub const NET_MS: i64 = 15 * SECOND_MS;

/// When the object must wake, given its rows; never if nothing waits. Work that is due already is under way, or waits for
/// room: the alarm is only its safety net.
pub fn next_alarm(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let reserved = db.query_first(sql::FIRST_RESERVATION, params![])?;
    let dues = [
        reserved.map_or(Ok(None), |row| row.optional_integer(0))?,
        deliveries::due_ms(db)?,
        batches::due_ms(db, now_ms)?,
        retention::due_ms(db, now_ms)?,
    ];
    let wakes = dues.into_iter().flatten().map(|due_ms| {
        if due_ms <= now_ms {
            now_ms.saturating_add(NET_MS)
        } else {
            due_ms
        }
    });
    Ok(wakes.min())
}

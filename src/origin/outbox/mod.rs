//! `origin/outbox`: one object for each app. It makes conversions durable, pays them once, and sees their callbacks
//! through to the publisher (`design.md` sections 6 and 7).
//!
//! - [`conversions`], [`reservations`] and [`flow`]: what a postback writes, and in which order;
//! - [`entries`] and [`log`]: the entry of each transaction id, and how the operator reads it;
//! - [`deliveries`]: callbacks on their way; [`about`]: where they go;
//! - [`turns`]: one conversion of a click at a time;
//! - [`operating`] and [`erasing`]: what the operator does with them, and what is forgotten.

pub mod about;
#[cfg(target_arch = "wasm32")]
mod asking;
#[cfg(target_arch = "wasm32")]
mod calling;
#[cfg(target_arch = "wasm32")]
pub mod client;
pub mod command;
pub mod conversions;
pub mod deliveries;
pub mod entries;
pub mod erasing;
pub mod flow;
pub mod log;
#[cfg(target_arch = "wasm32")]
mod object;
pub mod operating;
pub mod remembered;
pub mod reservations;
#[cfg(target_arch = "wasm32")]
mod sending;
pub mod sql;
#[cfg(target_arch = "wasm32")]
mod telling;
#[cfg(target_arch = "wasm32")]
pub mod tries;
pub mod turns;

pub use command::{Answer, Command, Conversion, Reply};
pub use sql::MIGRATIONS;

use super::{
    database::{Database, DatabaseError},
    forward,
};
use crate::{catalog::AppId, params, time::SECOND_MS};

/// The namespace's binding.
pub const BINDING: &str = "OUTBOXES";

/// What is due and not begun is begun by the alarm after this long, in milliseconds: the net under the request that
/// should have begun it.
const NET_MS: i64 = 15 * SECOND_MS;

/// The name of an app's object. A changed name would lose the app's conversions.
pub fn object_name(app: AppId) -> String {
    format!("outbox-{app}")
}

/// When the object has to be woken, given what it holds; none if nothing waits. What is due already is on its way, or
/// waits for room: the alarm is only its net.
///
/// # Errors
/// What the database says.
pub fn next_alarm(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let reserved = db.query_first(sql::FIRST_RESERVATION, params![])?;
    let dues = [
        reserved.map_or(Ok(None), |row| row.optional_integer(0))?,
        deliveries::due_ms(db)?,
        forward::due_ms(db, now_ms)?,
        erasing::due_ms(db, now_ms)?,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects_never_change() {
        assert_eq!(object_name(AppId::parse("00000042").unwrap()), "outbox-00000042");
    }
}

//! Completion callbacks, as a publisher's server receives them: what they say (`requests`) and how it is signed
//! (`signatures`); that they come until they are taken (`failures`), stop when they are told to (`endpoints`) and hold
//! up no one (`promptness`); reversals; where they may not go (`guard`); and the log of it all (`log`, `paging`,
//! `erasure`).

mod endpoints;
mod erasure;
mod failures;
mod guard;
mod log;
mod paging;
mod promptness;
mod requests;
mod reversals;
mod signatures;

use serde_json::{Value, json};

use crate::harness::{Setup, Signpost, Wall, in_time};
use domain::model::time::SECOND_MS;

/// Beyond all tries of [`quick`].
const TRIES_MS: i64 = 60 * SECOND_MS;

/// A Signpost that tries four times within seconds, and waits for an answer for half a second.
fn quick() -> Signpost {
    Setup::new()
        .var("CALLBACK_SCHEDULE", "0,1,1,1")
        .var("CALLBACK_TIMEOUT_MS", "500")
        .start()
}

/// One that tries twice.
fn twice() -> Signpost {
    Setup::new().var("CALLBACK_SCHEDULE", "0,1").start()
}

/// Waits until the log says this of the callback of a transaction, and gives the entry.
#[track_caller]
fn becomes(wall: &Wall<'_>, transaction_id: &str, state: &str) -> Value {
    in_time(TRIES_MS, &state.to_owned(), || wall.state(transaction_id));
    wall.entry(transaction_id)
}

/// The statuses of an entry's attempts, null where there was no answer.
fn statuses(entry: &Value) -> Value {
    let attempts = entry["attempts"].as_array().expect("attempts");
    attempts
        .iter()
        .map(|attempt| attempt["http_status"].clone())
        .collect()
}

/// What is said of an app's endpoint when all is well and nothing waits.
fn healthy() -> Value {
    json!({"state": "healthy", "consecutive_failures": 0, "next_try_ts": null, "waiting": 0, "dead": 0, "reserving": 0})
}

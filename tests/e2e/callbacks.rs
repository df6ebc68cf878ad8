//! Completion callbacks as a publisher's server receives them: content (`requests`, `documented`), events, signatures,
//! reversals, retries (`failures`), disabled endpoints (`endpoints`), delays (`promptness`), forbidden addresses
//! (`guard`) and the conversion log (`log`, `paging`, `erasure`).

mod documented;
mod endpoints;
mod erasure;
mod events;
mod failures;
mod guard;
mod log;
mod paging;
mod promptness;
mod requests;
mod reversals;
mod signatures;

use serde_json::{Value, json};

use crate::harness::{OfferWall, Setup, Signpost, eventually_within};
use domain::model::time::SECOND_MS;

/// Longer than all attempts of [`quick`].
const ATTEMPTS_MS: i64 = 60 * SECOND_MS;

/// A Signpost that makes an attempt each second, with a timeout of two seconds. The schedule has more attempts than a
/// test needs on a busy machine before its receiver accepts one.
fn quick() -> Signpost {
    Setup::new().var("CALLBACK_SCHEDULE", "0,1,1,1,1,1,1,1,1,1,1,1,1,1,1").var("CALLBACK_TIMEOUT_MS", "2000").start()
}

/// A Signpost that makes two attempts.
fn twice() -> Signpost {
    Setup::new().var("CALLBACK_SCHEDULE", "0,1").start()
}

/// Waits until the log shows this callback state for a transaction, and returns the entry.
#[track_caller]
fn wait_for_state(wall: &OfferWall<'_>, transaction_id: &str, state: &str) -> Value {
    eventually_within(ATTEMPTS_MS, &state.to_owned(), || wall.state(transaction_id));
    wall.entry(transaction_id)
}

/// The statuses of an entry's attempts, null where there was no answer.
fn statuses(entry: &Value) -> Value {
    let attempts = entry["attempts"].as_array().expect("attempts");
    attempts.iter().map(|attempt| attempt["http_status"].clone()).collect()
}

/// The status of an endpoint that is healthy and has no waiting callbacks.
fn healthy() -> Value {
    json!({"state": "healthy", "consecutive_failures": 0, "next_try_ts": null, "waiting": 0, "dead": 0, "reserving": 0})
}

//! Conversions over HTTP: errors and their order (`refusals`), state changes (`states`, `table`), the paid goal (`payment`),
//! what was promised (`promises`), postbacks of real partners (`senders`, `recipes`), exactly one payment (`at_once`, `caps`,
//! `revenue`), also during outages and crashes (`outages`, `crashes`), by outboxes that behave as one (`outboxes`), and
//! compared with the ledger (`reconcile`). What ad operations see of postbacks is in `doctor`.

mod caps;
mod concurrency;
mod crashes;
mod doctor;
mod outages;
mod outboxes;
mod payment;
mod promises;
mod recipes;
mod reconcile;
mod refusals;
pub mod revenue;
mod senders;
mod states;
mod table;

use crate::harness::{Answer, expect_accepted};

/// Fails the test unless a postback was refused with this status and code, as JSON with `no-store`.
#[track_caller]
pub fn expect_conversion_error(answer: Answer, status: u16, code: &str) -> Answer {
    let answer = answer.expect_error(status, code);
    assert_eq!(answer.header("Content-Type"), Some("application/json"), "{answer:?}");
    assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{answer:?}");
    assert_eq!(answer.header("Retry-After").is_some(), status == 503, "{answer:?}");
    answer
}

/// The transaction id of an approved conversion, new or not.
#[track_caller]
pub fn accepted_id(answer: Answer) -> String {
    let duplicate = answer.clone().expect(200).json()["duplicate"] == true;
    expect_accepted(answer, "approved", duplicate)
}

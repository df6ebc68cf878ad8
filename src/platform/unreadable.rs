//! Stored data that this process met in the last minutes and could not read, because a newer release wrote it or it is
//! damaged. `GET /healthz` lists it.

use std::{cell::RefCell, collections::BTreeMap};

use crate::log::now_ms;
use domain::model::MINUTE_MS;

/// The time for which data is listed after it was last met, in milliseconds.
const LISTED_MS: i64 = 5 * MINUTE_MS;

thread_local! {
    static MET_MS: RefCell<BTreeMap<&'static str, i64>> = const { RefCell::new(BTreeMap::new()) };
}

/// Records that data of this kind was met and could not be read.
pub fn record(kind: &'static str) {
    record_at(kind, now_ms());
}

fn record_at(kind: &'static str, now_ms: i64) {
    MET_MS.with_borrow_mut(|met_ms| met_ms.insert(kind, now_ms));
}

/// Returns a function that converts an error to a text for the log. The function also records this kind of data.
pub fn text<E: std::fmt::Display>(kind: &'static str) -> impl Fn(E) -> String {
    move |error| {
        record(kind);
        error.to_string()
    }
}

/// The kinds of unreadable data that were met in the last five minutes.
pub fn kinds() -> Vec<&'static str> {
    kinds_at(now_ms())
}

fn kinds_at(now_ms: i64) -> Vec<&'static str> {
    let is_listed = |met_ms: i64| now_ms.saturating_sub(met_ms) < LISTED_MS;
    MET_MS.with_borrow(|all| {
        let listed = all.iter().filter(|(_, met_ms)| is_listed(**met_ms));
        listed.map(|(kind, _)| *kind).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_listed_once_for_five_minutes() {
        record_at("manifest", 0);
        record_at("Ledger", 1);
        record_at("Ledger", 2);
        assert_eq!(kinds_at(2), ["Ledger", "manifest"]);
        assert_eq!(kinds_at(LISTED_MS), ["Ledger"]);
        assert!(kinds_at(LISTED_MS + 2).is_empty());
    }
}

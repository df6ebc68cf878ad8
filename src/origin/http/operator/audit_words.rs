//! The audit's texts about actions on rewards. They never contain a user's id.

use contract::outbox::SettleMany;
use domain::{
    conversions::state::Reason,
    model::{SECOND_MS, time::rfc_3339},
};

/// Describes an action on one reward.
pub fn of_order(reason: &str, despite: &[Reason]) -> String {
    match despite {
        [] => reason.to_owned(),
        despite => {
            let despite: Vec<_> = despite.iter().map(|reason| reason.code()).collect();
            format!("{reason} (despite {})", despite.join(", "))
        }
    }
}

/// Describes an action on many rewards, with the number that matched and the number that changed.
pub fn of_many(first: &SettleMany, matched: u32, changed: u32) -> String {
    let filter = &first.filter;
    let parts = [
        Some(format!("{changed} of {matched} with status {}", filter.status)),
        filter.reason.as_ref().map(|reason| format!("reason {reason}")),
        filter.user_id.as_ref().map(|_| "of one user".to_owned()),
        filter.offer_id.as_ref().map(|offer| format!("offer {offer}")),
        filter.since.map(|since| format!("from {}", time_text(since))),
        filter.until.map(|until| format!("until {}", time_text(until))),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    format!("{}: {}", parts.join(", "), of_order(&first.reason, &first.despite))
}

fn time_text(seconds: i64) -> String {
    rfc_3339(seconds.saturating_mul(SECOND_MS))
}

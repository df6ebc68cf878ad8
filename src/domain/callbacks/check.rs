//! Checks callback settings when they are saved. The checks do not run when a callback is sent: sending only uses
//! [`Endpoint::parse`]. So settings that were saved before a check existed stay in use.

use super::{
    fields::{Decimal, Fields, Status},
    request::{Endpoint, after_authority, macro_names, with_braces},
    settings::{Callback, CallbackMethod, MAX_URL},
};
use crate::{
    model::{
        CurrencyRate, FieldError, MicroUsd,
        money::{InAppAmount, PerUsd, Rounding},
        placeholders::check_template,
        time::LATEST_S,
    },
    tracking::parameters::{MAX_CUSTOM, MAX_CUSTOM_TOTAL, MAX_LABEL, MAX_USER_ID},
};

const EXAMPLE: &str = "https://x.example/cb?uid={user_id}&tx={transaction_id}&coins={value}&status={status}";

/// Checks the URL and the secrets of a callback that is to be saved. An error's path begins at the app's document.
pub fn check(callback: &Callback) -> Result<(), FieldError> {
    let problem = |problem| FieldError::new("callback.url", problem);
    let url = with_braces(&callback.url);
    check_template(after_authority(&url), &macro_names()).map_err(problem)?;
    let endpoint = Endpoint::parse(callback)?;
    check_distinguishes(&endpoint).map_err(problem)?;
    let length = longest_url(&endpoint);
    if length > MAX_URL {
        return Err(problem(format!(
            "must be at most {MAX_URL} bytes with every macro at its longest (now {length}): name fewer fields or use POST"
        )));
    }
    Ok(())
}

/// Checks that a receiver can tell one reward from another, and rewards from reversals and notices. A URL without
/// macros has every field, and so does a POST.
fn check_distinguishes(endpoint: &Endpoint) -> Result<(), String> {
    if endpoint.method() == CallbackMethod::Post || !endpoint.has_macros() {
        return Ok(());
    }
    let has = |name| endpoint.has_macro(name);
    let events = endpoint.events;
    let pays_only = events.approved && !(events.reversed || events.pending || events.rejected);
    let mut missing = Vec::new();
    // The legacy signature's `token` is the transaction id.
    if !has("transaction_id") && !endpoint.has_legacy_md5() {
        missing.push("{transaction_id}, so that each reward is paid once");
    }
    // The amounts are negative for a reversal and 0 for a notice.
    if !pays_only && !["status", "value", "payout"].into_iter().any(has) {
        missing.push("{status}, {value} or {payout}, to tell rewards from reversals and notices");
    }
    match missing.as_slice() {
        [] => Ok(()),
        missing => Err(format!("must have {}; for example {EXAMPLE}", missing.join(", and "))),
    }
}

/// The length in bytes of the longest URL that can result from the template.
pub fn longest_url(endpoint: &Endpoint) -> usize {
    let length = |number| {
        let request = endpoint.request_with(&longest_fields(number), LATEST_S);
        request.url.len()
    };
    let without = length(None);
    // The custom values together have at most `MAX_CUSTOM_TOTAL` characters, so only some of them can be at their
    // longest. Those that add the most to the URL are counted.
    let mut added = [0, 1, 2, 3, 4].map(|number| length(Some(number)).saturating_sub(without));
    added.sort_unstable_by(|a, b| b.cmp(a));
    let most = added.into_iter().take(MAX_CUSTOM_TOTAL / MAX_CUSTOM);
    without.saturating_add(most.sum())
}

/// A callback with each field at its longest. Of `c1` to `c5`, only the one with index `number`, from 0, has a value.
///
/// In a click's values each character may be a `@`, which takes three bytes in a URL; device ids have no `@`. Ids have
/// 64 letters, digits and `-`, and a transaction id is a UUID. The largest amount is 10^6 USD at a rate of 10^9, with 6
/// decimals. `currency`, `goal_value` and `reason` have at most 50, 200 and 200 characters, each counted as one byte. A
/// character may take up to 12 bytes, but counting 12 would make every URL without macros too long.
fn longest_fields(number: Option<usize>) -> Fields {
    let rate = CurrencyRate { name: String::new(), per_usd: PerUsd(1), decimals: 6, rounding: Rounding::Down };
    let value = Decimal::in_app(&rate, InAppAmount(-1_000_000_000_000_000_000_001));
    let text = |length| "x".repeat(length);
    let custom = |of| {
        let length = if number == Some(of) { MAX_CUSTOM } else { 0 };
        Some("@".repeat(length))
    };
    Fields {
        user_id: "@".repeat(MAX_USER_ID),
        pending_value: Some(value.clone()),
        value,
        payout: Decimal::usd(MicroUsd(-1_000_000_000_001)),
        currency: text(50),
        transaction_id: text(36),
        offer_id: text(64),
        goal_id: text(64),
        goal_value: Some(text(200)),
        app_id: text(8),
        gaid: Some(text(MAX_LABEL)),
        idfa: Some(text(MAX_LABEL)),
        c1: custom(0),
        c2: custom(1),
        c3: custom(2),
        c4: custom(3),
        c5: custom(4),
        country: Some(text(2)),
        click_ts: LATEST_S,
        conversion_ts: LATEST_S,
        status: Status::Approved,
        original_transaction_id: Some(text(36)),
        reason: Some(text(200)),
    }
}

#[cfg(test)]
mod tests;

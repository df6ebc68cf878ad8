//! The body of `POST replays`: the conditions of the list of rewards, for one app.

use serde::Deserialize;

use super::reward_query::{check_id, check_status, read_delivery, read_state};
use contract::activity::ReplayFilter;
use domain::model::{
    api_error::ApiError,
    document::{Document, FieldError},
    time::{LATEST_S, SECOND_MS},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    filter: Conditions,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    until: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Conditions {
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    delivery: Option<String>,
    #[serde(default)]
    http_status: Option<u16>,
    #[serde(default)]
    from: i64,
    #[serde(default)]
    transaction_id: Option<String>,
    #[serde(default)]
    user_id: Option<String>,
}

impl Document for Body {
    fn check(&self) -> Result<(), FieldError> {
        let is_time = |time: i64| (0..=LATEST_S).contains(&time);
        let filter = &self.filter;
        check_status("filter.http_status", filter.http_status)?;
        check_id("filter.transaction_id", filter.transaction_id.as_deref())?;
        check_id("filter.user_id", filter.user_id.as_deref())?;
        if !is_time(filter.from) {
            return Err(FieldError::new("filter.from", "must be UNIX seconds"));
        }
        match self.until {
            Some(until) if !is_time(until) || until < filter.from => Err(FieldError::new(
                "until",
                "must be UNIX seconds, and not before filter.from",
            )),
            None if !self.dry_run => Err(FieldError::new("until", "must be that of a dry run")),
            _ => Ok(()),
        }
    }
}

/// Parses the filter, and whether it is only to be counted.
///
/// # Errors
/// A field is missing, unknown or has a value that it may not have.
pub fn parse(body: &str, now_ms: i64) -> Result<(ReplayFilter, bool), ApiError> {
    let body = Body::from_json(body)?;
    // Conversion times are whole seconds, so "until now" includes the current second.
    let now_s = now_ms.div_euclid(SECOND_MS).saturating_add(1);
    let filter = ReplayFilter {
        state: read_state("filter.state", body.filter.state.as_deref())?,
        delivery: read_delivery("filter.delivery", body.filter.delivery.as_deref())?,
        http_status: body.filter.http_status,
        from: body.filter.from,
        until: body.until.unwrap_or(now_s),
        transaction_id: body.filter.transaction_id,
        user_id: body.filter.user_id,
    };
    Ok((filter, body.dry_run))
}

/// A filter for the audit, which names no user. A transaction id comes last, since it may have any characters.
pub fn words(filter: &ReplayFilter) -> String {
    let parts = [
        filter
            .delivery
            .map(|delivery| format!("delivery {}", delivery.as_str())),
        filter.state.map(|state| format!("state {}", state.as_str())),
        filter.http_status.map(|status| format!("http_status {status}")),
        filter.user_id.as_ref().map(|_| "user".to_owned()),
        (filter.from > 0).then(|| format!("from {}", filter.from)),
        Some(format!("until {}", filter.until)),
        filter
            .transaction_id
            .as_ref()
            .map(|id| format!("transaction {id}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::activity::{RewardDelivery, RewardState};

    #[test]
    fn every_condition_of_the_list_is_read_and_no_other() {
        let body = r#"{"filter":{"state":"held","delivery":"not_wanted","http_status":503,"from":5,"transaction_id":"t",
            "user_id":"u"},"until":7}"#;
        let filter = ReplayFilter {
            state: Some(RewardState::Held),
            delivery: Some(RewardDelivery::NotWanted),
            http_status: Some(503),
            from: 5,
            until: 7,
            transaction_id: Some("t".into()),
            user_id: Some("u".into()),
        };
        assert_eq!(parse(body, 9_500).unwrap(), (filter.clone(), false));
        assert_eq!(
            words(&filter),
            "delivery not_wanted, state held, http_status 503, user, from 5, until 7, transaction t"
        );
        let code = |body| parse(body, 0).unwrap_err().code;
        assert_eq!(
            code(r#"{"filter":{"app_id":"00000042"},"dry_run":true}"#),
            "unknown_field"
        );
        assert_eq!(code(r#"{"dry_run":true}"#), "missing_field");
    }

    #[test]
    fn a_count_is_of_all_until_now_and_a_start_says_until_when() {
        let all = ReplayFilter {
            until: 10,
            ..ReplayFilter::default()
        };
        assert_eq!(words(&all), "until 10");
        assert_eq!(
            parse(r#"{"filter":{},"dry_run":true}"#, 9_500).unwrap(),
            (all, true)
        );
        for (body, path) in [
            (r#"{"filter":{}}"#, "until"),
            (r#"{"filter":{"from":9},"until":8}"#, "until"),
            (r#"{"filter":{"from":-1},"dry_run":true}"#, "filter.from"),
            (r#"{"filter":{"state":"paid"},"dry_run":true}"#, "filter.state"),
            (
                r#"{"filter":{"delivery":"sent"},"dry_run":true}"#,
                "filter.delivery",
            ),
            (
                r#"{"filter":{"http_status":600},"dry_run":true}"#,
                "filter.http_status",
            ),
            (r#"{"filter":{"user_id":""},"dry_run":true}"#, "filter.user_id"),
            (
                r#"{"filter":{"transaction_id":""},"dry_run":true}"#,
                "filter.transaction_id",
            ),
        ] {
            let error = parse(body, 0).unwrap_err();
            assert_eq!(error.code, "invalid_field", "{body}");
            assert!(
                error.message.starts_with(&format!("{path}: ")),
                "{}",
                error.message
            );
        }
    }
}

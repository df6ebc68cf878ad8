//! The body of `POST replays`: the conditions of the list of rewards, for one app.

use serde::Deserialize;

use super::reward_filter::Conditions;
use contract::rewards::RewardFilter;
use domain::model::{ApiError, Document, FieldError, SECOND_MS};

#[derive(Deserialize)]
struct Body {
    filter: Conditions,
    #[serde(default)]
    dry_run: bool,
}

impl Document for Body {
    fn check(&self) -> Result<(), FieldError> {
        self.filter.check()?;
        match self.filter.until {
            None if !self.dry_run => Err(FieldError::new("filter.until", "required; a dry run returns it")),
            _ => Ok(()),
        }
    }
}

/// Returns the filter, and whether the matching callbacks are only counted. A missing `until` becomes now.
///
/// # Errors
/// A field is missing or unknown, or its value is invalid.
pub fn parse(body: &str, now_ms: i64) -> Result<(RewardFilter, bool), ApiError> {
    let body = Body::from_json(body)?;
    // Conversion times are whole seconds, so "until now" includes the current second.
    let now_s = now_ms.div_euclid(SECOND_MS).saturating_add(1);
    let mut filter = body.filter.read()?;
    filter.until.get_or_insert(now_s);
    Ok((filter, body.dry_run))
}

/// Describes a filter for the audit, without the user's id. The transaction id comes last, because it may contain any
/// characters.
pub fn words(filter: &RewardFilter) -> String {
    let parts = [
        filter.delivery.map(|delivery| format!("delivery {}", delivery.as_str())),
        filter.state.map(|state| format!("state {}", state.as_str())),
        filter.http_status.map(|status| format!("http_status {status}")),
        filter.user_id.as_ref().map(|_| "user".to_owned()),
        filter.from.map(|from| format!("from {from}")),
        filter.until.map(|until| format!("until {until}")),
        filter.transaction_id.as_ref().map(|id| format!("transaction {id}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::rewards::{RewardDelivery, RewardState};

    #[test]
    fn every_condition_of_the_list_is_read_and_no_other() {
        let body = r#"{"filter":{"state":"held","delivery":"not_wanted","http_status":503,"from":5,"until":7,
            "transaction_id":"t","user_id":"u"}}"#;
        let filter = RewardFilter {
            state: Some(RewardState::Held),
            delivery: Some(RewardDelivery::NotWanted),
            http_status: Some(503),
            from: Some(5),
            until: Some(7),
            transaction_id: Some("t".into()),
            user_id: Some("u".into()),
        };
        assert_eq!(parse(body, 9_500).unwrap(), (filter.clone(), false));
        assert_eq!(
            words(&filter),
            "delivery not_wanted, state held, http_status 503, user, from 5, until 7, transaction t"
        );
        let code = |body| parse(body, 0).unwrap_err().code;
        assert_eq!(code(r#"{"filter":{"app_id":"00000042"},"dry_run":true}"#), "unknown_field");
        assert_eq!(code(r#"{"dry_run":true}"#), "missing_field");
    }

    #[test]
    fn a_count_covers_all_until_now_and_a_start_names_its_end() {
        let all = RewardFilter { until: Some(10), ..RewardFilter::default() };
        assert_eq!(words(&all), "until 10");
        assert_eq!(parse(r#"{"filter":{},"dry_run":true}"#, 9_500).unwrap(), (all, true));
        for (body, path) in [
            (r#"{"filter":{}}"#, "filter.until"),
            (r#"{"filter":{"from":9,"until":8}}"#, "filter.until"),
            (r#"{"filter":{"from":-1},"dry_run":true}"#, "filter.from"),
        ] {
            let error = parse(body, 0).unwrap_err();
            assert_eq!(error.code, "invalid_field", "{body}");
            assert!(error.message.starts_with(&format!("{path}: ")), "{}", error.message);
        }
    }
}

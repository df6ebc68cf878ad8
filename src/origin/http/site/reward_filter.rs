//! The conditions of a list of rewards and of a replay: `filter` in the bodies of both.

use serde::Deserialize;

use contract::rewards::{RewardDelivery, RewardFilter, RewardState};
use domain::model::{ApiError, FieldError, time::LATEST_S, trimmed_if_any};

/// Maximum length of the id of a user or a transaction, in characters.
const MAX_ID: usize = 1_024;

/// The member `filter` of a body, before its values are parsed.
#[derive(Default, Deserialize)]
pub struct Conditions {
    state: Option<String>,
    delivery: Option<String>,
    http_status: Option<u16>,
    from: Option<i64>,
    pub until: Option<i64>,
    #[serde(default, deserialize_with = "trimmed_if_any")]
    transaction_id: Option<String>,
    #[serde(default, deserialize_with = "trimmed_if_any")]
    pub user_id: Option<String>,
}

impl Conditions {
    pub fn check(&self) -> Result<(), FieldError> {
        if matches!(self.http_status, Some(..100 | 600..)) {
            let problem = "must be an integer from 100 to 599";
            return Err(FieldError::new("filter.http_status", problem));
        }
        let is_time = |time: i64| (0..=LATEST_S).contains(&time);
        if !self.from.is_none_or(is_time) {
            return Err(FieldError::new("filter.from", "must be UNIX seconds"));
        }
        let is_end = |until| is_time(until) && self.from.is_none_or(|from| from <= until);
        if !self.until.is_none_or(is_end) {
            let problem = "must be UNIX seconds, and not before filter.from";
            return Err(FieldError::new("filter.until", problem));
        }
        check_id("filter.transaction_id", self.transaction_id.as_deref())?;
        check_id("filter.user_id", self.user_id.as_deref())
    }

    /// # Errors
    /// A name is unknown, or a value is out of range.
    pub fn read(self) -> Result<RewardFilter, ApiError> {
        Ok(RewardFilter {
            state: parse(
                "filter.state",
                self.state.as_deref(),
                RewardState::parse,
                "must be pending, approved, rejected, reversed, held or refused",
            )?,
            delivery: parse(
                "filter.delivery",
                self.delivery.as_deref(),
                RewardDelivery::parse,
                "must be waiting, delivered, dead, not_wanted or no_endpoint",
            )?,
            http_status: self.http_status,
            from: self.from,
            until: self.until,
            transaction_id: self.transaction_id,
            user_id: self.user_id,
        })
    }
}

fn check_id(path: &str, id: Option<&str>) -> Result<(), FieldError> {
    match id {
        Some(id) if id.is_empty() || id.chars().count() > MAX_ID => {
            Err(FieldError::new(path, "must have from 1 to 1024 characters"))
        }
        _ => Ok(()),
    }
}

/// Parses a member that may be missing.
pub fn parse<T>(
    path: &str,
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Option<T>,
    problem: &str,
) -> Result<Option<T>, ApiError> {
    text.map(|text| parse(text).ok_or_else(|| FieldError::new(path, problem).into())).transpose()
}

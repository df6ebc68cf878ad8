//! A publisher: the account that owns apps. Its offers are served and its clicks redirected only after approval.

use serde::{Deserialize, Serialize};

use crate::model::{
    api_error::ApiError,
    document::{Document, FieldError, check_text},
};

/// Refuses offers and clicks of a publisher without approval.
pub const PUBLISHER_NOT_APPROVED: ApiError =
    ApiError::new(403, "publisher_not_approved", "the publisher is not approved");

const DEFAULT_MAX_APPS: u32 = 20;
/// The most that the operator may allow.
const MOST_APPS: u32 = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publisher {
    pub name: String,
    pub approved: bool,
    /// How many apps it may have until it can set up no more by itself; [`DEFAULT_MAX_APPS`] if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_apps: Option<u32>,
}

impl Publisher {
    pub fn max_apps(&self) -> u32 {
        self.max_apps.unwrap_or(DEFAULT_MAX_APPS)
    }
}

impl Document for Publisher {
    fn check(&self) -> Result<(), FieldError> {
        check_text("name", &self.name, 200)?;
        if self.max_apps.is_some_and(|apps| apps > MOST_APPS) {
            return Err(FieldError::new("max_apps", "must be at most 1000"));
        }
        Ok(())
    }
}

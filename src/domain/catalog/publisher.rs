//! A publisher: the account that owns apps. Its offers are served and its clicks redirected only after approval.

use serde::{Deserialize, Serialize};

use crate::model::{
    api_error::ApiError,
    document::{Document, FieldError, check_text},
};

/// Refuses offers and clicks of a publisher without approval.
pub const PUBLISHER_NOT_APPROVED: ApiError =
    ApiError::new(403, "publisher_not_approved", "the publisher is not approved");

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publisher {
    pub name: String,
    pub approved: bool,
}

impl Document for Publisher {
    fn check(&self) -> Result<(), FieldError> {
        check_text("name", &self.name, 200)
    }
}

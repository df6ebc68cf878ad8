//! A publisher: the account that owns apps. Offers are served, and clicks redirected, only once it is approved.

use serde::{Deserialize, Serialize};

use crate::model::{
    api_error::ApiError,
    document::{Document, FieldError, check_text},
};

/// What an approval is needed for: its offers and its clicks.
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

//! A publisher: the account that owns apps. Offers are served, and clicks redirected, only once it is approved.

use serde::{Deserialize, Serialize};

use super::document::{Document, FieldError, check_text};

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

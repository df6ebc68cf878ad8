//! An advertiser: who pays for an offer's conversions and reports them under a token.

use serde::{Deserialize, Serialize};

use crate::model::document::{Document, FieldError, check_text};

/// How many of an advertiser's tokens are valid: the newest, and the one before it while senders are moved over.
pub const VALID_TOKENS: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advertiser {
    pub name: String,
}

impl Document for Advertiser {
    fn check(&self) -> Result<(), FieldError> {
        check_text("name", &self.name, 200)
    }
}

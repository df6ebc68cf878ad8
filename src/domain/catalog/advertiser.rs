//! An advertiser: it pays for the conversions of its offers, and its token authenticates the postbacks that report
//! them.

use serde::{Deserialize, Serialize};

use super::plain_text::check_line;
use crate::model::{Document, FieldError};

/// The number of valid tokens of an advertiser: the newest and the previous one, so that senders have time to switch.
pub const VALID_TOKENS: usize = 2;

/// An advertiser, as a document of the operator's API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advertiser {
    /// Name for the operator, 1 to 200 characters.
    pub name: String,
}

impl Document for Advertiser {
    fn check(&self) -> Result<(), FieldError> {
        check_line("name", &self.name, 200)
    }
}

//! A publisher: the account that owns apps. Its apps get offers, and their clicks are redirected, only after approval.

use serde::{Deserialize, Serialize};

use super::plain_text::check_line;
use crate::model::{ApiError, Document, FieldError};

/// Refuses offers and clicks of a publisher without approval.
pub const PUBLISHER_NOT_APPROVED: ApiError =
    ApiError::new(403, "publisher_not_approved", "the publisher is not approved");

/// Refuses to reopen a closed publisher: after its users are erased, their earlier rewards can no longer be recognized.
pub const PUBLISHER_CLOSED: ApiError =
    ApiError::new(409, "publisher_closed", "the publisher is permanently closed; create another one");

const DEFAULT_MAX_APPS: u32 = 20;
/// Maximum `max_apps`.
const MAX_APPS: u32 = 1_000;

/// A publisher, as a document of the operator's API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publisher {
    /// Name for people, 1 to 200 characters.
    pub name: String,
    /// If false, offers requests and clicks of its apps are refused with [`PUBLISHER_NOT_APPROVED`].
    pub approved: bool,
    /// Closes the publisher permanently. Its keys and sessions end, its apps take no clicks, and their users are erased
    /// once the rewards promised to them are sent. Only possible without approval.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// A publisher with this many apps, not counting test apps, cannot create further apps itself. At most 1,000; 20 if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_apps: Option<u32>,
}

impl Publisher {
    /// The limit in force: the operator's, or the default.
    pub fn max_apps(&self) -> u32 {
        self.max_apps.unwrap_or(DEFAULT_MAX_APPS)
    }
}

impl Document for Publisher {
    fn check(&self) -> Result<(), FieldError> {
        check_line("name", &self.name, 200)?;
        if self.closed && self.approved {
            return Err(FieldError::new("closed", "must not be true while approved is true"));
        }
        if self.max_apps.is_some_and(|apps| apps > MAX_APPS) {
            return Err(FieldError::new("max_apps", "must be at most 1000"));
        }
        Ok(())
    }
}

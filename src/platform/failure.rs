//! Why a service did not carry an operation out.

use std::fmt;

use crate::database::DatabaseError;
use domain::model::api_error::{ApiError, common};

/// Why an object did not carry a command out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The caller is told.
    Refused(ApiError),
    /// The log is told; the caller reads [`common::INTERNAL_ERROR`].
    Internal(String),
}

impl Failure {
    /// What the caller reads.
    pub fn into_answer(self) -> ApiError {
        match self {
            Self::Refused(refusal) => refusal,
            Self::Internal(_) => common::INTERNAL_ERROR,
        }
    }
}

/// For the log: of a refusal only its code, since its message may repeat what was sent.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "refused: {}", refusal.code),
            Self::Internal(cause) => f.write_str(cause),
        }
    }
}

impl From<ApiError> for Failure {
    fn from(refusal: ApiError) -> Self {
        Self::Refused(refusal)
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        Self::Internal(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internal_cause_is_never_told_to_the_caller() {
        let internal = Failure::from(DatabaseError("no such table: takes".into()));
        assert!(format!("{internal:?}").contains("takes"));
        assert_eq!(internal.into_answer(), common::INTERNAL_ERROR);
    }

    #[test]
    fn the_log_is_told_codes_and_never_what_was_sent() {
        let refused = common::INVALID_JSON.with_message("unknown field `demo-user-1`");
        assert_eq!(Failure::from(refused).to_string(), "refused: invalid_json");
        assert_eq!(Failure::Internal("no disk".into()).to_string(), "no disk");
    }
}

//! The error of a service: a refusal for the caller, or an internal failure for the log.

use std::fmt;

use crate::database::DatabaseError;
use domain::model::{ApiError, common};

/// The result of a command: the standard `Result`, with [`Failure`] as the default error.
pub type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// The error of a command that an object did not carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    Refused(ApiError),
    /// The cause for the log. The caller receives [`common::INTERNAL_ERROR`].
    Internal(String),
}

impl Failure {
    /// The error that the caller receives.
    pub fn into_answer(self) -> ApiError {
        match self {
            Self::Refused(refusal) => refusal,
            Self::Internal(_) => common::INTERNAL_ERROR,
        }
    }
}

/// The text for the log. A refusal shows only its code, since its message may repeat the caller's input.
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
    fn an_internal_cause_is_never_part_of_the_answer() {
        let internal = Failure::from(DatabaseError("no such table: takes".into()));
        assert!(format!("{internal:?}").contains("takes"));
        assert_eq!(internal.into_answer(), common::INTERNAL_ERROR);
    }

    #[test]
    fn the_log_shows_the_code_of_a_refusal_but_not_its_message() {
        let refused = common::INVALID_JSON.with_message("unknown field `demo-user-1`");
        assert_eq!(Failure::from(refused).to_string(), "refused: invalid_json");
        assert_eq!(Failure::Internal("no disk".into()).to_string(), "no disk");
    }
}

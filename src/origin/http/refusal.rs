//! The answer to a refused call, which handlers return with `?`.

use crate::http::site::audited::Refused;
use contract::operation::CallError;
use domain::model::{ApiError, FieldError};
use platform::http::Answer;

/// The result of a handler: its answer, or why the call is refused.
pub type HandlerResult = Result<Answer, Refusal>;

/// The answer is boxed, because it is large and a refusal is rare.
pub struct Refusal(Box<Answer>);

impl Refusal {
    pub fn status(&self) -> u16 {
        self.0.status
    }

    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    pub fn into_answer(self) -> Answer {
        *self.0
    }
}

impl Refused for Refusal {
    fn is_refused(&self) -> bool {
        (400..500).contains(&self.status())
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self(Box::new(error.into()))
    }
}

impl From<FieldError> for Refusal {
    fn from(error: FieldError) -> Self {
        ApiError::from(error).into()
    }
}

impl From<CallError> for Refusal {
    /// Passes on an object's refusal. A missing answer is logged, and the caller receives 503.
    fn from(error: CallError) -> Self {
        Self(Box::new(error.into()))
    }
}

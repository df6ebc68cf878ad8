//! The error that a caller receives: a status, the body `{error, code}` (docs/SPEC.md, "Errors") and a time to retry.
//!
//! Each error is a constant next to its rule. An error never contains an internal cause; the cause is logged where it
//! occurs.

use std::borrow::Cow;

use serde_json::json;

/// An error answer. `message` is for people. `code` is for programs and never changes once released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    /// The `code` of the body, such as `not_found`.
    pub code: &'static str,
    /// The `error` of the body.
    pub message: Cow<'static, str>,
    /// Seconds after which the same request may succeed; sent as `Retry-After`.
    pub retry_after_s: Option<u32>,
}

impl ApiError {
    /// An error without a time to retry.
    pub const fn new(status: u16, code: &'static str, message: &'static str) -> Self {
        Self { status, code, message: Cow::Borrowed(message), retry_after_s: None }
    }

    /// The same error with `Retry-After` in seconds.
    pub const fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// The same error with a message about this request.
    pub fn with_message(&self, message: impl Into<String>) -> Self {
        Self { message: Cow::Owned(message.into()), ..self.clone() }
    }

    /// The JSON body, `{"error": …, "code": …}`.
    pub fn body(&self) -> String {
        json!({ "error": self.message, "code": self.code }).to_string()
    }
}

/// Errors that every interface shares.
pub mod common {
    use super::ApiError;

    /// The body does not parse as JSON, or is JSON of the wrong shape.
    pub const INVALID_JSON: ApiError = ApiError::new(400, "invalid_json", "the body is not valid JSON");
    /// A required field or parameter is absent or empty.
    pub const MISSING_FIELD: ApiError = ApiError::new(400, "missing_field", "a required field is missing");
    /// The path, or the resource that it names, does not exist.
    pub const NOT_FOUND: ApiError = ApiError::new(404, "not_found", "nothing exists at this path");
    /// The path exists but does not support this method.
    pub const METHOD_NOT_ALLOWED: ApiError =
        ApiError::new(405, "method_not_allowed", "this path does not support that method");
    /// The body exceeds the limit of its path.
    pub const PAYLOAD_TOO_LARGE: ApiError =
        ApiError::new(413, "payload_too_large", "the body is larger than this path accepts");
    /// The path does not accept the `Content-Type`.
    pub const UNSUPPORTED_MEDIA_TYPE: ApiError =
        ApiError::new(415, "unsupported_media_type", "this path does not accept that Content-Type");
    /// An internal fault. The log has the cause.
    pub const INTERNAL_ERROR: ApiError = ApiError::new(500, "internal_error", "something went wrong on our side");
    /// A part of Signpost is unreachable or not ready. The caller may retry.
    pub const UNAVAILABLE: ApiError =
        ApiError::new(503, "unavailable", "temporarily unavailable, try again shortly").retry_after(2);
    /// A newer release has changed an object's tables. The longer wait distinguishes it from [`UNAVAILABLE`].
    pub const NEWER_SCHEMA: ApiError =
        ApiError::new(503, "unavailable", "temporarily unavailable, try again shortly").retry_after(30);
    /// A concurrency limit was reached. Nothing was done for the request.
    pub const BUSY: ApiError =
        ApiError::new(503, "unavailable", "too many requests are in progress, try again shortly").retry_after(2);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_error_and_code_and_nothing_else() {
        let error = common::NOT_FOUND.with_message("no \"such\" offer");
        assert_eq!(error.body(), r#"{"code":"not_found","error":"no \"such\" offer"}"#);
    }
}

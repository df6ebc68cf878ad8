//! The `Idempotency-Key` of a call that must not be made twice, because it cannot be undone.

use worker::Request;

use domain::model::{ApiError, INVALID_FIELD};
use platform::http::header;

const MAX_KEY: usize = 64;

/// Reads the key.
///
/// # Errors
/// The header is missing or malformed.
pub fn read(request: &Request) -> Result<String, ApiError> {
    let key = header(request, "Idempotency-Key").unwrap_or_default();
    if key.is_empty() || key.len() > MAX_KEY || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        let problem = format!("Idempotency-Key: must be 1 to {MAX_KEY} visible ASCII characters");
        return Err(INVALID_FIELD.with_message(problem));
    }
    Ok(key)
}

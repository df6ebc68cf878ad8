//! Base64url without padding, the encoding of all bytes in WebAuthn's JSON.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::error::PasskeyError;

pub fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes at most `max` bytes. Each value has one spelling: padding and stray bits are refused.
pub fn decode(text: &str, max: usize) -> Result<Vec<u8>, PasskeyError> {
    // Three bytes take four characters.
    if text.len() > max.div_ceil(3) * 4 {
        return Err(PasskeyError::TooLong);
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| PasskeyError::Base64)?;
    if bytes.len() > max {
        return Err(PasskeyError::TooLong);
    }
    Ok(bytes)
}

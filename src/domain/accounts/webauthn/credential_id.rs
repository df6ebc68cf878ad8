//! The id of a credential, which its authenticator chose.

use super::{base64url, error::PasskeyError};

/// The lengths that WebAuthn allows, in bytes.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=1_023;

/// Parses the id of a public key credential, which the JSON has twice.
pub fn parse(id: &str, raw_id: &str, credential_type: &str) -> Result<Vec<u8>, PasskeyError> {
    if credential_type != "public-key" {
        return Err(PasskeyError::Json);
    }
    if id != raw_id {
        return Err(PasskeyError::CredentialId);
    }
    let id = base64url::decode(id, *LENGTHS.end())?;
    let is_allowed = LENGTHS.contains(&id.len());
    is_allowed.then_some(id).ok_or(PasskeyError::CredentialId)
}

//! The id of a credential, which its authenticator chose.

use sha2::{Digest, Sha256};

use super::{base64url, error::PasskeyError};

/// The lengths that WebAuthn allows, in bytes.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=1_023;

/// Parses a credential's id from base64url, and checks its length.
pub fn parse(id: &str) -> Result<Vec<u8>, PasskeyError> {
    let id = base64url::decode(id, *LENGTHS.end())?;
    let is_allowed = LENGTHS.contains(&id.len());
    is_allowed.then_some(id).ok_or(PasskeyError::CredentialId)
}

/// The short id of a credential for people and URLs: 8 bytes of its hash, since its own id may have 1,023 bytes. The
/// probability that any two of a member's 20 credentials share a short id is 20^2 / 2^65 < 10^-16.
pub fn short(credential_id: &[u8]) -> String {
    let hash: [u8; 32] = Sha256::digest(credential_id).into();
    hex::encode(hash.first_chunk::<8>().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_id_of_a_credential_never_changes() {
        // Computed with Python's hashlib.
        assert_eq!(short(&[0xC0; 16]), "13a88af40ba2a90e");
    }
}

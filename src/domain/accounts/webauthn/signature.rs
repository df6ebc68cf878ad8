//! Signatures in the form that WebCrypto verifies.

use super::{der, public_key::PublicKey};

/// Maximum length of a signature, in bytes: a signature of RSA with 4,096 bits.
pub const MAX_SIGNATURE: usize = 512;

/// Converts a signature to WebCrypto's form: for ECDSA two numbers of 32 bytes each, otherwise unchanged. Returns
/// `None` unless the signature has the form of the key's algorithm.
pub fn to_raw(key: &PublicKey<'_>, signature: &[u8]) -> Option<Vec<u8>> {
    match key {
        PublicKey::P256 { .. } => {
            let (r, s) = der::integers(signature)?;
            Some([padded(r)?, padded(s)?].concat())
        }
        PublicKey::Rsa { modulus, .. } => (signature.len() == modulus.len()).then(|| signature.to_vec()),
        PublicKey::Ed25519(_) => (signature.len() == 64).then(|| signature.to_vec()),
    }
}

/// Pads a number of at most 32 bytes with leading zeros.
fn padded(number: &[u8]) -> Option<[u8; 32]> {
    let mut padded = [0; 32];
    let at = padded.len().checked_sub(number.len())?;
    padded.get_mut(at..)?.copy_from_slice(number);
    Some(padded)
}

//! Credentials: their formats, hashing, and encryption at rest. Credentials that are only checked (Pub-Keys at the
//! edge, report keys) are stored as hashes. Credentials that must be read back (Pub-Keys on the publisher's settings
//! page, callback secrets) are encrypted by a [`Vault`]. Advertisers' tokens are not stored, because their MAC proves
//! them ([`super::mac`]).
//!
//! Each credential that is stored as a hash has 128 random bits or more, so a plain SHA-256 is enough: a dictionary
//! attack is impossible.

use chacha20poly1305::{
    ChaCha20Poly1305, KeyInit, Nonce,
    aead::{Aead, Payload},
};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The setting with the keys that encrypt data which only the origin reads.
pub const STORE_KEYS: &str = "STORE_KEYS";
/// The setting with the keys that encrypt data which the edge reads from snapshots.
pub const EDGE_KEYS: &str = "EDGE_KEYS";

/// SHA-256 of a credential.
pub type CredentialHash = [u8; 32];

/// The hash under which a credential is stored or looked up.
pub fn hash(credential: &str) -> CredentialHash {
    Sha256::digest(credential.as_bytes()).into()
}

/// Identifies a credential in the log: the first 6 bytes of its hash, in hexadecimal.
pub fn fingerprint(credential: &str) -> String {
    hex::encode(hash(credential).first_chunk::<6>().unwrap_or(&[0; 6]))
}

/// Compares two hashes in constant time.
pub fn matches(presented: &CredentialHash, stored: &[u8]) -> bool {
    presented.as_slice().ct_eq(stored).into()
}

/// A Pub-Key: 32 upper-case hexadecimal digits (docs/OPERATING.md, "The operator's API").
pub fn pub_key(random: [u8; 16]) -> String {
    hex::encode_upper(random)
}

/// Encrypts secrets with ChaCha20-Poly1305 under the keys of a setting, `STORE_KEYS` or `EDGE_KEYS`. A sealed value is
/// the key's id (1 byte), a random nonce (12 bytes) and the ciphertext. Its purpose, such as `pub_key/lumen-arcade`, is
/// also authenticated, so a value that was copied to another row cannot be decrypted.
pub struct Vault {
    /// The first key encrypts; all of them decrypt.
    keys: Vec<(u8, ChaCha20Poly1305)>,
}

impl Vault {
    /// Parses a comma-separated list of `id:key`. An id is from 0 to 255, and a key has 64 hexadecimal digits. An error
    /// names the setting and never quotes the text.
    pub fn parse(setting: &str, configuration: &str) -> Result<Self, String> {
        let wrong = |problem: &str| format!("{setting}: {problem}");
        let mut keys = Vec::new();
        for item in configuration.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (id, key) = item.split_once(':').ok_or_else(|| wrong("each item must be id:key"))?;
            let id = id.parse::<u8>().map_err(|_| wrong("each id must be a number from 0 to 255"))?;
            let key = parse_key(key).ok_or_else(|| wrong("each key must be 64 hexadecimal digits"))?;
            if keys.iter().any(|(known, _)| *known == id) {
                return Err(wrong("two keys have the same id"));
            }
            keys.push((id, ChaCha20Poly1305::new(&key.into())));
        }
        if keys.is_empty() { Err(wrong("must have at least one key")) } else { Ok(Self { keys }) }
    }

    /// Encrypts a value with the first key. `nonce` must be random: a key must never encrypt two values under the same
    /// nonce.
    pub fn seal(&self, purpose: &str, plain: &[u8], nonce: [u8; 12]) -> Option<Vec<u8>> {
        let (id, cipher) = self.keys.first()?;
        let payload = Payload { msg: plain, aad: purpose.as_bytes() };
        let sealed = cipher.encrypt(&Nonce::from(nonce), payload).ok()?;
        Some([&[*id][..], &nonce, &sealed].concat())
    }

    /// The id of the key that seals. Every value that this key sealed begins with it.
    pub fn sealing_id(&self) -> u8 {
        self.keys.first().map_or(0, |(id, _)| *id)
    }

    /// Decrypts a value. Returns `None` if it is damaged, was sealed for another purpose, or its key is no longer
    /// listed.
    pub fn open(&self, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (&id, rest) = sealed.split_first()?;
        let (nonce, sealed) = rest.split_first_chunk::<12>()?;
        let (_, cipher) = self.keys.iter().find(|(known, _)| *known == id)?;
        let payload = Payload { msg: sealed, aad: purpose.as_bytes() };
        cipher.decrypt(&Nonce::from(*nonce), payload).ok()
    }
}

/// Parses a key of the configuration: 32 bytes as 64 hexadecimal digits.
pub fn parse_key(digits: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    hex::decode_to_slice(digits, &mut key).ok().map(|()| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &str = "1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    #[test]
    fn a_pub_key_has_its_documented_format() {
        assert_eq!(pub_key([0xAB; 16]), "AB".repeat(16));
    }

    #[test]
    fn a_sealed_value_opens_only_for_its_purpose() {
        let vault = Vault::parse(STORE_KEYS, KEYS).unwrap();
        let sealed = vault.seal("pub_key/a", b"secret", [7; 12]).unwrap();
        assert_eq!(vault.open("pub_key/a", &sealed).as_deref(), Some(&b"secret"[..]));
        assert_eq!(vault.open("pub_key/b", &sealed), None);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(vault.open("pub_key/a", &changed), None, "changed at {at}");
        }
    }

    #[test]
    fn a_new_first_key_encrypts_and_the_old_one_still_decrypts() {
        let old = Vault::parse(STORE_KEYS, KEYS).unwrap().seal("p", b"x", [1; 12]).unwrap();
        let rotated = Vault::parse(STORE_KEYS, &format!("2:{},{KEYS}", "ff".repeat(32))).unwrap();
        assert_eq!(rotated.open("p", &old).as_deref(), Some(&b"x"[..]));
        assert_eq!(rotated.seal("p", b"x", [1; 12]).unwrap()[0], 2);
    }

    #[test]
    fn an_invalid_list_of_keys_is_refused() {
        for bad in ["", "1", "1:ff", "256:00", &format!("{KEYS},{KEYS}"), &format!("x{KEYS}")] {
            let error = Vault::parse(EDGE_KEYS, bad).err().unwrap();
            assert!(error.contains("EDGE_KEYS") && !error.contains("000102"), "{bad}: {error}");
        }
    }
}

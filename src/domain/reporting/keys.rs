//! Report keys: `sk_<publisher>_<random>_<mac>`. The publisher part selects the ledger, and the MAC lets the edge
//! refuse junk without waking a ledger. Only the ledger knows whether a key is active.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::model::{PublisherId, api_error::ApiError, credentials::parse_key};

/// The answer to a missing, wrong or revoked key. docs/SPEC.md, "Errors".
pub const INVALID_API_KEY: ApiError = ApiError::new(401, "invalid_api_key", "invalid or inactive api key");

const PREFIX: &str = "sk_";
/// The bytes of the random part, and of the MAC: the first half of an HMAC-SHA256 over the text before it.
const PART: usize = 16;
/// The longest key, in bytes: the prefix, a publisher id of 64 bytes, and two parts in hexadecimal with their `_`.
const MAX_KEY: usize = PREFIX.len() + 64 + 2 * (1 + 2 * PART);

/// The MAC keys of the setting `REPORT_KEY_MAC`. The first one signs, and all of them verify.
pub struct KeyMac {
    signing: Hmac<Sha256>,
    others: Vec<Hmac<Sha256>>,
}

impl KeyMac {
    /// Parses a comma-separated list of keys of 64 hexadecimal digits.
    pub fn parse(configuration: &str) -> Result<Self, &'static str> {
        let key = |item: &str| Hmac::<Sha256>::new_from_slice(&parse_key(item.trim())?).ok();
        let mut keys = configuration.split(',').map(key);
        match (keys.next().flatten(), keys.collect()) {
            (Some(signing), Some(others)) => Ok(Self { signing, others }),
            _ => Err("REPORT_KEY_MAC must be a comma-separated list of keys of 64 hexadecimal digits"),
        }
    }

    /// Issues a new key. `random` must come from a secure source, because it makes the key unguessable.
    pub fn issue(&self, publisher: &PublisherId, random: [u8; PART]) -> String {
        let signed = format!("{PREFIX}{publisher}_{}", hex::encode(random));
        let mac = self.signing.clone().chain_update(&signed).finalize().into_bytes();
        let (mac, _) = mac.split_at(PART);
        format!("{signed}_{}", hex::encode(mac))
    }

    /// The publisher of a key; `None` for a text that was never issued as a key.
    pub fn publisher(&self, presented: &str) -> Option<PublisherId> {
        if presented.len() > MAX_KEY {
            return None;
        }
        let (signed, mac) = presented.rsplit_once('_')?;
        let (publisher, random) = signed.strip_prefix(PREFIX)?.split_once('_')?;
        let publisher = PublisherId::parse(publisher)?;
        parse_part(random)?;
        let mac = parse_part(mac)?;
        // Compares in constant time.
        let verifies = |key: &Hmac<Sha256>| key.clone().chain_update(signed).verify_truncated_left(&mac);
        std::iter::once(&self.signing)
            .chain(&self.others)
            .any(|key| verifies(key).is_ok())
            .then_some(publisher)
    }
}

/// Accepts lower-case digits only. A key needs one spelling, because the ledger stores the hash of its text.
fn parse_part(digits: &str) -> Option<[u8; PART]> {
    let mut part = [0; PART];
    let lower = !digits.bytes().any(|byte| byte.is_ascii_uppercase());
    (lower && hex::decode_to_slice(digits, &mut part).is_ok()).then_some(part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const A: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    const B: &str = "F0E0D0C0B0A090807060504030201000F0E0D0C0B0A090807060504030201000";

    fn keys(configuration: &str) -> KeyMac {
        KeyMac::parse(configuration).unwrap()
    }

    fn lumen() -> PublisherId {
        PublisherId::parse("lumen-arcade").unwrap()
    }

    #[test]
    fn a_key_has_the_documented_form() {
        // The MAC was computed with another implementation.
        assert_eq!(keys(A).issue(&lumen(), [0xAB; 16]), ISSUED);
        assert_eq!(keys(A).publisher(ISSUED), Some(lumen()));
    }

    #[test]
    fn a_changed_key_is_refused() {
        for (at, char) in ISSUED.char_indices() {
            for other in ["0", "f", "_", "A", "-", "é", ""] {
                let (before, rest) = ISSUED.split_at(at);
                let changed = format!("{before}{other}{}", rest.trim_start_matches(char));
                if changed != ISSUED {
                    assert_eq!(keys(A).publisher(&changed), None, "{changed}");
                }
            }
        }
        let (signed, mac) = ISSUED.rsplit_once('_').unwrap();
        for changed in [
            ISSUED.to_uppercase(),
            format!("{signed}_{}", mac.to_uppercase()),
            format!("{ISSUED} "),
            format!(" {ISSUED}"),
            format!("{ISSUED}00"),
        ] {
            assert_eq!(keys(A).publisher(&changed), None, "{changed}");
        }
    }

    #[test]
    fn a_new_first_key_signs_while_the_old_one_still_verifies() {
        let rotated = keys(&format!(" {B} , {A}\n"));
        assert_eq!(rotated.publisher(ISSUED), Some(lumen()));
        let new = rotated.issue(&lumen(), [1; 16]);
        assert_eq!(keys(B).publisher(&new), Some(lumen()));
        assert_eq!(keys(A).publisher(&new), None);
    }

    #[test]
    fn an_error_names_the_setting_and_not_its_keys() {
        for bad in [
            "",
            " ",
            "ff",
            &format!("{A},"),
            &format!("{A};{B}"),
            &format!("1:{A}"),
            &format!("{A}00"),
        ] {
            let error = KeyMac::parse(bad).err().unwrap();
            assert!(error.contains("REPORT_KEY_MAC"), "{bad}");
            assert!(!error.contains("000102"), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn an_issued_key_names_its_publisher(publisher in "[A-Za-z0-9-]{1,64}", random: [u8; 16]) {
            let publisher = PublisherId::parse(&publisher).unwrap();
            let key = keys(B).issue(&publisher, random);
            prop_assert_eq!(keys(B).publisher(&key), Some(publisher));
            prop_assert_eq!(keys(A).publisher(&key), None);
        }

        #[test]
        fn junk_is_refused(text in "(sk_)?[a-f0-9_-]{0,140}|.{0,40}") {
            prop_assert_eq!(keys(A).publisher(&text), None);
        }
    }

    const ISSUED: &str = "sk_lumen-arcade_abababababababababababababababab_149f8cabfb60214a3f3b1dd280b8f175";
}

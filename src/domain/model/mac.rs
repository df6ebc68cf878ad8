//! Credentials with a MAC: `<text>_<mac>`, such as report keys and advertisers' tokens. The MAC proves that Signpost
//! issued a credential, so the edge refuses junk without a call to an object.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::credentials::parse_key;

/// The bytes of a MAC: the first half of an HMAC-SHA256 over the text before it.
const MAC_BYTES: usize = 16;
/// The length of the suffix that [`MacKeys::sign`] appends: `_`, and the MAC in hexadecimal.
pub const SUFFIX_LEN: usize = 1 + 2 * MAC_BYTES;

/// The keys of a setting. The first key signs, and all keys verify.
pub struct MacKeys {
    signing: Hmac<Sha256>,
    others: Vec<Hmac<Sha256>>,
}

impl MacKeys {
    /// Parses a comma-separated list of keys of 64 hexadecimal digits. The error names the setting, and quotes no key.
    pub fn parse(setting: &str, configuration: &str) -> Result<Self, String> {
        let key = |item: &str| Hmac::<Sha256>::new_from_slice(&parse_key(item.trim())?).ok();
        let mut keys = configuration.split(',').map(key);
        match (keys.next().flatten(), keys.collect()) {
            (Some(signing), Some(others)) => Ok(Self { signing, others }),
            _ => Err(format!("{setting} must be a comma-separated list of keys of 64 hexadecimal digits")),
        }
    }

    /// The text with its MAC.
    pub fn sign(&self, text: &str) -> String {
        let mac = self.signing.clone().chain_update(text).finalize().into_bytes();
        let (mac, _) = mac.split_at(MAC_BYTES);
        format!("{text}_{}", hex::encode(mac))
    }

    /// The text before the MAC; `None` if the MAC is missing or wrong.
    pub fn verify<'t>(&self, presented: &'t str) -> Option<&'t str> {
        let (text, mac) = presented.rsplit_once('_')?;
        let mac: [u8; MAC_BYTES] = lower_hex(mac)?;
        // Compares in constant time.
        let verifies = |key: &Hmac<Sha256>| key.clone().chain_update(text).verify_truncated_left(&mac);
        std::iter::once(&self.signing).chain(&self.others).any(|key| verifies(key).is_ok()).then_some(text)
    }
}

/// Parses bytes in hexadecimal. Accepts lower-case digits only, so that a credential has one spelling.
pub fn lower_hex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let lower = !digits.bytes().any(|byte| byte.is_ascii_uppercase());
    (lower && hex::decode_to_slice(digits, &mut bytes).is_ok()).then_some(bytes)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const A: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    pub const B: &str = "F0E0D0C0B0A090807060504030201000F0E0D0C0B0A090807060504030201000";

    pub fn keys(configuration: &str) -> MacKeys {
        MacKeys::parse("REPORT_KEY_MAC", configuration).unwrap()
    }

    #[test]
    fn a_new_first_key_signs_while_the_old_one_still_verifies() {
        let old = keys(A).sign("text_1");
        let rotated = keys(&format!(" {B} , {A}\n"));
        assert_eq!(rotated.verify(&old), Some("text_1"));
        let new = rotated.sign("text_2");
        assert_eq!(keys(B).verify(&new), Some("text_2"));
        assert_eq!(keys(A).verify(&new), None);
    }

    #[test]
    fn an_error_names_the_setting_and_not_its_keys() {
        for bad in ["", " ", "ff", &format!("{A},"), &format!("{A};{B}"), &format!("1:{A}"), &format!("{A}00")] {
            let error = MacKeys::parse("REPORT_KEY_MAC", bad).err().unwrap();
            assert!(error.contains("REPORT_KEY_MAC"), "{bad}");
            assert!(!error.contains("000102"), "{bad}");
        }
    }

    /// Every text that differs from an issued credential in one place, or in the case of its digits.
    pub fn changed(issued: &str) -> Vec<String> {
        let mut changed: Vec<_> = issued
            .char_indices()
            .flat_map(|(at, char)| {
                let (before, rest) = issued.split_at(at);
                let (_, rest) = rest.split_at(char.len_utf8());
                ["0", "f", "_", "A", "-", "é", ""].map(|other| format!("{before}{other}{rest}"))
            })
            .filter(|text| text != issued)
            .collect();
        let (signed, mac) = issued.rsplit_once('_').unwrap();
        changed.extend([
            issued.to_uppercase(),
            format!("{signed}_{}", mac.to_uppercase()),
            format!("{issued} "),
            format!(" {issued}"),
            format!("{issued}00"),
        ]);
        changed
    }
}

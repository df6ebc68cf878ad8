//! Signs callbacks, so that a receiver can verify sender and content: the Standard Webhooks signature in a header, an
//! HMAC in the query for receivers that read only the URL, and an MD5 for older receivers.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// The prefix of symmetric secrets in the Standard Webhooks specification.
const PREFIX: &str = "whsec_";

crate::named_values! {
    /// The secrets that sign a test, with the text of the choice in requests and the audit.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SignWith {
        /// The current secret and, during a rotation, the previous secret, as for rewards.
        #[default]
        Both = "both",
        /// Only the current secret, as after a rotation.
        Current = "current",
        /// A random secret that nobody knows. A receiver that accepts such a callback does not check signatures.
        Wrong = "wrong",
    }
}

/// A parsed signing secret.
#[derive(Clone)]
pub struct Secret(Hmac<Sha256>);

impl Secret {
    /// The error text of a refused secret, to put after the field's name.
    pub const RULE: &str = "must be whsec_ followed by base64 of 24 to 64 bytes";

    /// Parses `whsec_` followed by padded base64 of 24 to 64 bytes.
    pub fn parse(text: &str) -> Option<Self> {
        let key = BASE64_STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
        if !(24..=64).contains(&key.len()) {
            return None;
        }
        Self::of_key(&key)
    }

    /// Creates a secret from these bytes.
    pub fn of_key(key: &[u8]) -> Option<Self> {
        Hmac::new_from_slice(key).ok().map(Self)
    }

    /// The text of a new secret.
    pub fn text(random: [u8; 32]) -> String {
        format!("{PREFIX}{}", BASE64_STANDARD.encode(random))
    }

    fn sign(&self, parts: &[&[u8]]) -> impl AsRef<[u8]> + use<> {
        let mac = parts.iter().fold(self.0.clone(), |mac, part| mac.chain_update(part));
        mac.finalize().into_bytes()
    }
}

impl fmt::Debug for Secret {
    /// Does not show the key, because settings may be logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The text that `webhook-signature` signs: `id.timestamp.payload`. `timestamp` is in seconds; the payload is the body,
/// or on a GET the raw query as sent.
pub fn webhook_content(id: &str, timestamp: i64, payload: &str) -> String {
    format!("{id}.{timestamp}.{payload}")
}

/// The value of `webhook-signature`: `v1,` and base64 of HMAC-SHA256 over [`webhook_content`], once for each secret,
/// separated by spaces.
pub fn webhook_signature<'a>(
    secrets: impl IntoIterator<Item = &'a Secret>,
    id: &str,
    timestamp: i64,
    payload: &str,
) -> String {
    let content = webhook_content(id, timestamp, payload);
    let signatures: Vec<_> = secrets
        .into_iter()
        .map(|secret| secret.sign(&[content.as_bytes()]))
        .map(|mac| format!("v1,{}", BASE64_STANDARD.encode(mac)))
        .collect();
    signatures.join(" ")
}

/// The signature in a query: lower-case hex of HMAC-SHA256 over the query up to the `&` before the signature's
/// parameter.
pub fn query_signature(secret: &Secret, query: &str) -> String {
    hex::encode(secret.sign(&[query.as_bytes()]))
}

/// The legacy signature: lower-case hex of MD5 over `secret.user_id.int(value).token`, where `int` drops the decimals
/// of a decimal text. It does not cover any other field, so it is only sent together with an HMAC.
pub fn legacy_md5(secret: &str, user_id: &str, value: &str, token: &str) -> String {
    hex::encode(Md5::digest(legacy_content(secret, user_id, value, token)))
}

/// The text that the legacy signature hashes.
pub fn legacy_content(secret: &str, user_id: &str, value: &str, token: &str) -> String {
    let whole = value.split('.').next().unwrap_or_default();
    // The integer of -0.5 is 0, which has no sign.
    let whole = if whole == "-0" { "0" } else { whole };
    format!("{secret}.{user_id}.{whole}.{token}")
}

#[cfg(test)]
pub mod receiver {
    //! A receiver with the stock library, for the tests of this folder.

    use proptest::sample::Index;
    use standardwebhooks::Webhook;

    /// The secret in the example of Standard Webhooks.
    pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    /// Whether the receiver accepts a callback: the library's own signature is in the list.
    pub fn verifies(secret: &str, id: &str, timestamp: i64, payload: &str, signatures: &str) -> bool {
        let library = Webhook::new(secret).unwrap();
        let own = library.sign(id, timestamp, payload.as_bytes()).unwrap();
        signatures.split(' ').any(|candidate| candidate == own)
    }

    /// The text with the character at `place` replaced by `by`. `None` if that changes nothing.
    pub fn changed(text: &str, place: Index, by: &str) -> Option<String> {
        let characters: Vec<_> = text.char_indices().collect();
        let (at, character) = *(!characters.is_empty()).then(|| place.get(&characters))?;
        let mut changed = text.to_owned();
        changed.replace_range(at..at + character.len_utf8(), by);
        (changed != text).then_some(changed)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::Index};

    use super::{
        receiver::{SECRET, changed, verifies},
        *,
    };

    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";

    fn text(key: &[u8]) -> String {
        format!("whsec_{}", BASE64_STANDARD.encode(key))
    }

    fn secret(key: &[u8]) -> (String, Secret) {
        (text(key), Secret::parse(&text(key)).unwrap())
    }

    #[test]
    fn the_example_of_standard_webhooks_is_signed_as_documented() {
        let secret = Secret::parse(SECRET).unwrap();
        assert_eq!(
            webhook_signature([&secret], ID, 1_614_265_330, r#"{"test": 2432232314}"#),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn during_a_rotation_both_secrets_sign_and_the_newest_comes_first() {
        let ((new, new_secret), (old, old_secret)) = (secret(&[1; 24]), secret(&[2; 64]));
        let both = webhook_signature([&new_secret, &old_secret], ID, 7, "a=b");
        let (first, second) = both.split_once(' ').unwrap();
        assert!(verifies(&new, ID, 7, "a=b", first) && verifies(&old, ID, 7, "a=b", second));
        assert_eq!(first, webhook_signature([&new_secret], ID, 7, "a=b"));
    }

    #[test]
    fn the_hmac_matches_a_test_case_of_rfc_4231() {
        // Test case 4 of the RFC, whose key has a length that a secret may have.
        let key: Vec<u8> = (1..=25).collect();
        let mac = secret(&key).1.sign(&[&[0xcd; 20], &[0xcd; 30]]);
        assert_eq!(hex::encode(mac), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
        let signature = query_signature(&Secret::parse(SECRET).unwrap(), "user_id=u1&ts=1");
        assert_eq!(signature, signature.to_lowercase());
        assert_eq!(signature.len(), 64);
    }

    #[test]
    fn the_legacy_signature_matches_a_known_value() {
        let secret = "fa072672-d432-11c4-885a-EB1CdEc4Bb13";
        let user_id = "30356439-8d15-4f47-B133-010a37C19eBD";
        let token = "525a5B8e-512b-441A-a10B-72d218c370e5";
        let signed = |value| legacy_md5(secret, user_id, value, token);
        for value in ["100.1234", "100", "100.9"] {
            assert_eq!(signed(value), "918809ac0e5fcc1960c8875d9e9c8e80", "{value}");
        }
        assert_ne!(signed("101"), signed("100"));
    }

    #[test]
    fn the_legacy_signature_truncates_toward_zero() {
        for (value, whole) in [("-0.5", "0"), ("0.9", "0"), ("-1.9", "-1"), ("-100", "-100")] {
            let expected = hex::encode(Md5::digest(format!("s.u.{whole}.t")));
            assert_eq!(legacy_md5("s", "u", value, "t"), expected, "{value}");
        }
    }

    #[test]
    fn a_secret_has_24_to_64_bytes() {
        for length in [24, 25, 63, 64] {
            assert!(Secret::parse(&text(&vec![7; length])).is_some(), "{length}");
        }
        let (short, long, padded) = (text(&[7; 23]), text(&[7; 65]), text(&[7; 25]));
        let unpadded = padded.trim_end_matches('=');
        let bare = SECRET.trim_start_matches("whsec_");
        let no_base64 = "whsec_not base64!";
        for bad in [&short, &long, unpadded, bare, no_base64, "", "whsec_", "********"] {
            assert!(Secret::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn debug_output_hides_a_secret() {
        assert_eq!(format!("{:?}", Secret::parse(SECRET)), "Some(Secret)");
    }

    proptest! {
        #[test]
        fn the_stock_library_accepts_a_signed_callback_and_no_altered_one(
            key in prop::collection::vec(any::<u8>(), 24..=64),
            id in "[A-Za-z0-9_-]{1,40}",
            timestamp in 0..4_000_000_000_i64,
            payload in ".{0,60}",
            place: Index,
            by in "[A-Za-z0-9]",
        ) {
            let (text, secret) = secret(&key);
            let signed = webhook_signature([&secret], &id, timestamp, &payload);
            prop_assert!(verifies(&text, &id, timestamp, &payload, &signed));
            if let Some(payload) = changed(&payload, place, &by) {
                prop_assert!(!verifies(&text, &id, timestamp, &payload, &signed));
            }
            if let Some(id) = changed(&id, place, &by) {
                prop_assert!(!verifies(&text, &id, timestamp, &payload, &signed));
            }
            for other in [timestamp + 1, timestamp - 1, timestamp * 10] {
                prop_assert!(other == timestamp || !verifies(&text, &id, other, &payload, &signed));
            }
            if let Some(signed) = changed(&signed, place, &by) {
                prop_assert!(!verifies(&text, &id, timestamp, &payload, &signed));
            }
        }

        #[test]
        fn a_changed_query_has_another_signature(query in "[ -~]{1,60}", place: Index, by in "[ -~]") {
            let secret = Secret::parse(SECRET).unwrap();
            if let Some(other) = changed(&query, place, &by) {
                prop_assert_ne!(query_signature(&secret, &query), query_signature(&secret, &other));
            }
        }
    }
}

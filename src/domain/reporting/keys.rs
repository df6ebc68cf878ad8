//! Report keys: `sk_<publisher>_<random>_<mac>`. The publisher part selects the ledger, and the MAC lets the edge
//! refuse junk without waking a ledger. Only the ledger knows whether a key is active.

use serde::{Deserialize, Serialize};

use super::rate;
use crate::model::{
    ApiError, MacKeys, PublisherId, SECOND_MS,
    mac::{self, lower_hex},
};

crate::named_values! {
    /// The permission of a key, which never changes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Scope {
        /// Reads reports.
        #[default]
        #[serde(rename = "ia-reporting.READ")]
        Reporting = "ia-reporting.READ",
        /// Reads rewards, with their users.
        #[serde(rename = "ia-rewards.READ")]
        Rewards = "ia-rewards.READ",
        /// Erases users, and exports a user's stored data.
        #[serde(rename = "ia-privacy.WRITE")]
        Privacy = "ia-privacy.WRITE",
        /// Sets up test apps.
        #[serde(rename = "ia-test.WRITE")]
        Test = "ia-test.WRITE",
    }
}

impl Scope {
    /// True if a key can show or erase users. Only owners may issue such a key.
    pub fn reaches_users(self) -> bool {
        matches!(self, Self::Rewards | Self::Privacy)
    }

    /// Minimum time between two accepted requests of a key, in milliseconds.
    pub fn interval_ms(self) -> i64 {
        match self {
            Self::Reporting => rate::INTERVAL_MS,
            // A page of rewards asks every outbox, and an erasure writes about 30 rows per app.
            Self::Rewards | Self::Privacy => SECOND_MS,
            // Each request publishes the app.
            Self::Test => 10 * SECOND_MS,
        }
    }
}

/// The answer to a missing, invalid or revoked key. docs/SPEC.md, "Errors".
pub const INVALID_API_KEY: ApiError = ApiError::new(401, "invalid_api_key", "invalid or inactive api key");

/// The answer to a key with another scope. Reports answer [`INVALID_API_KEY`] instead, because docs/SPEC.md has no
/// other error.
pub const INSUFFICIENT_SCOPE: ApiError =
    ApiError::new(403, "insufficient_scope", "this api key does not have the required scope");

/// The setting that holds the MAC keys.
pub const SETTING: &str = "REPORT_KEY_MAC";

/// The prefix of every key.
pub const PREFIX: &str = "sk_";
/// The bytes of the random part.
const RANDOM: usize = 16;
/// The length of the longest key in bytes: the prefix, a publisher id of 64 bytes, `_`, the random part in hexadecimal,
/// and the suffix with the MAC.
const MAX_KEY: usize = PREFIX.len() + 64 + 1 + 2 * RANDOM + mac::SUFFIX_LEN;

/// Issues a new key. `random` must come from a secure source, because it makes the key unguessable.
pub fn issue(keys: &MacKeys, publisher: &PublisherId, random: [u8; RANDOM]) -> String {
    keys.sign(&format!("{PREFIX}{publisher}_{}", hex::encode(random)))
}

/// The publisher of a key; `None` for a text that was never issued as a key.
pub fn publisher(keys: &MacKeys, presented: &str) -> Option<PublisherId> {
    if presented.len() > MAX_KEY {
        return None;
    }
    let signed = keys.verify(presented)?;
    let (publisher, random) = signed.strip_prefix(PREFIX)?.split_once('_')?;
    lower_hex::<RANDOM>(random)?;
    PublisherId::parse(publisher)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::mac::tests::{A, B, changed, keys};

    fn lumen() -> PublisherId {
        PublisherId::parse("lumen-arcade").unwrap()
    }

    #[test]
    fn a_key_has_the_documented_form() {
        // The MAC was computed with another implementation.
        assert_eq!(issue(&keys(A), &lumen(), [0xAB; 16]), ISSUED);
        assert_eq!(publisher(&keys(A), ISSUED), Some(lumen()));
    }

    #[test]
    fn a_changed_key_is_refused() {
        for changed in changed(ISSUED) {
            assert_eq!(publisher(&keys(A), &changed), None, "{changed}");
        }
    }

    proptest! {
        #[test]
        fn an_issued_key_names_its_publisher(id in "[A-Za-z0-9-]{1,64}", random: [u8; 16]) {
            let id = PublisherId::parse(&id).unwrap();
            let key = issue(&keys(B), &id, random);
            prop_assert_eq!(publisher(&keys(B), &key), Some(id));
            prop_assert_eq!(publisher(&keys(A), &key), None);
        }

        #[test]
        fn junk_is_refused(text in "(sk_)?[a-f0-9_-]{0,140}|.{0,40}") {
            prop_assert_eq!(publisher(&keys(A), &text), None);
        }
    }

    const ISSUED: &str = "sk_lumen-arcade_abababababababababababababababab_149f8cabfb60214a3f3b1dd280b8f175";
}

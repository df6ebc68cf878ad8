//! Challenges of WebAuthn ceremonies: the bytes of `wc_<purpose>_<account>_<expiry>_<random>_<mac>`. A challenge
//! contains everything needed to verify it, so issuing one writes nothing and strangers can request any number. The MAC
//! also covers a binding that is not part of the text, so that only the browser that requested a challenge can use it.
//! The account's object spends each challenge once, under its [`id`].

use sha2::{Digest, Sha256};

use super::ids::AccountId;
use crate::model::{
    CredentialHash, MINUTE_MS, MacKeys,
    mac::{self, lower_hex},
};

/// A challenge expires this long after its issue.
pub const LIFE_MS: i64 = 5 * MINUTE_MS;

const PREFIX: &str = "wc_";
const RANDOM: usize = 16;
/// Stands for the account's id while the account is unknown.
const NO_ACCOUNT: &str = "-";
/// The length of the longest challenge in bytes: the prefix, a purpose of 12 bytes, an account's id of 24 digits, an
/// expiry of 16 digits and the random part in hexadecimal, with a `_` between these parts, and the suffix with the MAC.
const MAX_CHALLENGE: usize = PREFIX.len() + 12 + 1 + 24 + 1 + 16 + 1 + 2 * RANDOM + mac::SUFFIX_LEN;

crate::named_values! {
    /// The ceremony for which a challenge is issued, with its text in the challenge.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum CeremonyPurpose {
        /// The first passkey of a member with an invite.
        Registration = "registration",
        /// A sign-in with a passkey that the member already has.
        SignIn = "sign-in",
        /// A confirmation with a passkey within a session.
        StepUp = "step-up",
        /// Another passkey of a member with a session.
        Addition = "addition",
    }
}

/// A challenge that was issued for a purpose and a binding, and has not expired. It may have been spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// `None` for a sign-in, where only the passkey identifies the account.
    pub account: Option<AccountId>,
    /// The expiry, in milliseconds. From then on, the account's object may forget that the challenge was spent.
    pub expires_at_ms: i64,
}

/// A new challenge. `binding` is a hash: of the session for a step-up or an addition, and otherwise of the value of the
/// [ceremony's cookie](super::cookie::Cookie::ceremony) and the invite, if there is one. `random` must come from a
/// secure source.
pub fn issue(
    keys: &MacKeys,
    purpose: CeremonyPurpose,
    account: Option<AccountId>,
    binding: &CredentialHash,
    now_ms: i64,
    random: [u8; RANDOM],
) -> String {
    let account = account.map_or_else(|| NO_ACCOUNT.to_owned(), |account| account.to_string());
    let expires_at_ms = now_ms.saturating_add(LIFE_MS);
    let text = format!("{PREFIX}{}_{account}_{expires_at_ms}_{}", purpose.as_str(), hex::encode(random));
    let signed = keys.sign(&bound(&text, binding));
    let mac = signed.rsplit_once('_').map_or("", |(_, mac)| mac);
    format!("{text}_{mac}")
}

/// Verifies presented bytes as a challenge; `None` unless it was issued for this purpose and binding and has not
/// expired.
pub fn verify(
    keys: &MacKeys,
    presented: &[u8],
    purpose: CeremonyPurpose,
    binding: &CredentialHash,
    now_ms: i64,
) -> Option<Challenge> {
    if presented.len() > MAX_CHALLENGE {
        return None;
    }
    let (text, mac) = std::str::from_utf8(presented).ok()?.rsplit_once('_')?;
    keys.verify(&format!("{}_{mac}", bound(text, binding)))?;
    let (named, rest) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let (account, rest) = rest.split_once('_')?;
    let (expiry, random) = rest.split_once('_')?;
    lower_hex::<RANDOM>(random)?;
    let account = match account {
        NO_ACCOUNT => None,
        id => Some(AccountId::parse(id)?),
    };
    let expires_at_ms = expiry.parse().ok()?;
    let is_valid = named == purpose.as_str() && now_ms < expires_at_ms;
    is_valid.then_some(Challenge { account, expires_at_ms })
}

/// The id under which a challenge is spent: SHA-256 of its bytes.
pub fn id(challenge: &[u8]) -> CredentialHash {
    Sha256::digest(challenge).into()
}

/// The text under the MAC. The binding comes last and has a fixed length, so no two pairs of text and binding collide.
fn bound(text: &str, binding: &CredentialHash) -> String {
    format!("{text}_{}", hex::encode(binding))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::mac::tests::{A, B, changed, keys};

    const NOW: i64 = 1_795_000_000_000;
    const BINDING: CredentialHash = [5; 32];
    const ACCOUNT: AccountId = AccountId([0xAC; 12]);

    fn issued(purpose: CeremonyPurpose, account: Option<AccountId>) -> String {
        issue(&keys(A), purpose, account, &BINDING, NOW, [9; 16])
    }

    fn verified(presented: &str, purpose: CeremonyPurpose, now_ms: i64) -> Option<Challenge> {
        verify(&keys(A), presented.as_bytes(), purpose, &BINDING, now_ms)
    }

    #[test]
    fn a_challenge_is_valid_for_its_purpose_alone() {
        for purpose in CeremonyPurpose::ALL {
            for account in [None, Some(ACCOUNT)] {
                let text = issued(purpose, account);
                for other in CeremonyPurpose::ALL {
                    let expected = (other == purpose).then_some(Challenge { account, expires_at_ms: NOW + LIFE_MS });
                    assert_eq!(verified(&text, other, NOW), expected, "{text}");
                }
            }
        }
    }

    #[test]
    fn a_challenge_expires_after_5_minutes() {
        let text = issued(CeremonyPurpose::SignIn, None);
        assert!(verified(&text, CeremonyPurpose::SignIn, NOW + 5 * MINUTE_MS - 1).is_some());
        assert_eq!(verified(&text, CeremonyPurpose::SignIn, NOW + 5 * MINUTE_MS), None);
    }

    #[test]
    fn a_challenge_of_another_browser_or_key_is_refused() {
        let text = issued(CeremonyPurpose::StepUp, Some(ACCOUNT));
        let purpose = CeremonyPurpose::StepUp;
        assert_eq!(verify(&keys(A), text.as_bytes(), purpose, &[6; 32], NOW), None);
        assert_eq!(verify(&keys(B), text.as_bytes(), purpose, &BINDING, NOW), None);
    }

    #[test]
    fn a_changed_challenge_is_refused() {
        let purpose = CeremonyPurpose::Registration;
        for changed in changed(&issued(purpose, Some(ACCOUNT))) {
            assert_eq!(verified(&changed, purpose, NOW), None, "{changed}");
        }
        // The text under the MAC, with the binding as a part of it.
        let text = issued(purpose, None);
        let (before, mac) = text.rsplit_once('_').unwrap();
        assert_eq!(verified(&format!("{}_{mac}", bound(before, &BINDING)), purpose, NOW), None);
    }

    #[test]
    fn the_longest_challenge_is_not_too_long() {
        let now = 9_999_999_999_999_999 - LIFE_MS;
        let purpose = CeremonyPurpose::Registration;
        let text = issue(&keys(A), purpose, Some(ACCOUNT), &BINDING, now, [0; 16]);
        assert_eq!(text.len(), MAX_CHALLENGE);
        assert!(verified(&text, purpose, now).is_some());
    }

    #[test]
    fn each_challenge_is_spent_under_its_own_id() {
        let other = issue(&keys(A), CeremonyPurpose::SignIn, None, &BINDING, NOW, [8; 16]);
        let one = issued(CeremonyPurpose::SignIn, None);
        assert_ne!(id(one.as_bytes()), id(other.as_bytes()));
    }

    proptest! {
        #[test]
        fn junk_is_refused(bytes: Vec<u8>, text in "(wc_sign-in_-_)?[a-f0-9_-]{0,120}") {
            for presented in [bytes.as_slice(), text.as_bytes()] {
                let verified = verify(&keys(A), presented, CeremonyPurpose::SignIn, &BINDING, NOW);
                prop_assert_eq!(verified, None);
            }
        }
    }
}

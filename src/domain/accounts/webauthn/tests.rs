mod assertion;
mod registration;
mod vectors;

use proptest::prelude::*;
use serde_json::{Value, json};

use self::vectors::Vector;
use super::{authenticator_data::AuthenticatorData, base64url, public_key::PublicKey, *};
use crate::accounts::challenge::Challenge;

const FLAGS: usize = 32;
const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const BACKUP_ELIGIBLE: u8 = 0x08;
const BACKED_UP: u8 = 0x10;
const ATTESTED: u8 = 0x40;
const EXTENSIONS: u8 = 0x80;

/// The published challenges do not have Signpost's form, so none of them can be verified.
const VERIFIED: Challenge = Challenge { account: None, expires_at_ms: 0 };

fn party() -> RelyingParty {
    RelyingParty::parse("Signpost", "https://example.org").unwrap()
}

fn unhex(digits: &str) -> Vec<u8> {
    hex::decode(digits).unwrap()
}

/// A passkey's answer in parts that a test may change. The tests set the user-verified flag in vectors without it. No
/// test verifies a signature, so only the bytes of the message differ from the published vectors.
#[derive(Clone)]
struct Answer {
    credential_id: Vec<u8>,
    client_data: Vec<u8>,
    authenticator_data: Vec<u8>,
    challenge: Vec<u8>,
    algorithm: i64,
    spki: Vec<u8>,
    signature: Vec<u8>,
}

impl Answer {
    fn published(vector: &Vector, is_creation: bool) -> Self {
        let pick = |create, get| unhex(if is_creation { create } else { get });
        Self {
            credential_id: unhex(vector.credential_id),
            client_data: pick(vector.client_data, vector.get_client_data),
            authenticator_data: pick(vector.authenticator_data, vector.get_authenticator_data),
            challenge: pick(vector.challenge, vector.get_challenge),
            algorithm: vector.algorithm,
            spki: unhex(vector.spki),
            signature: unhex(vector.signature),
        }
    }

    fn creation(vector: &Vector) -> Self {
        let mut answer = Self::published(vector, true);
        answer.authenticator_data[FLAGS] |= USER_VERIFIED;
        answer
    }

    fn assertion(vector: &Vector) -> Self {
        let mut answer = Self::published(vector, false);
        answer.authenticator_data[FLAGS] |= USER_VERIFIED;
        answer
    }

    fn creation_json(&self) -> Value {
        let id = base64url::encode(&self.credential_id);
        json!({
            "id": id, "rawId": id, "type": "public-key", "authenticatorAttachment": "platform",
            "clientExtensionResults": { "credProps": { "rk": true } },
            "response": {
                "clientDataJSON": base64url::encode(&self.client_data),
                "authenticatorData": base64url::encode(&self.authenticator_data),
                "attestationObject": "o2NmbXRkbm9uZQ",
                "publicKey": base64url::encode(&self.spki),
                "publicKeyAlgorithm": self.algorithm,
                "transports": ["internal", "hybrid"],
            },
        })
    }

    fn assertion_json(&self) -> Value {
        let id = base64url::encode(&self.credential_id);
        json!({
            "id": id, "rawId": id, "type": "public-key", "clientExtensionResults": {},
            "response": {
                "clientDataJSON": base64url::encode(&self.client_data),
                "authenticatorData": base64url::encode(&self.authenticator_data),
                "signature": base64url::encode(&self.signature),
                "userHandle": "AQID",
            },
        })
    }

    fn register(&self) -> Result<NewCredential, PasskeyError> {
        Registration::parse(&self.creation_json().to_string())?.check(&party(), &VERIFIED)
    }

    /// Checks the answer against the vector's credential, whose counter is `sign_count`.
    fn assert(&self, vector: &Vector, sign_count: u32) -> Result<ToVerify, PasskeyError> {
        let registered = unhex(vector.authenticator_data);
        let stored = StoredCredential {
            spki: &unhex(vector.spki),
            sign_count,
            is_backup_eligible: registered[FLAGS] & BACKUP_ELIGIBLE != 0,
        };
        Assertion::parse(&self.assertion_json().to_string())?.check(&party(), &VERIFIED, &stored)
    }

    /// Replaces a text in the client data.
    fn with_client_data(mut self, from: &str, to: &str) -> Self {
        let text = String::from_utf8(self.client_data).unwrap();
        assert!(text.contains(from), "{text}");
        self.client_data = text.replacen(from, to, 1).into_bytes();
        self
    }

    fn with_flags(mut self, set: u8, clear: u8) -> Self {
        self.authenticator_data[FLAGS] |= set;
        self.authenticator_data[FLAGS] &= !clear;
        self
    }
}

/// The changes of client data that both ceremonies refuse.
fn forged(answer: &Answer) -> [(Answer, PasskeyError); 8] {
    use PasskeyError::*;
    let forge = |from: &str, to: &str| answer.clone().with_client_data(from, to);
    let challenge = base64url::encode(&answer.challenge);
    [
        (forge(&challenge, &format!("{challenge}=")), Base64),
        (forge(&challenge, &"A".repeat(400)), TooLong),
        (forge("https://example.org", "https://example.org.evil.com"), Origin),
        (forge("https://example.org", "http://example.org"), Origin),
        (forge("https://example.org", "https://example.org:8443"), Origin),
        (forge("\"crossOrigin\":false", "\"crossOrigin\":true"), CrossOrigin),
        (forge("\"crossOrigin\":false", "\"topOrigin\":\"https://example.org\""), CrossOrigin),
        (forge("\"crossOrigin\":false", "\"type\":\"webauthn.get\""), ClientData),
    ]
}

#[test]
fn every_reason_has_one_answer() {
    let error = crate::model::api_error::ApiError::from(PasskeyError::Origin);
    assert_eq!((error.status, error.code), (401, "passkey_refused"));
    assert!(!error.body().contains(PasskeyError::Origin.as_str()));
}

#[test]
fn client_data_without_cross_origin_are_accepted() {
    let answer = Answer::creation(&vectors::RS256).with_client_data(",\"crossOrigin\":false", "");
    assert!(answer.register().is_ok());
}

proptest! {
    #[test]
    fn random_bytes_never_panic_and_never_register(
        bytes in prop::collection::vec(any::<u8>(), 0..200), text in ".{0,80}", at in 0_usize..300, byte: u8,
    ) {
        prop_assert!(Registration::parse(&text).is_err());
        prop_assert!(Assertion::parse(&text).is_err());
        AuthenticatorData::parse(&bytes);
        PublicKey::from_spki(&bytes);
        let mut answer = Answer::creation(&vectors::ES256_SELF);
        answer.spki = bytes.clone();
        prop_assert!(answer.register().is_err());
        answer.client_data = bytes.clone();
        prop_assert!(answer.register().is_err());
        // Random bytes after a plausible start, and one changed byte anywhere.
        let mut data = unhex(vectors::RS256.authenticator_data);
        data.truncate(at);
        data.extend_from_slice(&bytes);
        AuthenticatorData::parse(&data);
        let mut spki = unhex(vectors::RS256.spki);
        spki[at] = byte;
        PublicKey::from_spki(&spki);
        let mut assertion = Answer::assertion(&vectors::ES256_SELF);
        assertion.signature = bytes;
        if let Ok(to_verify) = assertion.assert(&vectors::ES256_SELF, 0) {
            prop_assert_eq!(to_verify.signature.len(), 64);
        }
    }
}

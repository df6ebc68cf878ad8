//! An authenticator in software: it makes passkeys and signs with them, as a browser hands it on.

use std::sync::atomic::{AtomicU32, Ordering};

use base64::prelude::{BASE64_URL_SAFE_NO_PAD as BASE64URL, Engine};
use domain::{accounts::webauthn::Algorithm, model::time::SECOND_MS};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{ORIGIN, passkey_keys::PasskeyKeys};
use crate::harness::now_ms;

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const ATTESTED: u8 = 0x40;
/// One passkey.
pub struct Authenticator {
    id: Vec<u8>,
    keys: PasskeyKeys,
    handle: String,
    sign_count: u32,
}

impl Authenticator {
    /// Makes a passkey of Ed25519, and the credential that answers creation options. `seed` tells passkeys apart.
    pub fn create(options: &Value, seed: u8) -> (Self, Value) {
        Self::create_of(Algorithm::EdDsa, options, seed)
    }

    /// A passkey of Ed25519 that was made earlier. Its signature count is higher than any before, unless there were
    /// more signatures than seconds.
    pub fn made_earlier(seed: u8, handle: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let now_s = u32::try_from(now_ms() / SECOND_MS).unwrap();
        NEXT.fetch_max(now_s, Ordering::SeqCst);
        Self {
            id: vec![seed; 16],
            keys: PasskeyKeys::make(Algorithm::EdDsa, seed),
            handle: handle.to_owned(),
            sign_count: NEXT.fetch_add(1, Ordering::SeqCst),
        }
    }

    /// Makes a passkey of an algorithm.
    pub fn create_of(algorithm: Algorithm, options: &Value, seed: u8) -> (Self, Value) {
        let made = Self {
            id: vec![seed; 16],
            keys: PasskeyKeys::make(algorithm, seed),
            handle: options["user"]["id"].as_str().unwrap().to_owned(),
            sign_count: 1,
        };
        let excluded = options["excludeCredentials"].as_array().unwrap();
        assert!(excluded.iter().all(|known| known["id"] != made.encoded_id()), "{options}");
        let mut data = made.data(USER_PRESENT | USER_VERIFIED | ATTESTED);
        data.extend([0; 16]);
        data.extend(u16::try_from(made.id.len()).unwrap().to_be_bytes());
        data.extend(&made.id);
        data.extend(&made.keys.cose);
        let response = json!({
            "clientDataJSON": client_data("webauthn.create", options),
            "authenticatorData": BASE64URL.encode(&data),
            "publicKey": BASE64URL.encode(&made.keys.spki),
            "publicKeyAlgorithm": made.keys.algorithm.cose(),
            "transports": ["internal"],
        });
        let credential = made.credential(&response);
        (made, credential)
    }

    /// The credential that answers request options.
    pub fn get(&mut self, options: &Value) -> Value {
        self.sign_count += 1;
        let data = self.data(USER_PRESENT | USER_VERIFIED);
        let client_data = client_data("webauthn.get", options);
        let hash = Sha256::digest(BASE64URL.decode(&client_data).unwrap());
        let signature = self.keys.sign(&[&data[..], &hash].concat());
        self.credential(&json!({
            "clientDataJSON": client_data,
            "authenticatorData": BASE64URL.encode(&data),
            "signature": BASE64URL.encode(signature),
            "userHandle": self.handle,
        }))
    }

    /// Replaces the keys, as a forger has others.
    pub fn forge(&mut self, seed: u8) {
        self.keys = PasskeyKeys::make(self.keys.algorithm, seed);
    }

    /// The id of the member, as the options of its creation had it.
    pub fn handle(&self) -> &str {
        &self.handle
    }

    pub fn encoded_id(&self) -> String {
        BASE64URL.encode(&self.id)
    }

    fn credential(&self, response: &Value) -> Value {
        let id = self.encoded_id();
        json!({ "id": id, "rawId": id, "type": "public-key", "response": response })
    }

    fn data(&self, flags: u8) -> Vec<u8> {
        let mut data = Sha256::digest("localhost").to_vec();
        data.push(flags);
        data.extend(self.sign_count.to_be_bytes());
        data
    }
}

fn client_data(ceremony: &str, options: &Value) -> String {
    let data = json!({
        "type": ceremony, "challenge": options["challenge"], "origin": ORIGIN, "crossOrigin": false,
    });
    BASE64URL.encode(data.to_string())
}

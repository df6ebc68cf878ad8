//! An authenticator in software: it makes passkeys of Ed25519 and signs with them, as a browser hands it on.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD as BASE64URL, Engine};
use ed25519_compact::{KeyPair, Seed};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::ORIGIN;

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const ATTESTED: u8 = 0x40;
/// The DER of an Ed25519 key's SPKI, before the key itself.
const SPKI: [u8; 12] = [
    0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
];
/// The COSE key before the key itself: OKP, EdDSA, Ed25519.
const COSE: [u8; 10] = [0xA4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20];

/// One passkey.
pub struct Authenticator {
    id: Vec<u8>,
    keys: KeyPair,
    handle: String,
    sign_count: u32,
}

impl Authenticator {
    /// Makes a passkey, and the credential that answers creation options. `seed` tells passkeys apart.
    pub fn create(options: &Value, seed: u8) -> (Self, Value) {
        let made = Self {
            id: vec![seed; 16],
            keys: KeyPair::from_seed(Seed::new([seed; 32])),
            handle: options["user"]["id"].as_str().unwrap().to_owned(),
            sign_count: 1,
        };
        let excluded = options["excludeCredentials"].as_array().unwrap();
        assert!(
            excluded.iter().all(|known| known["id"] != made.encoded_id()),
            "{options}"
        );
        let key: &[u8] = &*made.keys.pk;
        let mut data = made.data(USER_PRESENT | USER_VERIFIED | ATTESTED);
        data.extend([0; 16]);
        data.extend(u16::try_from(made.id.len()).unwrap().to_be_bytes());
        data.extend(&made.id);
        data.extend(COSE);
        data.extend(key);
        let response = json!({
            "clientDataJSON": client_data("webauthn.create", options),
            "authenticatorData": BASE64URL.encode(&data),
            "publicKey": BASE64URL.encode([&SPKI, key].concat()),
            "publicKeyAlgorithm": -8,
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
        let signature = self.keys.sk.sign([&data[..], &hash].concat(), None);
        self.credential(&json!({
            "clientDataJSON": client_data,
            "authenticatorData": BASE64URL.encode(&data),
            "signature": BASE64URL.encode(*signature),
            "userHandle": self.handle,
        }))
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

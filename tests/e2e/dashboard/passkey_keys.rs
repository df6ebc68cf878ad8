//! Key pairs of passkeys: Ed25519 by a crate, RSA and P-256 by Node.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use base64::prelude::{BASE64_STANDARD as BASE64, BASE64_URL_SAFE_NO_PAD as BASE64URL, Engine};
use domain::accounts::webauthn::Algorithm;
use ed25519_compact::{KeyPair, Seed};
use serde_json::{Value, json};

use crate::harness::root;

/// The DER of an Ed25519 key's SPKI, before the key itself.
const ED25519_SPKI: [u8; 12] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00];
/// The COSE key before the key itself: OKP, EdDSA, Ed25519.
const ED25519_COSE: [u8; 10] = [0xA4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20];
/// EC2, ES256, P-256, before the coordinates of 32 bytes each.
const P256_COSE: [u8; 7] = [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01];
/// RSA, RS256, before the modulus of 256 bytes and the exponent of 3.
const RSA_COSE: [u8; 7] = [0xA4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00];

enum Secret {
    Ed25519(KeyPair),
    /// A private key of Node in PEM.
    Node(String),
}

pub struct PasskeyKeys {
    pub algorithm: Algorithm,
    pub spki: Vec<u8>,
    /// The public key as the authenticator data have it.
    pub cose: Vec<u8>,
    secret: Secret,
}

impl PasskeyKeys {
    /// Makes keys. Those of Ed25519 are the seed's, all others are new.
    pub fn make(algorithm: Algorithm, seed: u8) -> Self {
        match algorithm {
            Algorithm::EdDsa => {
                let keys = KeyPair::from_seed(Seed::new([seed; 32]));
                let public: &[u8] = &*keys.pk;
                Self {
                    algorithm,
                    spki: [&ED25519_SPKI, public].concat(),
                    cose: [&ED25519_COSE, public].concat(),
                    secret: Secret::Ed25519(keys),
                }
            }
            Algorithm::Es256 => Self::of_node(algorithm, "ec", |number| {
                [&P256_COSE, &[0x21, 0x58, 32][..], &number("x"), &[0x22, 0x58, 32], &number("y")].concat()
            }),
            Algorithm::Rs256 => Self::of_node(algorithm, "rsa", |number| {
                [&RSA_COSE, &[0x20, 0x59, 1, 0][..], &number("n"), &[0x21, 0x43], &number("e")].concat()
            }),
        }
    }

    /// `cose` makes the COSE key from the numbers of the JWK.
    fn of_node(algorithm: Algorithm, kind: &str, cose: impl Fn(&dyn Fn(&str) -> Vec<u8>) -> Vec<u8>) -> Self {
        let made = node(&json!({ "make": kind }));
        let number = |name: &str| BASE64URL.decode(made["jwk"][name].as_str().unwrap()).unwrap();
        Self {
            algorithm,
            spki: BASE64.decode(made["spki"].as_str().unwrap()).unwrap(),
            cose: cose(&number),
            secret: Secret::Node(made["pem"].as_str().unwrap().to_owned()),
        }
    }

    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        match &self.secret {
            Secret::Ed25519(keys) => keys.sk.sign(message, None).to_vec(),
            Secret::Node(pem) => {
                let signed = node(&json!({ "pem": pem, "message": BASE64.encode(message) }));
                BASE64.decode(signed["signature"].as_str().unwrap()).unwrap()
            }
        }
    }
}

/// Has Node carry out a command.
fn node(command: &Value) -> Value {
    let mut child = Command::new("node")
        .arg("tests/e2e/dashboard/keys_of_node.mjs")
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node");
    let mut input = child.stdin.take().unwrap();
    input.write_all(command.to_string().as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

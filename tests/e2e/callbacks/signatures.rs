//! Signatures of callbacks, verified by the stock library of Standard Webhooks, by the query alone, and by the MD5
//! of older receivers.

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use md5::{Digest, Md5};
use serde_json::{Value, json};
use sha2::Sha256;
use standardwebhooks::Webhook;

use crate::harness::{Received, Receiver, SECRET, callback, demo, expect_accepted};

const OTHER_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

/// Whether the stock library accepts a callback. The payload is the body, or on a GET the raw query.
fn verifies(secret: &str, received: &Received) -> bool {
    let payload = if received.method == "GET" { received.query() } else { &received.body };
    let webhook = Webhook::new(secret).unwrap();
    webhook.verify(payload.as_bytes(), &received.headers).is_ok()
}

/// Whether the last parameter is the HMAC of the query before it, for a receiver that reads only the URL.
fn query_verifies(secret: &str, name: &str, query: &str) -> bool {
    let key = BASE64_STANDARD.decode(secret.trim_start_matches("whsec_")).unwrap();
    let Some((before, signature)) = query.rsplit_once(&format!("&{name}=")) else {
        return false;
    };
    let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&key).unwrap();
    let mac = mac.chain_update(before).finalize().into_bytes();
    hex::encode(mac) == signature
}

/// The text with another character at this index.
fn changed(text: &str, index: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    bytes[index] = if bytes[index] == b'7' { b'8' } else { b'7' };
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_stock_library_accepts_callbacks_and_rejects_any_change() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-signed", "79000211", None);
    for (number, method) in ["GET", "POST"].into_iter().enumerate() {
        let url = format!("{}/cb?key=1", receiver.base());
        wall.put_app(&json!({"callback": callback(&url, method)}));
        wall.pay("a@b.c-_");
        let received = receiver.wait(number + 1).remove(number);
        assert!(verifies(SECRET, &received), "{received:?}");
        assert!(!verifies(OTHER_SECRET, &received), "{received:?}");

        let signed = if method == "GET" { &received.target } else { &received.body };
        let from = signed.find('?').map_or(0, |mark| mark + 1);
        for index in from..signed.len() {
            let mut forged = received.clone();
            if method == "GET" {
                forged.target = changed(signed, index);
            } else {
                forged.body = changed(signed, index);
            }
            assert!(!verifies(SECRET, &forged), "{forged:?}");
        }
        for header in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            let value = received.header(header);
            for index in 0..value.len() {
                let mut forged = received.clone();
                forged.headers.insert(header, changed(value, index).parse().unwrap());
                assert!(!verifies(SECRET, &forged), "{forged:?}");
            }
        }
        if method == "GET" {
            let query = received.query();
            assert!(query_verifies(SECRET, "signature", query), "{received:?}");
            for index in 0..query.len() {
                assert!(!query_verifies(SECRET, "signature", &changed(query, index)));
            }
        }
    }
}

#[test]
fn during_rotation_receivers_with_either_secret_accept_callbacks() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-rotated", "79000212", Some(&receiver));
    let url = format!("{}/cb", receiver.base());
    // The secrets of the app, and which of the two verify.
    let steps = [
        (json!({"secret": SECRET}), true, false),
        (json!({"secret": OTHER_SECRET, "previous_secret": SECRET}), true, true),
        (json!({"secret": OTHER_SECRET}), false, true),
    ];
    for (number, (secrets, first, other)) in steps.into_iter().enumerate() {
        let mut callback = callback(&url, "GET");
        for (name, secret) in secrets.as_object().unwrap() {
            callback[name] = secret.clone();
        }
        wall.put_app(&json!({ "callback": callback }));
        wall.pay("u-1");
        let received = receiver.wait(number + 1).remove(number);
        assert_eq!(verifies(SECRET, &received), first, "{received:?}");
        assert_eq!(verifies(OTHER_SECRET, &received), other, "{received:?}");
        let signatures = received.header("webhook-signature").split(' ').count();
        assert_eq!(signatures, usize::from(first) + usize::from(other), "{received:?}");
        // The query has one signature, by the newest secret.
        let newest = secrets["secret"].as_str().unwrap();
        assert!(query_verifies(newest, "signature", received.query()), "{received:?}");
    }
}

#[test]
fn a_legacy_receiver_gets_its_md5_beside_the_hmac() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-md5", "79000213", None);
    let old_secret = "fa072672-d432-11c4-885a-EB1CdEc4Bb13";
    let user = "30356439-8d15-4f47-B133-010a37C19eBD";
    for (number, method) in ["GET", "POST"].into_iter().enumerate() {
        let mut callback = callback(&format!("{}/cb", receiver.base()), method);
        callback["legacy_md5"] = json!({ "secret": old_secret });
        wall.put_app(&json!({
            "callback": callback,
            // 1.25 USD are 100.1234 Coins.
            "currency": {"name": "Coins", "per_usd": 80.09872, "decimals": 4, "rounding": "nearest"}
        }));
        let click = wall.click_id(user);
        let id = expect_accepted(wall.convert(&click, ""), "approved", false);
        let expected = hex::encode(Md5::digest(format!("{old_secret}.{user}.100.{id}")));
        let received = receiver.wait(2 * number + 1).remove(2 * number);
        assert!(verifies(SECRET, &received), "{received:?}");
        let parameter = |name: &str| match method {
            "GET" => received.parameter(name),
            _ => {
                let body: Value = serde_json::from_str(&received.body).unwrap();
                body[name].as_str().map(str::to_owned)
            }
        };
        assert_eq!(parameter("token").as_deref(), Some(id.as_str()), "{received:?}");
        assert_eq!(parameter("signature").as_deref(), Some(expected.as_str()), "{received:?}");
        if method == "GET" {
            assert_eq!(parameter("value").as_deref(), Some("100.1234"), "{received:?}");
            assert!(query_verifies(SECRET, "signature_hmac", received.query()), "{received:?}");
        }
        // A reversal is signed with its own negative value.
        expect_accepted(wall.convert(&click, "&status=reversed"), "reversed", false);
        let reversal = receiver.wait(2 * number + 2).remove(2 * number + 1);
        assert!(verifies(SECRET, &reversal), "{reversal:?}");
        if method == "GET" {
            let token = reversal.transaction_id();
            let expected = hex::encode(Md5::digest(format!("{old_secret}.{user}.-100.{token}")));
            assert_eq!(reversal.parameter("signature"), Some(expected), "{reversal:?}");
        }
    }
}

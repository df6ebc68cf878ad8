//! Assertions: the published vectors, and a refusal for each check.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{
    vectors::{ALL, EDDSA, ES256_SELF, RS256},
    *,
};

#[test]
fn the_published_assertions_are_ready_for_webcrypto_but_for_their_unverified_user() {
    for vector in ALL {
        let published = Answer::published(vector, false);
        assert_eq!(published.assert(vector, 0), Err(PasskeyError::UserNotVerified));
        let answer = Answer::assertion(vector);
        let hash = Sha256::digest(&answer.client_data);
        let expected = ToVerify {
            algorithm: Algorithm::from_cose(vector.algorithm).unwrap(),
            spki: unhex(vector.spki),
            message: [&answer.authenticator_data[..], &hash].concat(),
            signature: unhex(vector.raw_signature),
            sign_count: 0,
            is_backed_up: answer.authenticator_data[FLAGS] & BACKED_UP != 0,
        };
        assert_eq!(answer.assert(vector, 0), Ok(expected));
    }
}

#[test]
fn challenge_credential_and_user_are_known_before_the_check() {
    let answer = Answer::assertion(&RS256);
    let assertion = Assertion::parse(&answer.assertion_json().to_string()).unwrap();
    assert_eq!(assertion.challenge(), answer.challenge);
    assert_eq!(assertion.credential_id(), answer.credential_id);
    assert_eq!(assertion.user_handle(), Some(&[1, 2, 3][..]));
    for handle in [json!(null), json!(base64url::encode(&[1; 64]))] {
        let mut json = answer.assertion_json();
        json["response"]["userHandle"] = handle;
        assert!(Assertion::parse(&json.to_string()).is_ok());
    }
}

#[test]
fn forged_client_data_are_refused() {
    let answer = Answer::assertion(&RS256);
    for (forged, reason) in forged(&answer) {
        assert_eq!(forged.assert(&RS256, 0), Err(reason));
    }
    let registration = answer.with_client_data("webauthn.get", "webauthn.create");
    assert_eq!(registration.assert(&RS256, 0), Err(PasskeyError::CeremonyType));
}

#[test]
fn authenticator_data_are_checked() {
    use PasskeyError::*;
    let answer = Answer::assertion(&RS256);
    for (set, clear, reason) in [
        (0, USER_PRESENT, UserNotPresent),
        (0, USER_VERIFIED, UserNotVerified),
        (0, BACKUP_ELIGIBLE, BackupFlags),
        (0, BACKUP_ELIGIBLE | BACKED_UP, BackupFlags),
        (EXTENSIONS, 0, AuthenticatorData),
        (ATTESTED, 0, AuthenticatorData),
    ] {
        assert_eq!(answer.clone().with_flags(set, clear).assert(&RS256, 0), Err(reason));
    }
    let not_eligible = Answer::assertion(&EDDSA).with_flags(BACKUP_ELIGIBLE, 0);
    assert_eq!(not_eligible.assert(&EDDSA, 0), Err(BackupFlags));
    let mut other_party = answer.clone();
    other_party.authenticator_data[31] ^= 0x80;
    assert_eq!(other_party.assert(&RS256, 0), Err(RpId));
    for length in (0..37).chain([38]) {
        let mut wrong = answer.clone();
        wrong.authenticator_data.resize(length, 0);
        assert_eq!(wrong.assert(&RS256, 0), Err(AuthenticatorData), "{length}");
    }
    let mut attested = answer.clone();
    attested.authenticator_data = Answer::creation(&RS256).authenticator_data;
    assert_eq!(attested.assert(&RS256, 0), Err(AuthenticatorData));
    let mut extended = answer.with_flags(EXTENSIONS, 0);
    extended.authenticator_data.push(0xA0);
    assert!(extended.assert(&RS256, 0).is_ok());
}

#[test]
fn a_counter_that_does_not_grow_is_refused() {
    for (stored, new, is_allowed) in [
        (0, 0, true),
        (0, 1, true),
        (1, 2, true),
        (u32::MAX - 1, u32::MAX, true),
        (1, 1, false),
        (2, 1, false),
        (1, 0, false),
        (u32::MAX, 0, false),
    ] {
        let mut answer = Answer::assertion(&EDDSA);
        answer.authenticator_data[33..37].copy_from_slice(&u32::to_be_bytes(new));
        let expected = if is_allowed { Ok(new) } else { Err(PasskeyError::SignCount) };
        let sign_count = answer.assert(&EDDSA, stored).map(|to_verify| to_verify.sign_count);
        assert_eq!(sign_count, expected, "{stored} {new}");
    }
}

#[test]
fn numbers_of_a_signature_are_padded_to_32_bytes() {
    let short = unhex("3007020101020200ff");
    let mut answer = Answer::assertion(&ES256_SELF);
    answer.signature = short;
    let raw = answer.assert(&ES256_SELF, 0).unwrap().signature;
    assert_eq!(hex::encode(raw), format!("{:064x}{:064x}", 1, 0xFF));
}

#[test]
fn a_signature_that_is_not_strict_der_is_refused() {
    let good = unhex(ES256_SELF.signature);
    let body = &good[2..];
    let number = |first: u8, length: usize| [&[2, length as u8, first][..], &vec![1; length - 1]].concat();
    let sequence = |parts: &[&[u8]]| {
        let content = parts.concat();
        [&[0x30, content.len() as u8][..], &content].concat()
    };
    let (one, long) = (number(1, 1), number(1, 33));
    let bad = [
        vec![],
        good[..69].to_vec(),
        [&good[..], &[0]].concat(),
        [&[0x30, 69], body].concat(),
        [&[0x30, 71], body].concat(),
        [&[0x30, 0x81, 68], body].concat(),
        [&[0x30, 0x82, 0, 68], body].concat(),
        [&[0x30, 0x80], body, &[0, 0]].concat(),
        [&[0x31, 68], body].concat(),
        sequence(&[&one]),
        sequence(&[&one, &one, &one]),
        sequence(&[&one, &[2, 0]]),
        sequence(&[&one, &[2, 1, 0]]),
        sequence(&[&one, &[2, 1, 0x80]]),
        sequence(&[&one, &[2, 2, 0, 1]]),
        sequence(&[&long, &one]),
        sequence(&[&one, &long]),
        unhex(ES256_SELF.raw_signature),
    ];
    for signature in bad {
        let mut answer = Answer::assertion(&ES256_SELF);
        answer.signature = signature;
        let refused = answer.assert(&ES256_SELF, 0);
        assert_eq!(refused, Err(PasskeyError::SignatureForm), "{:?}", answer.signature);
    }
}

#[test]
fn a_signature_has_the_length_of_its_algorithm() {
    for vector in [RS256, EDDSA] {
        let whole = Answer::assertion(&vector);
        for length in [0, whole.signature.len() - 1, whole.signature.len() + 1] {
            let mut answer = whole.clone();
            answer.signature.resize(length, 0);
            assert_eq!(answer.assert(&vector, 0), Err(PasskeyError::SignatureForm));
        }
    }
    let mut oversize = Answer::assertion(&RS256);
    oversize.signature = vec![1; 513];
    assert_eq!(oversize.assert(&RS256, 0), Err(PasskeyError::TooLong));
}

#[test]
fn json_of_another_form_is_refused() {
    use PasskeyError::*;
    for (pointer, value, reason) in [
        ("/type", json!("public_key"), Json),
        ("/rawId", json!("AAAAAAAAAAAAAAAAAAAAAA"), CredentialId),
        ("/response/signature", json!(null), Json),
        ("/response/signature", json!("AA=="), Base64),
        ("/response/userHandle", json!("A"), Base64),
        ("/response/userHandle", json!(base64url::encode(&[1; 65])), TooLong),
        ("/clientExtensionResults", json!("A".repeat(17_000)), TooLong),
    ] {
        let mut json = Answer::assertion(&ES256_SELF).assertion_json();
        *json.pointer_mut(pointer).unwrap() = value;
        assert_eq!(Assertion::parse(&json.to_string()).err(), Some(reason), "{pointer}");
    }
}

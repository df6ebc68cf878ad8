//! Registrations: the published vectors, and a refusal for each check.

use serde_json::json;

use super::{
    vectors::{ALL, EDDSA, ES256_NONE, ES256_SELF, RS256},
    *,
};

#[test]
fn the_published_registrations_are_accepted_if_their_user_is_verified() {
    for vector in ALL {
        let published = Answer::published(vector, true);
        let is_verified = published.authenticator_data[FLAGS] & USER_VERIFIED != 0;
        assert_eq!(is_verified, [ES256_SELF.spki, RS256.spki].contains(&vector.spki));
        if !is_verified {
            assert_eq!(published.register(), Err(PasskeyError::UserNotVerified));
        }
        let answer = Answer::creation(vector);
        let flags = answer.authenticator_data[FLAGS];
        let expected = NewCredential {
            credential_id: unhex(vector.credential_id),
            algorithm: Algorithm::from_cose(vector.algorithm).unwrap(),
            spki: unhex(vector.spki),
            sign_count: 0,
            transports: vec!["internal".to_owned(), "hybrid".to_owned()],
            is_backup_eligible: flags & BACKUP_ELIGIBLE != 0,
            is_backed_up: flags & BACKED_UP != 0,
        };
        assert_eq!(answer.register(), Ok(expected));
    }
}

#[test]
fn the_challenge_is_known_before_the_check() {
    let answer = Answer::creation(&RS256);
    let registration = Registration::parse(&answer.creation_json().to_string()).unwrap();
    assert_eq!(registration.challenge(), answer.challenge);
}

#[test]
fn forged_client_data_are_refused() {
    let answer = Answer::creation(&ES256_SELF);
    for (forged, reason) in forged(&answer) {
        assert_eq!(forged.register(), Err(reason));
    }
    let assertion = answer.clone().with_client_data("webauthn.create", "webauthn.get");
    assert_eq!(assertion.register(), Err(PasskeyError::CeremonyType));
    let mut oversize = answer;
    oversize.client_data = vec![b' '; 2_049];
    assert_eq!(oversize.register(), Err(PasskeyError::TooLong));
}

#[test]
fn another_relying_party_is_refused() {
    let mut answer = Answer::creation(&ES256_SELF);
    answer.authenticator_data[0] ^= 1;
    assert_eq!(answer.register(), Err(PasskeyError::RpId));
}

#[test]
fn flags_are_checked() {
    use PasskeyError::*;
    let answer = Answer::creation(&ES256_SELF);
    for (set, clear, reason) in [
        (0, USER_PRESENT, UserNotPresent),
        (0, USER_VERIFIED, UserNotVerified),
        (BACKED_UP, BACKUP_ELIGIBLE, BackupFlags),
        (0, ATTESTED, AuthenticatorData),
    ] {
        assert_eq!(answer.clone().with_flags(set, clear).register(), Err(reason));
    }
    let mut bare = answer.with_flags(0, ATTESTED);
    bare.authenticator_data.truncate(37);
    assert_eq!(bare.register(), Err(AuthenticatorData));
}

#[test]
fn extensions_that_nobody_asked_for_are_skipped() {
    let mut answer = Answer::creation(&ES256_SELF).with_flags(EXTENSIONS, 0);
    // {"credProtect": 2}
    answer.authenticator_data.extend(unhex("a16b6372656450726f7465637402"));
    assert!(answer.register().is_ok());
}

#[test]
fn truncated_and_oversized_authenticator_data_are_refused() {
    for vector in [ES256_SELF, RS256, EDDSA] {
        let answer = Answer::creation(&vector);
        // Up to the id's last byte, after which the key must begin.
        for length in 0..=55 + answer.credential_id.len() {
            let mut cut = answer.clone();
            cut.authenticator_data.truncate(length);
            assert_eq!(cut.register(), Err(PasskeyError::AuthenticatorData), "{length}");
        }
        let mut longer = answer;
        longer.authenticator_data.resize(2_049, 0);
        assert_eq!(longer.register(), Err(PasskeyError::TooLong));
    }
}

#[test]
fn each_changed_bit_of_relying_party_and_id_is_refused() {
    for vector in [ES256_SELF, RS256, EDDSA] {
        let answer = Answer::creation(&vector);
        // Flags, the counter and the authenticator's model may differ.
        let checked = (0..32).chain(53..55 + answer.credential_id.len());
        for (at, bit) in checked.flat_map(|at| [0, 3, 7].map(|bit| (at, bit))) {
            let mut changed = answer.clone();
            changed.authenticator_data[at] ^= 1 << bit;
            assert!(changed.register().is_err(), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn the_key_must_have_the_algorithm_that_the_answer_names_and_the_page_offered() {
    let mut answer = Answer::creation(&ES256_SELF);
    answer.spki = unhex(EDDSA.spki);
    assert_eq!(answer.register(), Err(PasskeyError::Algorithm));
    for algorithm in [0, 7, -35, -37, -47, -65_535, i64::MIN] {
        answer.algorithm = algorithm;
        assert_eq!(answer.register(), Err(PasskeyError::Algorithm), "{algorithm}");
    }
}

#[test]
fn a_key_of_another_form_is_refused() {
    let p256 = unhex(ES256_SELF.spki);
    let compressed = [&p256[..26], &[2], &p256[27..59]].concat();
    let p384 = [&p256[..20], &[0x22], &p256[21..]].concat();
    let rsa = unhex(RS256.spki);
    let padded = [&rsa[..], &[0]].concat();
    for spki in [&p256[..90], &p256[..27], &compressed, &p384, &rsa[..472], &padded, &[]] {
        let mut answer = Answer::creation(&ES256_SELF);
        answer.spki = spki.to_vec();
        assert_eq!(answer.register(), Err(PasskeyError::PublicKey), "{spki:?}");
    }
    let mut oversize = Answer::creation(&ES256_SELF);
    oversize.spki = vec![0; 1_025];
    assert_eq!(oversize.register(), Err(PasskeyError::TooLong));
}

#[test]
fn an_rsa_key_has_a_sane_size() {
    let modulus = |first: u8, length: usize| [&[first][..], &vec![1; length - 1]].concat();
    for (modulus, exponent, is_sane) in [
        (modulus(0x80, 256), &[1, 0, 1][..], true),
        (modulus(0xFF, 512), &[3], true),
        (modulus(0x7F, 256), &[1, 0, 1], false),
        (modulus(0x01, 513), &[1, 0, 1], false),
        (modulus(0x00, 257), &[1, 0, 1], false),
        (modulus(0x80, 128), &[1, 0, 1], false),
        ([&modulus(0x80, 255)[..], &[2]].concat(), &[1, 0, 1], false),
        (modulus(0x80, 256), &[1], false),
        (modulus(0x80, 256), &[2], false),
        (modulus(0x80, 256), &[0, 3], false),
        (modulus(0x80, 256), &[], false),
        (modulus(0x80, 256), &[1, 0, 0, 0, 1], false),
        (vec![], &[3], false),
    ] {
        assert_eq!(PublicKey::rsa(&modulus, exponent).is_some(), is_sane, "{exponent:?}");
    }
}

#[test]
fn a_credentials_id_has_16_to_1023_bytes_and_is_named_alike_everywhere() {
    for (length, is_allowed) in [(0, false), (15, false), (16, true), (1_023, true)] {
        let mut answer = Answer::creation(&ES256_SELF);
        let key = answer.authenticator_data.split_off(55 + 32);
        answer.authenticator_data.truncate(53);
        answer.credential_id = vec![7; length];
        let length = u16::try_from(length).unwrap();
        answer.authenticator_data.extend(length.to_be_bytes());
        answer.authenticator_data.extend(&answer.credential_id);
        answer.authenticator_data.extend(key);
        assert_eq!(answer.register().is_ok(), is_allowed, "{length}");
    }
    let mut other = Answer::creation(&ES256_SELF);
    other.credential_id = unhex(ES256_NONE.credential_id);
    assert_eq!(other.register(), Err(PasskeyError::CredentialId));
    let mut json = Answer::creation(&ES256_SELF).creation_json();
    json["rawId"] = json!("AAAAAAAAAAAAAAAAAAAAAA");
    let parsed = Registration::parse(&json.to_string());
    assert_eq!(parsed.err(), Some(PasskeyError::CredentialId));
}

#[test]
fn json_of_another_form_is_refused() {
    use PasskeyError::*;
    for (pointer, value, reason) in [
        ("/type", json!("password"), Json),
        ("/id", json!(1), Json),
        ("/response", json!(null), Json),
        ("/response/publicKey", json!(null), Json),
        ("/response/publicKeyAlgorithm", json!("-7"), Json),
        ("/response/publicKeyAlgorithm", json!(-7.5), Json),
        ("/response/transports", json!("usb"), Json),
        ("/response/clientDataJSON", json!("e30="), Base64),
        ("/response/clientDataJSON", json!("e31"), Base64),
        ("/response/clientDataJSON", json!("e30"), ClientData),
        ("/response/authenticatorData", json!("+/+/"), Base64),
        ("/response/attestationObject", json!("A".repeat(20_000)), TooLong),
    ] {
        let mut json = Answer::creation(&ES256_SELF).creation_json();
        *json.pointer_mut(pointer).unwrap() = value;
        assert_eq!(Registration::parse(&json.to_string()).err(), Some(reason), "{pointer}");
    }
    for text in ["", "null", "[]", "{}", &"[".repeat(10_000)] {
        assert_eq!(Registration::parse(text).err(), Some(Json));
    }
}

#[test]
fn transports_that_are_not_words_are_left_out() {
    let mut json = Answer::creation(&RS256).creation_json();
    json["response"]["transports"] = json!(["smart-card", "", "USB", "a\nb", "x".repeat(33), "nfc"]);
    let registration = Registration::parse(&json.to_string()).unwrap();
    let credential = registration.check(&party(), &VERIFIED).unwrap();
    assert_eq!(credential.transports, ["smart-card", "nfc"]);
}

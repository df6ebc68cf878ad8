//! Fuzz targets for the input of a sign-in: passkeys' answers, cookies, invites, challenges, user handles.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use domain::{
    accounts::{
        self,
        account::{Account, AccountKind},
        challenge::{self, CeremonyPurpose, Challenge},
        cookie::{Cookie, CookieSite},
        ids::MemberId,
        invite, session, user_handle,
        webauthn::{
            Algorithm, Assertion, MAX_JSON, NewCredential, PasskeyError, Registration, RelyingParty, StoredCredential,
            ToVerify,
        },
    },
    model::{PublisherId, mac::MacKeys},
};

/// The relying party of WebAuthn's own test vectors.
fn party() -> RelyingParty {
    RelyingParty::parse("Signpost", "https://example.org").unwrap()
}

/// The bytes of hexadecimal digits. Any other character ends the text.
fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().map_while(|digit| digit.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).unwrap()).collect()
}

/// Input: the JSON of a passkey's answer; or lines of authenticator data, public key and signature in hexadecimal, then
/// client data. Answers of both kinds and of each algorithm are made from these lines.
///
/// An accepted answer belongs to this relying party and a verified user, and its parts are those of its authenticator data.
/// An accepted signature has the form that WebCrypto takes.
pub fn passkey(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    if text.starts_with('{') {
        register(text).ok();
        assert_as(text, &[0x30; 91], 0).ok();
        assert!(text.len() <= MAX_JSON || Registration::parse(text).is_err() && Assertion::parse(text).is_err());
        return;
    }
    let mut lines = text.splitn(4, '\n');
    let [data, spki, signature] = [(); 3].map(|()| unhex(lines.next().unwrap_or_default()));
    let client_data = lines.next().unwrap_or_default();
    // Where the credential's id stands: after the hash, flags, counter, AAGUID and length.
    let length = data.get(53..55).map_or(0, |length| usize::from(length[0]) << 8 | usize::from(length[1]));
    let id = data.get(55..55 + length).filter(|id| !id.is_empty()).unwrap_or(&[7; 16]);
    let mut accepted = 0;
    for algorithm in Algorithm::ALL {
        let answer = answer_of(
            id,
            &data,
            client_data,
            &[("publicKey", URL_SAFE_NO_PAD.encode(&spki).into()), ("publicKeyAlgorithm", algorithm.cose().into())],
        );
        if let Ok(made) = register(&answer) {
            accepted += 1;
            check_verified(&data);
            assert_eq!((made.credential_id.as_slice(), made.algorithm), (id, algorithm));
            assert!((1..=1_023).contains(&made.credential_id.len()) && made.spki == spki);
            assert_eq!(made.sign_count.to_be_bytes()[..], data[33..37]);
            assert!(!made.is_backed_up || made.is_backup_eligible);
        }
    }
    assert!(accepted <= 1, "a key has one algorithm");
    let signature = URL_SAFE_NO_PAD.encode(&signature);
    let answer = answer_of(id, &data, client_data, &[("signature", signature.into())]);
    if let Ok(signed) = assert_as(&answer, &spki, 0) {
        check_verified(&data);
        assert_eq!(signed.message[..data.len()], data);
        assert_eq!(signed.message.len(), data.len() + 32);
        match signed.algorithm {
            Algorithm::Es256 | Algorithm::EdDsa => assert_eq!(signed.signature.len(), 64),
            Algorithm::Rs256 => assert!(!signed.signature.is_empty()),
        }
        // A counter that did not grow since is refused, except of an authenticator that does not count.
        let again = assert_as(&answer, &spki, signed.sign_count);
        assert_eq!(again.is_ok(), signed.sign_count == 0);
    }
}

/// The user was there and was verified, at this relying party.
fn check_verified(data: &[u8]) {
    const HASH: &str = "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b5";
    assert_eq!(data[..32], unhex(HASH));
    assert_eq!(data[32] & 0b101, 0b101);
}

fn answer_of(id: &[u8], data: &[u8], client_data: &str, members: &[(&str, Value)]) -> String {
    let id = URL_SAFE_NO_PAD.encode(id);
    let mut response = json!({
        "clientDataJSON": URL_SAFE_NO_PAD.encode(client_data),
        "authenticatorData": URL_SAFE_NO_PAD.encode(data),
    });
    for (name, value) in members {
        response[name] = value.clone();
    }
    json!({ "id": id, "rawId": id, "type": "public-key", "response": response }).to_string()
}

/// No input has a challenge with our MAC.
const VERIFIED: Challenge = Challenge { account: None, expires_at_ms: 0 };

fn register(json: &str) -> Result<NewCredential, PasskeyError> {
    Registration::parse(json)?.check(&party(), &VERIFIED)
}

/// Checks an assertion with the key that it claims to be signed with.
fn assert_as(json: &str, spki: &[u8], sign_count: u32) -> Result<ToVerify, PasskeyError> {
    let assertion = Assertion::parse(json)?;
    let check = |is_backup_eligible| {
        let stored = StoredCredential { spki, sign_count, is_backup_eligible };
        assertion.check(&party(), &VERIFIED, &stored)
    };
    check(false).or_else(|_| check(true))
}

const NOW: i64 = 1_795_000_000_000;
const BINDING: [u8; 32] = [5; 32];

/// Input, a line each: a `Cookie` header, a publisher's id, a presented text, and an index with a byte, which replaces
/// the byte at that index in each credential issued to the publisher.
///
/// Only issued credentials are accepted, each for its own purpose and in one spelling. A cookie is found as it was set.
pub fn credentials(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let mut lines = text.splitn(4, '\n');
    let [header, publisher, presented, change] = [(); 4].map(|()| lines.next().unwrap_or_default());
    let keys = MacKeys::parse(accounts::SETTING, &"ab".repeat(32)).unwrap();
    cookies(header, presented);
    is_as_issued(&keys, presented);
    let Some(publisher) = PublisherId::parse(publisher) else {
        return;
    };
    let account = Account::Publisher(publisher);
    let (random, member) = ([9; 16], MemberId([7; 8]));
    let kind = AccountKind::Publisher;
    let invite = invite::issue(&keys, &account, random);
    let session = session::issue(&keys, &account, random);
    let purpose = CeremonyPurpose::SignIn;
    let challenge = challenge::issue(&keys, purpose, Some(account.id()), &BINDING, NOW, random);
    let handle = user_handle::issue(&keys, account.id(), member);
    assert_eq!(invite::verify(&keys, &invite).as_ref(), Some(&account));
    assert_eq!(session::verify(&keys, kind, &session).as_ref(), Some(&account));
    assert_eq!((invite::verify(&keys, &session), session::verify(&keys, kind, &invite)), (None, None));
    assert_eq!(user_handle::open(&keys, &handle), Some((account.id(), member)));
    let opened = |bytes: &[u8]| challenge::verify(&keys, bytes, purpose, &BINDING, NOW).map(|known| known.account);
    assert_eq!(opened(challenge.as_bytes()), Some(Some(account.id())));

    let (at, byte) = change.split_once(' ').unwrap_or((change, ""));
    let (at, byte) = (at.parse().unwrap_or(0_usize), byte.bytes().next().unwrap_or(b'0'));
    let changed = |bytes: &[u8]| {
        let mut changed = bytes.to_vec();
        let at = at % bytes.len();
        changed[at] = byte;
        (changed != bytes).then_some(changed)
    };
    let changed_text = |text: &str| changed(text.as_bytes()).and_then(|bytes| String::from_utf8(bytes).ok());
    for text in [&invite, &session].into_iter().filter_map(|text| changed_text(text)) {
        is_as_issued(&keys, &text);
        assert_eq!((invite::verify(&keys, &text), session::verify(&keys, kind, &text)), (None, None), "{text}");
    }
    if let Some(bytes) = changed(challenge.as_bytes()) {
        assert_eq!(opened(&bytes), None);
    }
    if let Some(bytes) = changed(&handle) {
        assert_eq!(user_handle::open(&keys, &bytes), None);
    }
}

/// An accepted text equals the one that is issued for its account and its random part.
fn is_as_issued(keys: &MacKeys, text: &str) {
    let random = text.rsplit('_').nth(1).map(unhex).and_then(|random| random.try_into().ok());
    if let Some(account) = invite::verify(keys, text) {
        assert_eq!(invite::issue(keys, &account, random.unwrap()), text);
    }
    for kind in AccountKind::ALL {
        if let Some(account) = session::verify(keys, kind, text) {
            assert_eq!(session::issue(keys, &account, random.unwrap()), text);
        }
    }
    for purpose in CeremonyPurpose::ALL {
        assert_eq!(challenge::verify(keys, text.as_bytes(), purpose, &BINDING, NOW), None);
    }
    assert_eq!(user_handle::open(keys, text.as_bytes()), None);
}

fn cookies(header: &str, value: &str) {
    for site in [CookieSite::Production, CookieSite::Local { port: 8787 }] {
        for cookie in
            AccountKind::ALL.map(|kind| [Cookie::sessions(kind, site), Cookie::ceremony(kind, site)]).as_flattened()
        {
            if let Some(found) = cookie.find(header) {
                assert!(!found.is_empty() && !found.contains(';') && header.contains(found));
                assert!(header.contains(cookie.name()));
            }
            let Some(set) = cookie.set(value) else { continue };
            let (pair, attributes) = set.split_once("; ").unwrap();
            assert!(attributes.contains("HttpOnly") && set.is_ascii());
            assert_eq!(cookie.find(pair), Some(value));
            // Another value beside it, which somebody else has set, is noticed.
            let both = format!("{}=other; {pair}", cookie.name());
            assert_eq!(cookie.find(&both), (value == "other").then_some("other"));
        }
    }
}

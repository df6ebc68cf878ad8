//! Passkeys with real signatures: the first one by an invite, sign-in, and a member's further ones.

use domain::accounts::webauthn::Algorithm;
use serde_json::{Value, json};

use super::{Browser, authenticator::Authenticator, invite, signed_in};
use crate::harness::{Publisher, Setup, Signpost, demo};

/// A run without local sign-in, in which a passkey is the only way in.
fn start() -> Signpost {
    Setup::new().var("LOCAL_SIGN_IN", "").start()
}

/// Answers of a ceremony's first call.
#[track_caller]
fn options(browser: &mut Browser<'_>, path: &str, body: &Value) -> Value {
    let answer = browser.post(path, body).expect(200);
    // The mark of a ceremony stands beside the sessions.
    if let Some(cookie) = answer.header("Set-Cookie") {
        let (mark, _) = cookie.split_once(';').unwrap();
        let sessions = browser.cookie.iter().flat_map(|cookies| cookies.split("; "));
        let sessions = sessions.filter(|cookie| !cookie.contains("_ceremony_"));
        browser.cookie = Some(sessions.chain([mark]).collect::<Vec<_>>().join("; "));
    }
    answer.json()["options"].clone()
}

/// A browser whose member has joined with a first passkey.
#[track_caller]
pub fn join<'s>(
    signpost: &'s Signpost,
    publisher: &Publisher<'_>,
    name: &str,
    role: &str,
    seed: u8,
) -> (Browser<'s>, Authenticator) {
    join_by(Algorithm::EdDsa, signpost, publisher, (name, role), seed)
}

/// A browser whose member has joined with a first passkey of an algorithm.
#[track_caller]
fn join_by<'s>(
    algorithm: Algorithm,
    signpost: &'s Signpost,
    publisher: &Publisher<'_>,
    (name, role): (&str, &str),
    seed: u8,
) -> (Browser<'s>, Authenticator) {
    let mut browser = Browser::new(signpost);
    let authenticator = spend(algorithm, &mut browser, &invite(publisher, name, role), seed);
    browser.publisher = Some(publisher.id.clone());
    (browser, authenticator)
}

/// Spends an invite for a first passkey of an algorithm, which signs the browser in.
#[track_caller]
pub fn spend(algorithm: Algorithm, browser: &mut Browser<'_>, invite: &str, seed: u8) -> Authenticator {
    let options = options(browser, "passkeys/creation", &json!({ "invite": invite }));
    let mut offered = options["pubKeyCredParams"].as_array().unwrap().iter();
    assert!(offered.any(|offer| offer["alg"] == algorithm.cose()), "{options}");
    let (authenticator, credential) = Authenticator::create_of(algorithm, &options, seed);
    let body = json!({ "invite": invite, "credential": credential });
    let answer = browser.post("passkeys", &body).expect(204);
    browser.keep_cookie(&answer);
    authenticator
}

/// A further browser, signed in by a passkey.
#[track_caller]
fn sign_in<'s>(joined: &Browser<'s>, authenticator: &mut Authenticator) -> Browser<'s> {
    let mut browser = Browser::new(joined.signpost);
    sign_in_at(&mut browser, authenticator);
    browser.publisher.clone_from(&joined.publisher);
    browser
}

/// Signs a browser in by a passkey.
#[track_caller]
pub fn sign_in_at(browser: &mut Browser<'_>, authenticator: &mut Authenticator) {
    let options = options(browser, "passkeys/request", &json!({}));
    let body = json!({ "credential": authenticator.get(&options) });
    let answer = browser.post("sign_in/passkey", &body).expect(204);
    browser.keep_cookie(&answer);
}

/// Adds a passkey to the browser's member.
#[track_caller]
pub fn add_passkey(browser: &mut Browser<'_>, seed: u8) -> Authenticator {
    let options = options(browser, "passkeys/another/creation", &json!({}));
    let (authenticator, credential) = Authenticator::create(&options, seed);
    let body = json!({ "credential": credential });
    browser.post("passkeys/another", &body).expect(204);
    authenticator
}

#[track_caller]
fn passkeys(browser: &Browser<'_>) -> Vec<Value> {
    let list = browser.get("passkeys").expect(200).json();
    list["passkeys"].as_array().unwrap().clone()
}

#[track_caller]
fn path_of(passkey: &Value) -> String {
    format!("/v1/dashboard/passkeys/{}", passkey["passkey_id"].as_str().unwrap())
}

#[test]
fn a_member_adds_a_second_passkey_and_removes_the_first() {
    let signpost = start();
    let publisher = signpost.publisher("passkeys-two");
    let (mut browser, mut first) = join(&signpost, &publisher, "Ada", "analyst", 1);
    let mut second = add_passkey(&mut browser, 2);
    let list = passkeys(&browser);
    assert_eq!(list.len(), 2, "{list:?}");
    assert!(list.iter().all(|passkey| passkey["last_used_at"].is_null()), "{list:?}");

    let by_first = sign_in(&browser, &mut first);
    let mut by_second = sign_in(&browser, &mut second);
    assert!(passkeys(&browser)[1]["last_used_at"].is_u64());
    // The second one verifies, too.
    let request = options(&mut by_second, "verify/request", &json!({}));
    let body = json!({ "credential": second.get(&request) });
    by_second.post("verify", &body).expect(204);

    browser.send("DELETE", &path_of(&list[0]), None).expect(204);
    by_first.get("overview").expect_error(401, "not_signed_in");
    by_second.get("overview").expect_error(401, "not_signed_in");
    let mut stranger = Browser::new(&signpost);
    let request = options(&mut stranger, "passkeys/request", &json!({}));
    stranger
        .post("sign_in/passkey", &json!({ "credential": first.get(&request) }))
        .expect_error(401, "passkey_refused");
    browser.send("DELETE", &path_of(&list[0]), None).expect_error(404, "not_found");
    browser.send("DELETE", &path_of(&list[1]), None).expect_error(409, "last_passkey");
    sign_in(&browser, &mut second).get("overview").expect(200);
}

#[test]
fn a_passkey_of_each_algorithm_signs_in_and_a_forged_signature_does_not() {
    let signpost = start();
    let publisher = signpost.publisher("passkeys-algorithms");
    for (algorithm, seed) in Algorithm::ALL.into_iter().zip(40..) {
        let name = format!("{algorithm:?}");
        let person = (name.as_str(), "analyst");
        let (browser, mut passkey) = join_by(algorithm, &signpost, &publisher, person, seed);
        sign_in(&browser, &mut passkey).get("overview").expect(200);

        passkey.forge(seed + 100);
        let mut forger = Browser::new(&signpost);
        let asked = options(&mut forger, "passkeys/request", &json!({}));
        forger
            .post("sign_in/passkey", &json!({ "credential": passkey.get(&asked) }))
            .expect_error(401, "passkey_refused");
    }
}

#[test]
fn a_challenge_adds_one_passkey_in_its_own_session() {
    let signpost = start();
    let publisher = signpost.publisher("passkeys-challenge");
    let (mut ada, mut of_ada) = join(&signpost, &publisher, "Ada", "analyst", 3);
    let (mut bob, _) = join(&signpost, &publisher, "Bob", "analyst", 4);
    let asked = options(&mut ada, "passkeys/another/creation", &json!({}));
    assert_eq!(asked["excludeCredentials"][0]["id"], of_ada.encoded_id());
    let (_, credential) = Authenticator::create(&asked, 5);
    let body = json!({ "credential": credential });
    let elsewhere = sign_in(&ada, &mut of_ada);
    for other in [&bob, &elsewhere] {
        other.post("passkeys/another", &body).expect_error(401, "passkey_refused");
    }
    ada.post("passkeys/another", &body).expect(204);
    ada.post("passkeys/another", &body).expect_error(401, "passkey_refused");

    // Challenges of other ceremonies add nothing, and a credential has one member.
    for path in ["verify/request", "passkeys/request"] {
        let mut asked_for = options(&mut bob, path, &json!({}));
        asked_for["user"] = asked["user"].clone();
        asked_for["excludeCredentials"] = json!([]);
        let (_, credential) = Authenticator::create(&asked_for, 6);
        bob.post("passkeys/another", &json!({ "credential": credential })).expect_error(401, "passkey_refused");
    }
    let asked = options(&mut bob, "passkeys/another/creation", &json!({}));
    let (_, credential) = Authenticator::create(&asked, 3);
    bob.post("passkeys/another", &json!({ "credential": credential })).expect_error(401, "passkey_refused");
    assert_eq!((passkeys(&ada).len(), passkeys(&bob).len()), (2, 1));
}

#[test]
fn a_member_reaches_no_passkey_of_another() {
    let signpost = start();
    let publisher = signpost.publisher("passkeys-others");
    let (mut ada, _) = join(&signpost, &publisher, "Ada", "analyst", 7);
    add_passkey(&mut ada, 8);
    let (mut bob, _) = join(&signpost, &publisher, "Bob", "analyst", 9);
    add_passkey(&mut bob, 10);
    let answers = [path_of(&passkeys(&ada)[0]), path_of(&json!({ "passkey_id": "0123456789abcdef" }))]
        .map(|path| bob.send("DELETE", &path, None).expect_error(404, "not_found").body);
    assert_eq!(answers[0], answers[1]);
    assert_eq!(passkeys(&ada).len(), 2);
}

#[test]
fn a_local_session_adds_a_first_passkey() {
    let signpost = demo();
    let publisher = signpost.publisher("passkeys-local");
    let mut browser = signed_in(&signpost, &publisher, "analyst");
    assert_eq!(passkeys(&browser), Vec::<Value>::new());
    let mut passkey = add_passkey(&mut browser, 11);
    sign_in(&browser, &mut passkey).get("overview").expect(200);
}

#[test]
fn a_sign_in_by_a_passkey_keeps_other_accounts_and_renews_its_own() {
    let signpost = start();
    let (one, two) = (signpost.publisher("passkeys-one"), signpost.publisher("passkeys-other"));
    let (mut browser, _) = join(&signpost, &one, "Ada", "analyst", 12);
    let (of_two, mut passkey) = join(&signpost, &two, "Ada", "analyst", 13);
    let mut held = Vec::new();
    for _ in 0..2 {
        let asked = options(&mut browser, "passkeys/request", &json!({}));
        let body = json!({ "credential": passkey.get(&asked) });
        let answer = browser.post("sign_in/passkey", &body).expect(204);
        browser.keep_cookie(&answer);
        browser.publisher.clone_from(&of_two.publisher);
        let overview = browser.get("overview").expect(200).json();
        let accounts = overview["accounts"].as_array().unwrap().iter();
        let accounts: Vec<_> = accounts.map(|account| account["publisher_id"].clone()).collect();
        assert_eq!(accounts, ["passkeys-other", "passkeys-one"]);
        held.push(browser.cookie.clone());
    }
    let former =
        Browser { signpost: &signpost, site: "dashboard", cookie: held.remove(0), publisher: of_two.publisher.clone() };
    // The session of the other account, which is the only live one left in it, takes its place.
    former.get("overview").expect_error(409, "account_switched");
    of_two.get("overview").expect(200);
}

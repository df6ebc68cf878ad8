//! Handling of secrets: none is in the log, on disk they are hashed or encrypted, the code compares them in constant
//! time, and failed guesses are counted.

use std::path::{Path, PathBuf};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;

use crate::{
    harness::{
        Behaviour, CONVERSION, OPERATOR_TOKEN, OfferWall, Receiver, SECRET, Setup, Signpost, callback, default_setting,
        eventually_within, expect_accepted, root,
    },
    reports::{csv, query},
};

const PREVIOUS_SECRET: &str = "whsec_cHJldmlvdXMgc2VjcmV0IG9mIGEgdGVzdCBhcHA=";
const CLICK_SECRETS: [&str; 2] = ["a_click_secret_that_must_not_be_logged", "nor_its_predecessor_that_still_signs__"];
const LEGACY_SECRET: &str = "a legacy secret that is hashed with MD5";
/// A secret in the query of a callback URL, which belongs to the publisher.
const URL_SECRET: &str = "key-in-the-callback-url";
const USER: &str = "user-who-must-not-be-logged";

/// The name of a secret, and its value.
type Secret = (&'static str, String);

/// Uses every kind of credential correctly and incorrectly. Returns all of them.
fn use_and_misuse(signpost: &Signpost, pub_key: &str) -> Vec<Secret> {
    let wall = signpost.unpublished_offer_wall("trust-secrets", "78060201", None);
    // The receiver fails every attempt with a body that contains all its secrets.
    let receiver = Receiver::start();
    receiver.set(Behaviour::answer(500, &[], &format!("wrong: {SECRET} {PREVIOUS_SECRET} {LEGACY_SECRET}")));
    let url = format!("{}/cb?apikey={URL_SECRET}", receiver.base());
    let mut with_callback = callback(&url, "GET");
    with_callback["previous_secret"] = json!(PREVIOUS_SECRET);
    with_callback["legacy_md5"] = json!({"secret": LEGACY_SECRET});
    wall.put_app(&json!({ "callback": with_callback }));
    // Another app signs its clicks.
    let signing = json!({
        "publisher_id": wall.id, "name": "signing", "platform": "android",
        "currency": {"name": "Coins", "per_usd": 1}, "click_secret": CLICK_SECRETS[0],
        "previous_click_secret": CLICK_SECRETS[1],
    });
    signpost.put("apps/78060202", &signing);
    let own_key = signpost.issue_pub_key("trust-secrets");
    let publisher = signpost.existing_publisher("trust-secrets");
    let key = publisher.create_key("a").api_key;
    publisher.put_facts("2026-01-05", &csv(&["2026-01-05,78060201,,DE,p,t,d,s,1,1,1,1,0.5"])).expect(200);
    signpost.refresh();

    let page = json!({"page": 1, "size": 1});
    signpost.offers(&wall.app, &own_key, &page).expect(200);
    signpost.offers(&wall.app, pub_key, &page).expect(401);
    signpost.offers(&wall.app, &own_key, &json!({"page": 0})).expect(400);
    let body_text = query(&["app"], &["clicks"]).to_string();
    for (api_key, body, status) in
        [(key.as_str(), body_text.as_str(), 200), (&key[1..], &body_text, 401), (&key.to_uppercase(), &body_text, 401)]
    {
        signpost.report_with(api_key, body.as_bytes()).expect(status);
    }
    let click = signpost.click(&format!("rid={}&app={}&user_id={USER}", wall.goal("1"), wall.app), "DE");
    let click_id = crate::clicks::click_id_at(&click.expect(302));
    let wrongly_signed = format!("rid={}&app=78060202&user_id={USER}&sig={}", wall.goal("1"), CLICK_SECRETS[0]);
    signpost.click(&wrongly_signed, "DE").expect_error(403, "invalid_signature");
    signpost.convert(&format!("click_id={click_id}&token={}x", wall.token)).expect(401);
    let paid = expect_accepted(wall.convert(&click_id, ""), "approved", false);
    wall.convert(&format!("{}AAAA", &click_id[..click_id.len() - 4]), "").expect(400);
    let form = format!("click_id={click_id}&token={}&status=reversed", wall.token);
    let form_type = [("Content-Type", "application/x-www-form-urlencoded")];
    signpost.send("POST", CONVERSION, &form_type, form.as_bytes()).expect(200);
    wall.operator("POST", "callback_test", None).expect(200);
    eventually_within(20_000, &true, || !wall.entry(&paid)["attempts"].as_array().unwrap().is_empty());
    wall.erase(&format!("{USER}x"));
    let authorization = format!("Bearer {OPERATOR_TOKEN}x");
    signpost.get("/v1/operator/apps", &[("Authorization", &authorization)]).expect(401);
    // A refused document that contains a secret must not be logged either.
    wall.try_put_app(&json!({"callback": {"url": "http://127.0.0.1:1024/", "method": "GET", "secret": &SECRET[6..]}}))
        .expect(400);
    let OfferWall { token, .. } = wall;
    vec![
        ("the operator's token", OPERATOR_TOKEN.into()),
        ("the demo's Pub-Key", pub_key.into()),
        ("a Pub-Key", own_key),
        ("a report key", key),
        ("an advertiser's token", token),
        ("a callback's secret", SECRET[6..].into()),
        ("a previous secret", PREVIOUS_SECRET[6..].into()),
        ("a legacy secret", LEGACY_SECRET.into()),
        ("a click secret", CLICK_SECRETS[0].into()),
        ("a previous click secret", CLICK_SECRETS[1].into()),
    ]
}

/// The keys of the configuration, as hex digits and as bytes.
fn configured() -> Vec<Secret> {
    let mut secrets = Vec::new();
    for name in ["CLICK_KEYS", "STORE_KEYS", "EDGE_KEYS", "REPORT_KEY_MAC", "TOKEN_MAC", "ACCOUNT_MAC"] {
        let digits = default_setting(name).rsplit(':').next().unwrap().to_owned();
        let bytes: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect();
        secrets.push((name, String::from_utf8(bytes).expect("the local keys are texts")));
        secrets.push((name, digits));
    }
    secrets
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The names of secrets found in a file: as they are, encoded as base64, or decoded from base64.
fn found_in(file: &Path, secrets: &[Secret]) -> Vec<&'static str> {
    // One character for each byte, so that any file can be searched as text.
    let text = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<String>();
    // A database's log may leave meanwhile.
    let Ok(content) = std::fs::read(file) else {
        return vec![];
    };
    let content = text(&content);
    let found = secrets.iter().filter(|(_, secret)| {
        let decoded = text(&BASE64_STANDARD.decode(secret).unwrap_or_default());
        content.contains(secret)
            || content.contains(&BASE64_STANDARD.encode(secret))
            || !decoded.is_empty() && content.contains(&decoded)
    });
    found.map(|(what, _)| *what).collect()
}

#[test]
fn no_secret_is_in_the_log_or_in_plain_text_on_disk_and_guesses_are_counted() {
    let (signpost, pub_key) = Setup::new().start_with_fixtures();
    let mut secrets = use_and_misuse(&signpost, &pub_key);
    secrets.extend(configured());

    let metrics = signpost.metrics_at("").concat();
    for code in
        ["invalid_operator_token", "invalid_credentials", "invalid_api_key", "invalid_token", "invalid_click_id"]
    {
        let counts = |line: &&str| {
            line.starts_with("signpost_isolate_refused_total{") && line.contains(&format!("code=\"{code}\""))
        };
        assert!(metrics.lines().any(|line| counts(&line)), "{code} is not counted: {metrics}");
    }
    for (what, secret) in &secrets {
        assert!(!metrics.contains(secret), "{what} in {metrics}");
    }

    let folder = signpost.state.path();
    for kind in ["objects", "kv"] {
        let files = files(&folder.join(kind));
        assert!(files.len() > 2, "{files:?}");
        for file in &files {
            assert_eq!(found_in(file, &secrets), [""; 0], "{}", file.display());
        }
        // Check that the search works.
        let known = [("the publisher's id", "trust-secrets".to_owned())];
        assert!(kind == "kv" || files.iter().any(|file| !found_in(file, &known).is_empty()));
    }
    // The log must not contain user ids or callback URLs either.
    secrets.extend([("a callback's URL", URL_SECRET.into()), ("a user", USER.into())]);
    signpost.fence();
    let text = signpost.log();
    assert_eq!(found_in(&folder.join("workerd.log"), &secrets), [""; 0], "{text}");
}

/// Source files outside of tests, without their test modules.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let sources = files(folder).into_iter().filter(|file| {
        let in_tests = file.components().any(|part| part.as_os_str() == "tests");
        file.extension().is_some_and(|kind| kind == "rs") && !in_tests && !file.ends_with("tests.rs")
    });
    sources
        .map(|file| {
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
            (file, code)
        })
        .collect()
}

#[test]
fn secrets_are_compared_as_hashes_in_constant_time_or_not_at_all() {
    // Finds comparisons that stop at the first difference, on lines with an identifier that names a secret.
    let names = [
        "token",
        "secret",
        "pub_key",
        "api_key",
        "mac",
        "hash",
        "signature",
        "authorization",
        "credential",
        "presented",
        "password",
        "tag",
    ];
    let operators = ["==", "!=", ".eq(", "eq_ignore_ascii_case(", ".cmp(", "starts_with("];
    let is_name = |word: &str| names.iter().any(|name| word == *name || word.ends_with(&format!("_{name}")));
    // Lines that do not compare input with a secret.
    let known = [
        // The mask, which is public.
        "secret == MASKED_SECRET",
        // Hash tables and parts of a query.
        "hash & self.mask == self.bits",
        "if seeded_hash::seed() == 0",
        // A token's public serial, the name of a parameter, and the beginning of every token.
        "Serial::parse(&issued.token_id) == Some(token.serial)",
        "if known == \"token\"",
        "if text.starts_with(\"at_\")",
        // A tag of HTML.
        "start.eq_ignore_ascii_case(tag)",
        // Public values of WebAuthn: the host's hash, a tag of DER, lengths of keys; and an account's kind.
        "if *self.rp_id_hash != expected {",
        "(found == tag && length >= least).then",
        "(signature.len() == modulus.len()).then",
        "(signature.len() == 64).then",
        ".filter(|account| account.kind() == kind)",
    ];
    let (mut suspicious, mut constant_time) = (Vec::new(), Vec::new());
    for (file, code) in sources(&root().join("src")) {
        for line in code.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
            let mut words = line.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_'));
            let compares = operators.iter().any(|operator| line.contains(operator));
            if compares && words.any(is_name) && !known.iter().any(|known| line.contains(known)) {
                suspicious.push(format!("{}: {line}", file.display()));
            }
            for call in ["ct_eq(", "verify_truncated_left(", "credentials::matches("] {
                if line.contains(call) {
                    let name = file.strip_prefix(root().join("src")).unwrap().display().to_string();
                    constant_time.push((name, call));
                }
            }
        }
    }
    assert_eq!(suspicious, [""; 0], "is this a comparison of a secret?");
    constant_time.sort();
    let expected = [
        // The only use of `subtle`, on SHA-256 hashes.
        ("domain/model/credentials.rs", "ct_eq("),
        // The operator's token, an app's Pub-Key.
        ("platform/http/hosts.rs", "credentials::matches("),
        ("edge/offers.rs", "credentials::matches("),
        // The MAC of a report key or an advertiser's token. The ledger finds a report key by its hash.
        ("domain/model/mac.rs", "verify_truncated_left("),
        // The tag of a short click id. The cipher checks the tag of a whole one.
        ("domain/tracking/click_id.rs", "verify_truncated_left("),
    ];
    let mut expected = expected.map(|(file, call)| (file.to_owned(), call));
    expected.sort();
    assert_eq!(constant_time, expected);
}

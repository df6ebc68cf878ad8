//! Guessing of credentials: issued credentials are long and random, and every wrong one gets the same answer, byte for
//! byte, so that no answer shows how close a guess was.

use std::collections::BTreeSet;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;

use super::{request, status};
use crate::{
    harness::{Answer, CONVERSION, OPERATOR_TOKEN, Signpost, answer_to, demo, encoded, expect_accepted, now_ms},
    reports::query,
};
use domain::model::{placeholders, time::DAY_MS};

/// Credentials issued of each kind.
const ISSUED: usize = 40;

/// Values that resemble a secret, as a guesser who knows parts of it would try. None is the secret.
fn near_misses(secret: &str) -> Vec<Vec<u8>> {
    let (first, rest) = secret.split_at(1);
    let (start, last) = secret.split_at(secret.len() - 1);
    let (left, right) = secret.split_at(secret.len() / 2);
    let other = |digit: &str| if digit == "0" { "1" } else { "0" };
    let escaped = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    let wide = |text: &str| -> String {
        let widened = text.chars().map(|char| char::from_u32(u32::from(char) + 0xfee0));
        widened.map(|char| char.expect("a full-width character")).collect()
    };
    let texts = [
        // Nothing, and values that a careless comparison would accept.
        String::new(),
        "null".into(),
        "undefined".into(),
        "0".into(),
        "true".into(),
        "*".into(),
        "%".into(),
        "' OR 1=1 --".into(),
        "{}".into(),
        "../..".into(),
        // A part of the secret, an extended one, and one character changed.
        rest.into(),
        start.into(),
        left.into(),
        format!("{secret}0"),
        format!("0{secret}"),
        format!("{}{rest}", other(first)),
        format!("{start}{}", other(last)),
        format!("{left}{}{}", other(&right[..1]), &right[1..]),
        secret.chars().rev().collect(),
        secret.repeat(2),
        // Other spellings and encodings.
        secret.to_lowercase(),
        secret.to_uppercase(),
        format!("{left} {right}"),
        format!("{left}\t{right}"),
        format!("\"{secret}\""),
        format!("{secret},"),
        format!("{secret};q=1"),
        format!("{secret}, {secret}"),
        format!("Bearer {secret}"),
        format!("Basic {}", BASE64_STANDARD.encode(secret)),
        BASE64_STANDARD.encode(secret),
        escaped(secret),
        format!("{}{rest}", escaped(first)),
        wide(secret),
        format!("{}{rest}", wide(first)),
        format!("{secret}\u{200b}"),
        format!("{secret}\u{301}"),
        format!("\u{feff}{secret}"),
        // Far too long.
        "x".repeat(100_000),
        format!("{secret}{}", "0".repeat(100_000)),
    ];
    let mut misses: Vec<_> = texts.into_iter().filter(|text| text != secret).collect();
    misses.sort();
    misses.dedup();
    let mut misses: Vec<_> = misses.into_iter().map(String::into_bytes).collect();
    misses.push([secret.as_bytes(), b"\xe9"].concat());
    misses.push([b"\xff", secret.as_bytes()].concat());
    misses
}

/// An endpoint that requires a credential in a header.
struct Endpoint {
    target: &'static str,
    /// Another header of the request.
    other_header: String,
    /// The credential's header line, without the credential.
    line: &'static str,
    secret: String,
    body: String,
}

impl Endpoint {
    fn send(&self, signpost: &Signpost, credentials: &[&[u8]]) -> String {
        let lines: Vec<_> = credentials.iter().map(|credential| [self.line.as_bytes(), credential].concat()).collect();
        let lines = std::iter::once(self.other_header.as_bytes()).chain(lines.iter().map(Vec::as_slice));
        let lines: Vec<_> = lines.collect();
        answer_to(&signpost.base(), &request(self.target, &lines, &self.body))
    }
}

fn endpoints(signpost: &Signpost, publisher: &str, app: &str) -> [Endpoint; 3] {
    signpost.unpublished_offer_wall(publisher, app, None);
    let pub_key = signpost.issue_pub_key(publisher);
    signpost.refresh();
    let endpoint = |target, other_header: &str, line, secret: &str, body: String| Endpoint {
        target,
        other_header: other_header.to_owned(),
        line,
        secret: secret.to_owned(),
        body,
    };
    [
        endpoint(
            "GET /v1/operator/publishers?limit=1",
            "Accept: */*",
            "Authorization: Bearer ",
            OPERATOR_TOKEN,
            String::new(),
        ),
        endpoint(
            "POST /v1/offer/api",
            &format!("App-Id: {app}"),
            "Pub-Key: ",
            &pub_key,
            json!({"page": 1, "size": 1}).to_string(),
        ),
        endpoint(
            "POST /v1/core/reporting/public/signal/report/generate",
            "Accept: */*",
            "X-Api-Key: ",
            &signpost.existing_publisher(publisher).create_key("door").api_key,
            query(&["date"], &["clicks"]).to_string(),
        ),
    ]
}

#[test]
fn a_nearly_right_credential_gets_the_same_bytes_as_a_missing_one() {
    let signpost = demo();
    let (mut presented, mut beyond_headers) = (0, 0);
    for api in endpoints(&signpost, "trust-doors", "78060001") {
        let secret = api.secret.as_bytes();
        let nothing = api.send(&signpost, &[]);
        assert_eq!(status(&nothing), 401, "{nothing}");
        for miss in near_misses(&api.secret) {
            let answer = api.send(&signpost, &[&miss]);
            assert_eq!(answer, nothing, "{}{}", api.line, String::from_utf8_lossy(&miss));
            presented += 1;
        }
        // A repeated header is refused, also where one or both values are right.
        for both in [[secret, b"x"], [b"x", secret], [secret, secret], [b"", secret]] {
            assert_eq!(api.send(&signpost, &both), nothing, "{}", api.line);
            presented += 1;
        }
        // The runtime refuses invalid headers.
        for broken in [[secret, b"\0"].concat(), [b"\0", secret].concat()] {
            assert_eq!(status(&api.send(&signpost, &[&broken])), 400, "{}", api.line);
            beyond_headers += 1;
        }
        let beyond = "0".repeat(300_000);
        let cut_off = status(&api.send(&signpost, &[beyond.as_bytes()]));
        assert!(matches!(cut_off, 431 | 0), "{}: {cut_off}", api.line);
        beyond_headers += 1;
        let right = api.send(&signpost, &[secret]);
        assert!(matches!(status(&right), 200 | 204), "{}: {right}", api.line);
    }
    println!("{presented} nearly right credentials answered as a missing one; {beyond_headers} refused by the runtime");
    assert!(presented >= 120, "{presented}");
}

#[test]
fn the_operators_token_is_accepted_only_in_its_own_header_and_scheme() {
    let signpost = demo();
    let ask = |target: &str, lines: &[String]| {
        let lines: Vec<_> = lines.iter().map(String::as_bytes).collect();
        answer_to(&signpost.base(), &request(&format!("GET {target}"), &lines, ""))
    };
    let target = "/v1/operator/publishers?limit=1";
    let nothing = ask(target, &[]);
    let basic = |text: String| format!("Authorization: Basic {}", BASE64_STANDARD.encode(text));
    for line in [
        format!("Authorization: {OPERATOR_TOKEN}"),
        format!("Authorization: Token {OPERATOR_TOKEN}"),
        format!("Authorization: Bearer:{OPERATOR_TOKEN}"),
        format!("Authorization: Bearer={OPERATOR_TOKEN}"),
        format!("Authorization: Bearer\u{a0}{OPERATOR_TOKEN}"),
        basic(format!("{OPERATOR_TOKEN}:")),
        basic(format!(":{OPERATOR_TOKEN}")),
        basic(format!("operator:{OPERATOR_TOKEN}")),
        format!("Proxy-Authorization: Bearer {OPERATOR_TOKEN}"),
        format!("X-Authorization: Bearer {OPERATOR_TOKEN}"),
        format!("X-Api-Key: {OPERATOR_TOKEN}"),
        format!("X: y\r\n Authorization: Bearer {OPERATOR_TOKEN}"),
        format!("Cookie: Authorization=Bearer {OPERATOR_TOKEN}; token={OPERATOR_TOKEN}"),
    ] {
        assert_eq!(ask(target, std::slice::from_ref(&line)), nothing, "{line}");
    }
    for query in ["access_token", "token", "Authorization", "authorization"] {
        assert_eq!(ask(&format!("{target}&{query}={OPERATOR_TOKEN}"), &[]), nothing);
    }
    // A scheme is case-insensitive (RFC 9110, 11.1).
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let line = format!("Authorization: {scheme} {OPERATOR_TOKEN}");
        assert_eq!(status(&ask(target, &[line])), 200, "{scheme}");
    }
}

/// The parts of an answer that a client sees.
fn parts(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    (answer.status, answer.headers(), answer.body.clone())
}

#[track_caller]
fn assert_identical(status: u16, answers: &[Answer]) {
    for answer in answers {
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(parts(answer), parts(&answers[0]), "{answer:?}\n{:?}", answers[0]);
    }
}

#[test]
fn unknown_foreign_and_revoked_credentials_get_the_same_answer() {
    let signpost = demo();
    let own = signpost.unpublished_offer_wall("trust-own", "78060011", None);
    let other = signpost.unpublished_offer_wall("trust-other", "78060012", None);
    let keys = [&own, &other].map(|wall| signpost.issue_pub_key(&wall.id));
    let regenerated = signpost.issue_pub_key("trust-own");
    signpost.refresh();

    // Offers: no answer shows whether the app, the publisher or the key is known.
    let body = json!({"page": 1, "size": 1});
    let offers = |app: &str, key: &str| signpost.offers(app, key, &body);
    assert_identical(
        401,
        &[
            offers("", ""),
            offers(&own.app, ""),
            offers(&own.app, &keys[0]),
            offers(&own.app, &keys[1]),
            offers(&other.app, &regenerated),
            offers("78060019", &regenerated),
            offers("78060019", "x"),
            offers(&own.app, OPERATOR_TOKEN),
        ],
    );
    offers(&own.app, &regenerated).expect(200);

    // Reports: no answer shows whether a key was ever issued, or whether its publisher exists.
    let (publisher, stranger) = (signpost.existing_publisher("trust-own"), signpost.existing_publisher("trust-other"));
    let (key, revoked, others) = (publisher.create_key("a"), publisher.create_key("b"), stranger.create_key("c"));
    publisher.revoke_key(&revoked);
    let [random, mac] = [2, 3].map(|part| key.api_key.split('_').nth(part).unwrap().to_owned());
    let zeros = "0".repeat(32);
    let report = |api_key: &str| {
        let headers = [("X-Api-Key", api_key), ("Content-Type", "application/json"), ("Accept", "text/csv")];
        signpost.report(&headers, query(&["date"], &["clicks"]).to_string().as_bytes())
    };
    assert_identical(
        401,
        &[
            report(""),
            report("x"),
            report(&revoked.api_key),
            report(&revoked.id),
            report(&key.id),
            report(&format!("sk_trust-own_{zeros}_{mac}")),
            report(&format!("sk_trust-own_{random}_{zeros}")),
            report(&format!("sk_trust-other_{random}_{mac}")),
            report(&format!("sk_no-such-publisher_{random}_{mac}")),
            report(&key.api_key.replace("trust-own", "TRUST-OWN")),
            report(&regenerated),
            report(OPERATOR_TOKEN),
        ],
    );
    report(&key.api_key).expect(204);
    report(&others.api_key).expect(204);

    // Conversions: no answer shows whose token it is, or whether the click was paid, is too old, or has such a goal.
    let (ended_id, ended) = own.issue_token();
    let path = format!("advertisers/trust-own/token/{ended_id}");
    signpost.operator("DELETE", &path, None).expect(204);
    signpost.refresh();
    let paid = own.click_id("u-1");
    expect_accepted(own.convert(&paid, "&txn=t-1"), "approved", false);
    let clicks = [paid, own.click_id("u-2"), own.click_id_at("u-3", now_ms() - 40 * DAY_MS)];
    let shorter = &own.token[..own.token.len() - 1];
    let mut answers = Vec::new();
    for token in ["x", &other.token, &ended, shorter, &own.token.to_uppercase(), &own.token_id, OPERATOR_TOKEN] {
        for click in &clicks {
            for more in ["", "&goal=level_10", "&goal=gone", "&txn=t-1", "&status=reversed"] {
                answers.push(signpost.convert(&format!("click_id={click}&token={token}{more}")));
            }
        }
    }
    assert_identical(401, &answers);
    // The same holds for tokens that must be encoded, and for long ones.
    let mut odd = Vec::new();
    for token in near_misses(&own.token).iter().filter_map(|miss| std::str::from_utf8(miss).ok()) {
        let is_absent = token.is_empty() || token == "{}" || token == "%";
        // Invisible characters around a token are dropped.
        let is_own = token.trim_matches(placeholders::is_blank) == own.token;
        if !is_absent && !is_own && token.len() < 1_000 {
            odd.push(signpost.convert(&format!("click_id={}&token={}", clicks[1], encoded(token))));
        }
    }
    assert!(odd.len() > 25, "{}", odd.len());
    assert_identical(401, &odd);
    assert_eq!(parts(&odd[0]), parts(&answers[0]));
    let both = format!("{CONVERSION}?click_id={}&token={}&token=x", clicks[1], own.token);
    signpost.get(&both, &[]).expect_error(400, "invalid_parameter");
    assert_eq!(own.entries("").len(), 1, "{:?}", own.entries(""));
}

#[test]
fn issued_credentials_are_long_random_and_unique() {
    let signpost = demo();
    let publisher = signpost.publisher("trust-issued");
    let wall = signpost.unpublished_offer_wall("trust-issuer", "78060021", None);
    let hex = |digits: &str| hex_bytes(&digits.to_lowercase());
    let mut secrets: [Vec<Vec<u8>>; 3] = [const { Vec::new() }; 3];
    for n in 0..ISSUED {
        let pub_key = signpost.issue_pub_key("trust-issued");
        assert!(pub_key.len() == 32 && pub_key == pub_key.to_uppercase(), "{pub_key}");
        secrets[0].push(hex(&pub_key));

        let api_key = publisher.create_key(&n.to_string()).api_key;
        let parts: Vec<_> = api_key.split('_').collect();
        assert!(parts[..2] == ["sk", "trust-issued"] && parts.len() == 4, "{api_key}");
        assert!(parts[2..].iter().all(|part| part.len() == 32), "{api_key}");
        secrets[1].push(hex(parts[2]));

        let token = wall.issue_token().1;
        let parts: Vec<_> = token.split('_').collect();
        assert!(parts[..2] == ["at", "trust-issuer"] && parts.len() == 5, "{token}");
        secrets[2].push(hex(&parts[3..].concat()));
    }
    for (kind, bytes) in [16, 16, 24].into_iter().enumerate() {
        let same_kind = &secrets[kind];
        assert!(same_kind.iter().all(|secret| secret.len() == bytes));
        assert_eq!(same_kind.iter().collect::<BTreeSet<_>>().len(), ISSUED);
        // Every bit is 0 in some and 1 in others. By chance, this fails once in 10^9 runs.
        for bit in 0..bytes * 8 {
            let ones = same_kind.iter().filter(|secret| secret[bit / 8] >> (bit % 8) & 1 == 1).count();
            assert!((1..ISSUED).contains(&ones), "bit {bit} of kind {kind} is 1 in {ones} secrets");
        }
    }
}

fn hex_bytes(digits: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
    (0..digits.len()).step_by(2).map(digit).collect()
}

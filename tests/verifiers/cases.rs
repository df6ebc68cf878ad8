//! Test cases for verifiers: signed requests, the same with one character changed, and edge cases.

mod times;

use std::collections::BTreeMap;

use base64::{
    Engine, alphabet,
    engine::{GeneralPurpose, GeneralPurposeConfig},
};
use serde::Serialize;
use serde_json::json;

use crate::random::Random;
use domain::callbacks::{
    fields::{Decimal, Fields},
    request::{Endpoint, Request},
    settings::{Callback, CallbackMethod, LegacyMd5},
};
pub use times::times;

const REQUESTS: usize = 40;

/// One line of a verifier's input.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Case {
    Headers {
        secret: String,
        id: String,
        timestamp: String,
        signature: String,
        /// The body, or the whole query of a GET.
        payload: String,
        now: i64,
    },
    Query {
        secret: String,
        query: String,
        /// The query parameter that carries the signature.
        name: &'static str,
        now: i64,
    },
}

/// A case and whether a verifier must accept it.
#[derive(Clone, Debug)]
pub struct Check {
    pub case: Case,
    pub good: bool,
    /// The change touches only unused bits of base64, so the text differs and the decoded signature does not.
    pub same_bytes: bool,
}

impl Check {
    pub fn new(case: Case, good: bool) -> Self {
        Self { case, good, same_bytes: false }
    }
}

/// A signed request with its secrets.
pub struct Signed {
    pub request: Request,
    /// The current secret, and during a rotation the previous one.
    pub secrets: Vec<String>,
    /// The query parameter that carries the HMAC.
    name: &'static str,
}

impl Signed {
    fn header(&self, name: &str) -> &str {
        let found = self.request.headers.iter().find(|(known, _)| *known == name);
        &found.unwrap().1
    }

    fn query(&self) -> &str {
        self.request.url.split_once('?').unwrap().1
    }

    pub fn payload(&self) -> &str {
        self.request.body.as_deref().unwrap_or_else(|| self.query())
    }

    /// The case of a receiver that has the secret at this index.
    fn headers(&self, index: usize, now: i64) -> Case {
        Case::Headers {
            secret: self.secrets[index].clone(),
            id: self.header("webhook-id").to_owned(),
            timestamp: self.header("webhook-timestamp").to_owned(),
            signature: self.header("webhook-signature").to_owned(),
            payload: self.payload().to_owned(),
            now,
        }
    }
}

/// Signed requests of every kind, sent at `now` in UNIX seconds.
pub fn signed(random: &mut Random, now: i64) -> Vec<Signed> {
    (0..REQUESTS).map(|kind| one_signed(random, kind, now)).collect()
}

fn one_signed(random: &mut Random, kind: usize, now: i64) -> Signed {
    let url = random.one(&[
        "https://x.example",
        "https://x.example/cb?mine=1&key=a%2Fb",
        "http://x.example:8080/a?it's=|é",
        "https://x.example/cb/{offer_id}?u={user_id}&v={value}&t={transaction_id}&c={c1}-{c2}",
        // Its query begins with `ts`.
        "https://x.example/cb/{transaction_id}/{status}",
    ]);
    let method = [CallbackMethod::Get, CallbackMethod::Post][kind % 2];
    let url = if method == CallbackMethod::Post { "https://x.example/cb" } else { url };
    let secrets: Vec<_> = (0..=kind / 2 % 2).map(|_| random.secret()).collect();
    let with_md5 = kind / 4 % 2 == 1;
    let callback = Callback {
        url: url.to_owned(),
        method,
        secret: secrets[0].clone(),
        previous_secret: secrets.get(1).cloned(),
        legacy_md5: with_md5.then(|| LegacyMd5 { secret: random.text() }),
        events: None,
    };
    Signed {
        request: Endpoint::parse(&callback).unwrap().request(&fields(random), now),
        secrets,
        name: if with_md5 { "signature_hmac" } else { "signature" },
    }
}

/// A GET to a URL without macros, with one secret: user `player-1` is paid 350.
pub fn plain_get(random: &mut Random, now: i64) -> Signed {
    let secret = random.secret();
    let callback = Callback {
        url: "https://x.example/callback".to_owned(),
        method: CallbackMethod::Get,
        secret: secret.clone(),
        previous_secret: None,
        legacy_md5: None,
        events: None,
    };
    let mut fields = fields(random);
    fields.user_id = "player-1".to_owned();
    fields.value = Decimal::parse("350").unwrap();
    Signed {
        request: Endpoint::parse(&callback).unwrap().request(&fields, now),
        secrets: vec![secret],
        name: "signature",
    }
}

/// Fields with texts that have a meaning in a URL, in JSON or to a verifier.
fn fields(random: &mut Random) -> Fields {
    let mut fields = json!({
        "value": random.one(&["350", "0.5", "-100.1234"]), "payout": "0.35", "status": "approved",
        "click_ts": 1_790_000_000, "conversion_ts": 1_790_000_100,
        "transaction_id": format!("{:016x}-{:016x}", random.next(), random.next()),
    });
    let optional = ["goal_value", "gaid", "idfa", "c1", "c2", "c3", "c4", "c5", "country"];
    for name in ["user_id", "currency", "offer_id", "goal_id", "app_id"].iter().chain(&optional) {
        if !optional.contains(name) || random.below(2) == 0 {
            fields[name] = random.text().into();
        }
    }
    serde_json::from_value(fields).unwrap()
}

/// Cases of unchanged requests: the headers with each secret, and the query alone for a GET.
pub fn as_signed(requests: &[Signed], now: i64) -> Vec<Check> {
    let mut checks = Vec::new();
    for signed in requests {
        checks.extend((0..signed.secrets.len()).map(|index| Check::new(signed.headers(index, now), true)));
        if signed.request.body.is_none() {
            checks.push(Check::new(query(signed, signed.query().to_owned(), now), true));
        }
    }
    checks
}

fn query(signed: &Signed, query: String, now: i64) -> Case {
    Case::Query { secret: signed.secrets[0].clone(), query, name: signed.name, now }
}

/// Cases with one character changed in each signed part, or in the signature by the receiver's secret: the first, the
/// last and four random ones.
pub fn changed(random: &mut Random, requests: &[Signed], now: i64) -> Vec<Check> {
    let mut checks = Vec::new();
    for signed in requests {
        for index in 0..signed.secrets.len() {
            for part in ["id", "timestamp", "payload", "signature"] {
                change(random, signed, index, part, now, &mut checks);
            }
        }
        if signed.request.body.is_none() {
            let whole = signed.query();
            for at in sample_indices(random, 0..whole.chars().count()) {
                let (other, _) = replace(random, whole, at);
                checks.push(Check::new(query(signed, other, now), false));
            }
        }
    }
    checks
}

fn change(random: &mut Random, signed: &Signed, index: usize, part: &str, now: i64, checks: &mut Vec<Check>) {
    let Case::Headers { signature, .. } = signed.headers(index, now) else { unreachable!() };
    // The signature by the other secret is not checked by this receiver.
    let own = signature.split(' ').nth(index).unwrap().to_owned();
    let begin = signature.find(&own).unwrap();
    let range = match part {
        "id" => 0..signed.header("webhook-id").len(),
        "timestamp" => 0..signed.header("webhook-timestamp").len(),
        "payload" => 0..signed.payload().chars().count(),
        _ => begin..begin + own.len(),
    };
    let mut at = sample_indices(random, range.clone());
    if part == "signature" {
        // The character before the padding has unused bits.
        at.push(range.end - 2);
    }
    for at in at {
        let mut case = signed.headers(index, now);
        let Case::Headers { id, timestamp, signature, payload, .. } = &mut case else { unreachable!() };
        let text = match part {
            "id" => id,
            "timestamp" => timestamp,
            "payload" => payload,
            _ => signature,
        };
        let same_bytes;
        (*text, same_bytes) = replace(random, text, at);
        checks.push(Check { case, good: false, same_bytes: part == "signature" && same_bytes });
    }
}

/// The first index, the last and four random ones.
fn sample_indices(random: &mut Random, range: std::ops::Range<usize>) -> Vec<usize> {
    let mut indices = vec![range.start, range.end - 1];
    indices.extend((0..4).map(|_| range.start + random.below(range.len())));
    indices
}

/// Replaces the character at `at`. Also returns whether the text, read as a list of signatures, still decodes to the
/// same bytes.
fn replace(random: &mut Random, text: &str, at: usize) -> (String, bool) {
    const OTHERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_.,&%";
    let mut characters: Vec<char> = text.chars().collect();
    let before = characters[at];
    while characters[at] == before {
        characters[at] = char::from(OTHERS[random.below(OTHERS.len())]);
    }
    let other: String = characters.iter().collect();
    let same = bytes(&other) == bytes(text);
    (other, same)
}

/// Decodes a list of signatures like a receiver that ignores unused bits of base64.
fn bytes(signatures: &str) -> Vec<Option<Vec<u8>>> {
    let config = GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
    let forgiving = GeneralPurpose::new(&alphabet::STANDARD, config);
    let decode = |text: &str| forgiving.decode(text.strip_prefix("v1,")?).ok();
    signatures.split(' ').map(decode).collect()
}

/// Edge cases of timestamps, signature lists and queries, with the expected answer.
pub fn edge_cases(signed: &Signed, now: i64) -> Vec<Check> {
    let with = |change: &dyn Fn(&mut BTreeMap<&str, String>), now: i64, good: bool| {
        let own = signed.headers(0, now);
        let Case::Headers { secret, id, timestamp, signature, payload, .. } = own else { unreachable!() };
        let mut parts = BTreeMap::from([
            ("secret", secret),
            ("id", id),
            ("timestamp", timestamp),
            ("signature", signature),
            ("payload", payload),
        ]);
        change(&mut parts);
        let mut take = |name| parts.remove(name).unwrap();
        let case = Case::Headers {
            secret: take("secret"),
            id: take("id"),
            timestamp: take("timestamp"),
            signature: take("signature"),
            payload: take("payload"),
            now,
        };
        Check::new(case, good)
    };
    let mut checks = Vec::new();
    let own = signed.header("webhook-signature").to_owned();
    let base64 = own.trim_start_matches("v1,");
    let hmac_of_nothing = format!("v1,{}", "A".repeat(43) + "=");
    for (signature, good) in [
        (format!("{hmac_of_nothing} {own}"), true),
        (format!("v1a,{base64} v2,x {own} v9"), true),
        (String::new(), false),
        ("v1,".to_owned(), false),
        (" ".to_owned(), false),
        (base64.to_owned(), false),
        (format!("v1a,{base64}"), false),
        (format!("v2,{base64}"), false),
        (hmac_of_nothing, false),
        (own[..own.len() - 1].to_owned(), false),
        (format!("{own}="), false),
        (format!("{own}{own}"), false),
    ] {
        checks.push(with(&|parts| parts.insert("signature", signature.clone()).map_or((), drop), now, good));
    }
    for timestamp in ["", "now", "-1", "99999999999999999999", "1e9", &format!("{now}\n")] {
        let set = |parts: &mut BTreeMap<&str, String>| {
            parts.insert("timestamp", timestamp.to_owned());
        };
        checks.push(with(&set, now, false));
    }
    let whole = signed.query();
    let (before, _) = whole.rsplit_once('&').unwrap();
    for query_text in [
        "",
        "signature=",
        &whole[1..],
        before,
        &format!("{before}&{}=", signed.name),
        &format!("{whole}&"),
        &format!("{whole}&user_id=other"),
        &whole.to_uppercase(),
    ] {
        checks.push(Check::new(query(signed, query_text.to_owned(), now), false));
    }
    checks
}

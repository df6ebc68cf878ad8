//! What a verifier is asked: requests as the library signs them, and the same with a character changed.

use std::collections::BTreeMap;

use base64::{
    Engine, alphabet,
    engine::{GeneralPurpose, GeneralPurposeConfig},
};
use serde::Serialize;
use serde_json::json;

use crate::random::Random;
use domain::{
    callbacks::{
        fields::{Decimal, Fields},
        request::{Endpoint, Request},
    },
    catalog::app::{Callback, CallbackMethod, LegacyMd5},
};

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
        /// The body, or on a GET the whole query.
        payload: String,
        now: i64,
    },
    Query {
        secret: String,
        query: String,
        /// The parameter that carries the signature.
        name: &'static str,
    },
}

/// A case and what is to be said of it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub case: Case,
    pub good: bool,
    /// Whether a change is in the bits of base64 that stand for nothing: it is another text for the same signature.
    pub same_bytes: bool,
}

impl Asked {
    pub fn new(case: Case, good: bool) -> Self {
        Self {
            case,
            good,
            same_bytes: false,
        }
    }
}

/// A request that was signed, with the secrets that it was signed by.
pub struct Signed {
    pub request: Request,
    /// The current one, and the one before it while it rotates.
    pub secrets: Vec<String>,
    /// The parameter that carries the HMAC.
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

    /// What a receiver that has the secret of this place is to verify.
    fn headers(&self, place: usize, now: i64) -> Case {
        Case::Headers {
            secret: self.secrets[place].clone(),
            id: self.header("webhook-id").to_owned(),
            timestamp: self.header("webhook-timestamp").to_owned(),
            signature: self.header("webhook-signature").to_owned(),
            payload: self.payload().to_owned(),
            now,
        }
    }
}

/// Requests of every kind, sent at `now`, in UNIX seconds.
pub fn signed(random: &mut Random, now: i64) -> Vec<Signed> {
    (0..REQUESTS).map(|kind| one_signed(random, kind, now)).collect()
}

fn one_signed(random: &mut Random, kind: usize, now: i64) -> Signed {
    let url = random.one(&[
        "https://x.example",
        "https://x.example/cb?mine=1&key=a%2Fb",
        "http://x.example:8080/a?it's=|é",
        "https://x.example/cb/{offer_id}?u={user_id}&v={value}&t={transaction_id}&c={c1}-{c2}",
    ]);
    let method = [CallbackMethod::Get, CallbackMethod::Post][kind % 2];
    let url = if method == CallbackMethod::Post {
        "https://x.example/cb"
    } else {
        url
    };
    let secrets: Vec<_> = (0..=kind / 2 % 2).map(|_| random.secret()).collect();
    let with_md5 = kind / 4 % 2 == 1;
    let callback = Callback {
        url: url.to_owned(),
        method,
        secret: secrets[0].clone(),
        previous_secret: secrets.get(1).cloned(),
        legacy_md5: with_md5.then(|| LegacyMd5 {
            secret: random.text(),
        }),
    };
    Signed {
        request: Endpoint::parse(&callback).unwrap().request(&fields(random), now),
        secrets,
        name: if with_md5 { "signature_hmac" } else { "signature" },
    }
}

/// A GET to a URL without macros, of a user `player-1` who is paid 350, by one secret.
pub fn plain_get(random: &mut Random, now: i64) -> Signed {
    let secret = random.secret();
    let callback = Callback {
        url: "https://x.example/callback".to_owned(),
        method: CallbackMethod::Get,
        secret: secret.clone(),
        previous_secret: None,
        legacy_md5: None,
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

/// With texts that mean something in a URL, in JSON, or to a verifier.
fn fields(random: &mut Random) -> Fields {
    let mut fields = json!({
        "value": random.one(&["350", "0.5", "-100.1234"]), "payout": "0.35", "status": "approved",
        "click_ts": 1_790_000_000, "conversion_ts": 1_790_000_100,
        "transaction_id": format!("{:016x}-{:016x}", random.next(), random.next()),
    });
    let optional = [
        "goal_value",
        "gaid",
        "idfa",
        "c1",
        "c2",
        "c3",
        "c4",
        "c5",
        "country",
    ];
    for name in ["user_id", "currency", "offer_id", "goal_id", "app_id"]
        .iter()
        .chain(&optional)
    {
        if !optional.contains(name) || random.below(2) == 0 {
            fields[name] = random.text().into();
        }
    }
    serde_json::from_value(fields).unwrap()
}

/// What holds of the requests as they are: every receiver's headers, and on a GET the query alone.
pub fn as_signed(requests: &[Signed], now: i64) -> Vec<Asked> {
    let mut asked = Vec::new();
    for signed in requests {
        asked.extend((0..signed.secrets.len()).map(|place| Asked::new(signed.headers(place, now), true)));
        if signed.request.body.is_none() {
            asked.push(Asked::new(query(signed, signed.query().to_owned()), true));
        }
    }
    asked
}

fn query(signed: &Signed, query: String) -> Case {
    Case::Query {
        secret: signed.secrets[0].clone(),
        query,
        name: signed.name,
    }
}

/// The same requests with one character changed: the first, the last and some between, of everything that is signed
/// and of the signature that the receiver's secret made.
pub fn changed(random: &mut Random, requests: &[Signed], now: i64) -> Vec<Asked> {
    let mut asked = Vec::new();
    for signed in requests {
        for place in 0..signed.secrets.len() {
            for part in ["id", "timestamp", "payload", "signature"] {
                change(random, signed, place, part, now, &mut asked);
            }
        }
        if signed.request.body.is_none() {
            let whole = signed.query();
            for at in places(random, 0..whole.chars().count()) {
                let (other, _) = replace(random, whole, at);
                asked.push(Asked::new(query(signed, other), false));
            }
        }
    }
    asked
}

fn change(random: &mut Random, signed: &Signed, place: usize, part: &str, now: i64, asked: &mut Vec<Asked>) {
    let Case::Headers { signature, .. } = signed.headers(place, now) else {
        unreachable!()
    };
    // Another secret's signature beside it may be anything.
    let own = signature.split(' ').nth(place).unwrap().to_owned();
    let begin = signature.find(&own).unwrap();
    let range = match part {
        "id" => 0..signed.header("webhook-id").len(),
        "timestamp" => 0..signed.header("webhook-timestamp").len(),
        "payload" => 0..signed.payload().chars().count(),
        _ => begin..begin + own.len(),
    };
    let mut at = places(random, range.clone());
    if part == "signature" {
        // Before the padding stands the character that has bits to spare.
        at.push(range.end - 2);
    }
    for at in at {
        let mut case = signed.headers(place, now);
        let Case::Headers {
            id,
            timestamp,
            signature,
            payload,
            ..
        } = &mut case
        else {
            unreachable!()
        };
        let text = match part {
            "id" => id,
            "timestamp" => timestamp,
            "payload" => payload,
            _ => signature,
        };
        let same_bytes;
        (*text, same_bytes) = replace(random, text, at);
        asked.push(Asked {
            case,
            good: false,
            same_bytes: part == "signature" && same_bytes,
        });
    }
}

/// The first, the last, and four between.
fn places(random: &mut Random, range: std::ops::Range<usize>) -> Vec<usize> {
    let mut places = vec![range.start, range.end - 1];
    places.extend((0..4).map(|_| range.start + random.below(range.len())));
    places
}

/// A text with the character of a place replaced by another, and whether a list of signatures says the same bytes after
/// it.
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

/// The signatures of a list, as a receiver reads them that forgives what base64 does not use.
fn bytes(signatures: &str) -> Vec<Option<Vec<u8>>> {
    let config = GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
    let forgiving = GeneralPurpose::new(&alphabet::STANDARD, config);
    let decode = |text: &str| forgiving.decode(text.strip_prefix("v1,")?).ok();
    signatures.split(' ').map(decode).collect()
}

/// What else a verifier meets, with its answer.
pub fn odd(signed: &Signed, now: i64) -> Vec<Asked> {
    let with = |change: &dyn Fn(&mut BTreeMap<&str, String>), now: i64, good: bool| {
        let own = signed.headers(0, now);
        let Case::Headers {
            secret,
            id,
            timestamp,
            signature,
            payload,
            ..
        } = own
        else {
            unreachable!()
        };
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
        Asked::new(case, good)
    };
    let mut asked: Vec<_> = [(300, true), (-300, true), (301, false), (-301, false)]
        .map(|(late, good)| with(&|_| (), now + late, good))
        .into();
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
        asked.push(with(
            &|parts| parts.insert("signature", signature.clone()).map_or((), drop),
            now,
            good,
        ));
    }
    for timestamp in [
        "",
        "now",
        "-1",
        "99999999999999999999",
        "1e9",
        &format!("{now}\n"),
    ] {
        let set = |parts: &mut BTreeMap<&str, String>| {
            parts.insert("timestamp", timestamp.to_owned());
        };
        asked.push(with(&set, now, false));
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
        asked.push(Asked::new(query(signed, query_text.to_owned()), false));
    }
    asked
}

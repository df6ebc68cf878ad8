//! The promises of a state: how to ask, the expected answer, and until when it holds. `promises.json` lists them.

use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use standardwebhooks::Webhook;

use crate::{
    dashboard::{Browser, authenticator::Authenticator, passkeys::sign_in_at},
    harness::{OPERATOR_TOKEN, Receiver, Signpost, now_ms},
};
use domain::model::time::SECOND_MS;

/// These kinds have promises that never end. Only facts are deleted, after the 10 years in the settings of a state.
const LASTING: [&str; 9] =
    ["callbacks", "conversions", "documents", "facts", "final days", "members", "pub keys", "report keys", "tokens"];
/// How long a promise may take after the start: keys rest between two requests, and overdue alarms have much to do.
const PATIENCE_MS: i64 = 45 * SECOND_MS;
/// After the other promises hold, no other callback may come for this long.
const QUIET: Duration = Duration::from_secs(8);

/// One promise. It has one of `ask`, `sign_in` and `callback`.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Promise {
    /// The promise as a sentence.
    pub promise: String,
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<Ask>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign_in: Option<SignIn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback: Option<Callback>,
    /// When it begins to hold, in milliseconds since 1970. Without it, at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<i64>,
    /// Until when it holds. Without it, for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<i64>,
}

/// A request that may be sent again: its answer is the same each time.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    pub method: String,
    pub path: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
}

/// A sign-in by a passkey of Ed25519, and the path that the new session then reads.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    pub site: String,
    pub publisher: Option<String>,
    pub seed: u8,
    pub handle: String,
    pub path: String,
}

#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expected {
    pub status: u16,
    /// How the values of headers begin.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Members and elements that the body has, whatever else it has.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub has: Value,
    /// Texts that the body does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
}

/// A callback that was waiting and is sent now, or one that is not sent again.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Callback {
    pub transaction_id: String,
    pub host: String,
    /// The secret that signs it.
    pub secret: String,
    pub is_sent: bool,
}

impl Promise {
    pub fn new(kind: &str, promise: &str) -> Self {
        Self { promise: promise.to_owned(), kind: kind.to_owned(), ..Self::default() }
    }

    pub fn ask(mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut headers: BTreeMap<_, _> = headers.iter().map(owned).collect();
        if !body.is_null() {
            headers.insert("Content-Type".to_owned(), "application/json".to_owned());
        }
        self.ask = Some(Ask { method: method.to_owned(), path: path.to_owned(), headers, body: body.clone() });
        self
    }

    /// Asks the operator's interface.
    pub fn operator(self, method: &str, path: &str, body: &Value) -> Self {
        let authorization = format!("Bearer {OPERATOR_TOKEN}");
        let path = format!("/v1/operator/{path}");
        self.ask(method, &path, &[("Authorization", &authorization)], body)
    }

    pub fn answers(mut self, status: u16, has: &Value) -> Self {
        self.answer = Some(Expected { status, has: has.clone(), ..Expected::default() });
        self
    }

    pub fn lacks(mut self, text: &str) -> Self {
        self.answer.as_mut().expect("an answer").lacks.push(text.to_owned());
        self
    }

    pub fn header(mut self, name: &str, start: &str) -> Self {
        let headers = &mut self.answer.as_mut().expect("an answer").headers;
        headers.insert(name.to_owned(), start.to_owned());
        self
    }

    pub fn until(mut self, until_ms: i64) -> Self {
        self.until_ms = Some(until_ms);
        self
    }

    pub fn from(mut self, from_ms: i64) -> Self {
        self.from_ms = Some(from_ms);
        self
    }

    fn is_never_sent(&self) -> bool {
        self.callback.as_ref().is_some_and(|callback| !callback.is_sent)
    }

    fn verify(&self, signpost: &Signpost, receiver: &Receiver) -> Result<(), String> {
        match (&self.ask, &self.sign_in, &self.callback) {
            (Some(ask), ..) => {
                let headers: Vec<_> = ask.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
                let body = match &ask.body {
                    Value::Null => String::new(),
                    body => body.to_string(),
                };
                let send = || signpost.try_send(&ask.method, &ask.path, &headers, body.as_bytes());
                let mut answer = send()?;
                if let (429, Some(rest)) = (answer.status, answer.header("Retry-After")) {
                    let seconds = rest.parse().map_err(|error| format!("Retry-After: {error}"))?;
                    thread::sleep(Duration::from_secs(seconds));
                    answer = send()?;
                }
                self.compare(&answer)
            }
            (_, Some(passkey), _) => {
                let mut browser = Browser::at(signpost, &passkey.site);
                let mut authenticator = Authenticator::made_earlier(passkey.seed, &passkey.handle);
                sign_in_at(&mut browser, &mut authenticator);
                browser.publisher.clone_from(&passkey.publisher);
                self.compare(&browser.send("GET", &passkey.path, None))
            }
            (_, _, Some(callback)) => callback.verify(receiver),
            _ => Err("a promise without a question".to_owned()),
        }
    }

    fn compare(&self, answer: &crate::harness::Answer) -> Result<(), String> {
        let expected = self.answer.as_ref().ok_or("a promise without an answer")?;
        let has_headers = expected.headers.iter().all(|(name, start)| {
            let value = answer.header(name);
            value.is_some_and(|value| value.starts_with(start))
        });
        let has = expected.has.is_null()
            || serde_json::from_str(&answer.body).is_ok_and(|found| contains(&found, &expected.has));
        let lacks = expected.lacks.iter().all(|text| !answer.body.contains(text));
        if answer.status == expected.status && has_headers && has && lacks {
            return Ok(());
        }
        let expected = serde_json::to_string(expected).map_err(|error| error.to_string())?;
        Err(format!("expected {expected}, got {answer:?}"))
    }
}

impl Callback {
    fn verify(&self, receiver: &Receiver) -> Result<(), String> {
        let all = receiver.received();
        let sent: Vec<_> = all.iter().filter(|received| received.header("webhook-id") == self.transaction_id).collect();
        if sent.is_empty() == self.is_sent {
            return Err(format!("{} callbacks with this id", sent.len()));
        }
        let webhook = Webhook::new(&self.secret).map_err(|error| error.to_string())?;
        for received in sent {
            let payload = match &*received.method {
                "GET" => received.query(),
                _ => &received.body,
            };
            if received.header("host") != self.host || webhook.verify(payload.as_bytes(), &received.headers).is_err() {
                return Err(format!("{received:?}"));
            }
        }
        Ok(())
    }
}

/// True if a document has what is expected: each member, and each element of a list in any place. A later release may
/// add others.
fn contains(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            expected.iter().all(|(name, value)| found.get(name).is_some_and(|found| contains(found, value)))
        }
        (Value::Array(found), Value::Array(expected)) => {
            expected.iter().all(|value| found.iter().any(|found| contains(found, value)))
        }
        (Value::Number(found), Value::Number(expected)) => found.as_f64() == expected.as_f64(),
        _ => found == expected,
    }
}

/// Checks all promises that hold now, and that each lasting kind has one. Prints how many have expired.
pub fn check(name: &str, promises: &[Promise], signpost: &Signpost, receiver: &Receiver) {
    let began_ms = now_ms();
    let holds = |promise: &&Promise| {
        promise.from_ms.is_none_or(|from_ms| from_ms <= began_ms)
            && promise.until_ms.is_none_or(|until_ms| began_ms < until_ms)
    };
    let current: Vec<_> = promises.iter().filter(holds).collect();
    let has_expired = |promise: &&Promise| promise.until_ms.is_some_and(|until_ms| until_ms <= began_ms);
    println!(
        "{name}: {} promises hold, {} have expired, of {}",
        current.len(),
        promises.iter().filter(has_expired).count(),
        promises.len()
    );
    let kinds: BTreeSet<_> = current.iter().map(|promise| &*promise.kind).collect();
    let lost: Vec<_> = LASTING.iter().filter(|kind| !kinds.contains(*kind)).collect();
    assert!(lost.is_empty(), "{name}: no promise is left of {lost:?}");

    // Others first: by the time they hold, a callback that must not come would be there.
    let (never_sent, mut open): (Vec<_>, Vec<_>) = current.into_iter().partition(|promise| promise.is_never_sent());
    let broken = loop {
        let mut broken = Vec::new();
        open.retain(|promise| match promise.verify(signpost, receiver) {
            Ok(()) => false,
            Err(problem) => {
                broken.push(format!("{}: {problem}", promise.promise));
                true
            }
        });
        if open.is_empty() || now_ms() > began_ms + PATIENCE_MS {
            break broken;
        }
        thread::sleep(Duration::from_millis(500));
    };
    assert!(broken.is_empty(), "{name}: {} are broken\n{}", broken.len(), broken.join("\n\n"));
    // A callback that must not be sent could still come after the others.
    thread::sleep(QUIET);
    for promise in never_sent {
        promise.verify(signpost, receiver).unwrap_or_else(|problem| panic!("{name}: {}: {problem}", promise.promise));
    }
}

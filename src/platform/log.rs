//! The log: one JSON object on each line, with the fields that are declared here. A [`Sampler`] limits lines, so that
//! nobody can flood it.
//!
//! A line never contains a secret, a token, a key, a click id or personal data of a user. Free text from outside passes
//! [`scrubbed`] first.

use std::collections::HashMap;

use serde::Serialize;

use domain::model::MINUTE_MS;

mod console;

pub(crate) use console::now_ms;
pub use console::{error, warn, write, write_some};

/// The severity of a line, which selects the console's method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Normal operation.
    Info,
    /// Someone other than the operator must act, or the problem resolves itself.
    Warn,
    /// The operator must investigate.
    Error,
}

/// The kind of event that a line reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A postback.
    Conversion,
    /// A change by the operator.
    Operator,
    Report,
    /// A failed attempt of a callback.
    Callback,
    /// A failed attempt to deliver an alarm's webhook.
    Alarm,
    /// A missing or wrong credential.
    Refused,
    /// Any other request that was answered 5xx.
    Request,
    /// A failure inside the service.
    Fault,
}

macro_rules! line {
    ($($(#[$doc:meta])* $field:ident as $name:literal: $type:ty,)*) => {
        /// A line of the log. Fields that do not apply are omitted.
        #[derive(Clone, Debug)]
        pub struct Line<'a> {
            /// The time of writing, in Unix milliseconds.
            pub ts: i64,
            pub level: Level,
            pub event: Event,
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        impl Line<'_> {
            /// The names of all fields, in the order in which they are written.
            pub const FIELDS: &'static [&'static str] = &["ts", "level", "event", $($name,)*];

            pub fn new(ts: i64, level: Level, event: Event) -> Self {
                Self { ts, level, event, $($field: None,)* }
            }

            /// The line as JSON, without a line break.
            pub fn json(&self) -> String {
                let mut text = String::with_capacity(320);
                text.push('{');
                member(&mut text, "ts", &self.ts);
                member(&mut text, "level", &self.level);
                member(&mut text, "event", &self.event);
                $(if let Some(value) = &self.$field {
                    member(&mut text, $name, value);
                })*
                text.push('}');
                text
            }
        }
    };
}

line! {
    /// Cloudflare's id of the request, which also identifies it in Cloudflare's own logs.
    ray as "ray": &'a str,
    method as "method": &'a str,
    /// The pattern of the route table, with `{}` for variable segments.
    route as "route": &'a str,
    /// The status of the HTTP answer; in a callback's line, of the receiver's answer.
    status as "status": u16,
    /// The code of the answer's `{error, code}`.
    code as "code": &'a str,
    /// The outcome of a conversion: approved, pending, rejected, reversed, refused, unavailable, unread.
    outcome as "outcome": &'a str,
    /// True if the postback repeated an earlier one.
    duplicate as "duplicate": bool,
    app as "app": &'a str,
    offer as "offer": &'a str,
    publisher as "publisher": &'a str,
    advertiser as "advertiser": &'a str,
    /// The second id in an operator's path: a key, a token, a transaction or a day. Omitted if it was not found.
    item as "item": &'a str,
    transaction_id as "transaction_id": &'a str,
    /// The fingerprint of the report key: the beginning of its SHA-256.
    key as "key": &'a str,
    /// The number of a report's rows on all pages.
    rows as "rows": i64,
    /// The number of this attempt of a callback, starting at 1.
    attempts as "try": u32,
    /// The reason for a missing answer: timeout, connection, broken_answer, forbidden, not_a_url.
    cause as "cause": &'a str,
    /// The time of the next attempt, in Unix seconds.
    next_try as "next_try": i64,
    /// True if the callback is now a dead letter.
    dead as "dead": bool,
    /// True if the endpoint is now disabled.
    disabled as "disabled": bool,
    /// The part of the service where a fault occurred.
    place as "where": &'a str,
    /// The message of a fault.
    what as "what": &'a str,
    /// The number of lines of this kind that were omitted before this one.
    skipped as "skipped": u64,
    /// The duration in milliseconds.
    ms as "ms": i64,
}

fn member(text: &mut String, name: &str, value: &impl Serialize) {
    if !text.ends_with('{') {
        text.push(',');
    }
    text.push('"');
    text.push_str(name);
    text.push_str("\":");
    text.push_str(&serde_json::to_string(value).unwrap_or_else(|_| "null".into()));
}

/// Maximum owners with their own counts for each kind of line. It limits memory and the number of lines.
const OWNERS: usize = 100;

/// Limits the lines of each kind per minute, and counts the omitted lines. Each isolate has one sampler.
#[derive(Debug, Default)]
pub struct Sampler {
    kinds: HashMap<String, KindCounts>,
}

#[derive(Debug, Default)]
struct KindCounts {
    /// The count of lines without an owner, and of owners beyond `OWNERS`.
    shared: LineCount,
    owners: HashMap<String, LineCount>,
}

#[derive(Debug, Default)]
struct LineCount {
    minute: i64,
    written: u32,
    skipped: u64,
}

impl Sampler {
    /// Decides whether to write a line of this kind now. `Some` has the number of lines omitted since the last written
    /// one. Per minute, each of the first `OWNERS` owners may have `most` lines. All other owners, and lines without an
    /// owner, share `most` lines. Kinds are constants of the code: a place, or an event with a route and a refusal. So
    /// there are few kinds.
    pub fn admit(&mut self, kind: &str, owner: Option<&str>, most: u32, now_ms: i64) -> Option<u64> {
        if !self.kinds.contains_key(kind) {
            self.kinds.insert(kind.to_owned(), KindCounts::default());
        }
        let minute = now_ms.div_euclid(MINUTE_MS);
        let count = self.kinds.get_mut(kind)?.count(owner, minute);
        if count.minute != minute {
            count.minute = minute;
            count.written = 0;
        }
        if count.written >= most {
            count.skipped = count.skipped.saturating_add(1);
            return None;
        }
        count.written = count.written.saturating_add(1);
        Some(std::mem::take(&mut count.skipped))
    }
}

impl KindCounts {
    /// The count for an owner's lines in this minute.
    fn count(&mut self, owner: Option<&str>, minute: i64) -> &mut LineCount {
        let Some(owner) = owner else {
            return &mut self.shared;
        };
        if self.owners.len() >= OWNERS && !self.owners.contains_key(owner) {
            // Evicts only owners of earlier minutes, since the count of an evicted owner restarts.
            let shared = &mut self.shared;
            self.owners.retain(|_, count| {
                let is_current = count.minute == minute;
                if !is_current {
                    shared.skipped = shared.skipped.saturating_add(count.skipped);
                }
                is_current
            });
            if self.owners.len() >= OWNERS {
                return &mut self.shared;
            }
        }
        self.owners.entry(owner.to_owned()).or_default()
    }
}

/// Maximum characters of free text in a line.
const MAX_TEXT: usize = 300;
/// Maximum characters of a word that cannot be a secret: the shortest secret that Signpost issues has 32.
const MAX_WORD: usize = 24;

/// Makes free text safe for the log: removes quoted parts and URL queries, and cuts long words. Errors quote the
/// caller's input, and a long word may be a key.
pub fn scrubbed(text: &str) -> String {
    let (mut out, mut word) = (String::new(), String::new());
    let mut until = None;
    for char in text.chars() {
        match until {
            Some(end) if end == char || (end == ' ' && char.is_whitespace()) => {
                until = None;
                out.push(char);
            }
            Some(_) => {}
            None if char.is_ascii_alphanumeric() || "_-+=@.~%".contains(char) => word.push(char),
            None => {
                end_word(&mut out, &mut word);
                out.push(if char.is_control() { ' ' } else { char });
                until = match char {
                    '"' | '`' => Some(char),
                    '?' => Some(' '),
                    _ => None,
                };
                if until.is_some() {
                    out.push('…');
                }
            }
        }
    }
    end_word(&mut out, &mut word);
    if out.chars().count() > MAX_TEXT {
        out = out.chars().take(MAX_TEXT).chain(['…']).collect();
    }
    out
}

fn end_word(out: &mut String, word: &mut String) {
    if word.chars().count() > MAX_WORD {
        out.extend(word.chars().take(4).chain(['…']));
    } else {
        out.push_str(word);
    }
    word.clear();
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_line_is_one_json_object_with_the_fields_that_apply() {
        let line = Line {
            status: Some(503),
            code: Some("un\"available\n"),
            place: Some("outbox"),
            attempts: Some(3),
            dead: Some(false),
            ..Line::new(1_795_284_057_123, Level::Error, Event::Callback)
        };
        let text = line.json();
        assert!(!text.contains('\n'));
        let parsed: Value = serde_json::from_str(&text).unwrap();
        let expected = json!({"ts": 1_795_284_057_123_i64, "level": "error", "event": "callback", "status": 503,
            "code": "un\"available\n", "where": "outbox", "try": 3, "dead": false});
        assert_eq!(parsed, expected);
        for name in parsed.as_object().unwrap().keys() {
            assert!(Line::FIELDS.contains(&name.as_str()), "{name}");
        }
    }

    #[test]
    fn omitted_lines_are_counted_in_the_next_line() {
        let mut sampler = Sampler::default();
        assert_eq!(sampler.admit("a", None, 2, 0), Some(0));
        assert_eq!(sampler.admit("a", None, 2, 1_000), Some(0));
        for at_ms in [2_000, 59_999] {
            assert_eq!(sampler.admit("a", None, 2, at_ms), None);
        }
        assert_eq!(sampler.admit("b", None, 2, 3_000), Some(0), "another kind has its own count");
        assert_eq!(sampler.admit("a", None, 2, 60_000), Some(2));
        assert_eq!(sampler.admit("a", None, 2, 60_001), Some(0));
        assert_eq!(sampler.admit("a", None, 0, 180_000), None);
    }

    #[test]
    fn each_owner_has_a_count_of_its_own_up_to_a_bounded_number_of_owners() {
        let mut sampler = Sampler::default();
        let mut admit = |owner: &str, now_ms: i64| sampler.admit("a", Some(owner), 1, now_ms);
        let name = |n: usize| format!("owner-{n}");
        for n in 0..OWNERS {
            assert_eq!(admit(&name(n), 0), Some(0));
            assert_eq!(admit(&name(n), 0), None);
        }
        // All further owners share one count, and evict no owner of this minute.
        assert_eq!(admit("one", 0), Some(0));
        assert_eq!(admit("another", 0), None);
        assert_eq!(admit(&name(0), 59_999), None);
        // A remaining owner reports its own omitted lines, and the shared count those of all evicted owners.
        assert_eq!(admit(&name(0), 60_000), Some(2));
        assert_eq!(admit("one", 60_000), Some(0));
        for n in 1..OWNERS - 1 {
            assert_eq!(admit(&name(n), 60_000), Some(0));
        }
        let others = u64::try_from(OWNERS - 1).unwrap();
        assert_eq!(admit("another", 60_000), Some(others + 1));
        let kind = &sampler.kinds["a"];
        assert_eq!((sampler.kinds.len(), kind.owners.len()), (1, OWNERS));
    }

    #[test]
    fn possible_secrets_are_removed_from_free_text() {
        for (text, expected) in [
            ("no such table: takes: SQLITE_ERROR", "no such table: takes: SQLITE_ERROR"),
            ("invalid type: string \"whsec_1\", expected a map", "invalid type: string \"…\", expected a map"),
            ("it is inside `demo-user-1`", "it is inside `…`"),
            ("an open \"quotation", "an open \"…"),
            ("for http://x.example/cb?user_id=u-1&c1=x at once", "for http://x.example/cb?… at once"),
            ("key sk_lumen-arcade_000102030405060708090a0b0c0d0e0f_00", "key sk_l…"),
            ("a\nb", "a b"),
        ] {
            assert_eq!(scrubbed(text), expected);
        }
        assert_eq!(scrubbed(&"ab ".repeat(500)).chars().count(), MAX_TEXT + 1);
    }
}

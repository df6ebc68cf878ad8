//! The log: one JSON object a line, with the fields that are named here and no others. Building a line is pure; writing it
//! is the shell's, and so is keeping what anybody can bring about at will from filling the log.
//!
//! A line never holds a secret, a token, a key, a click id, or what says who a user is. What comes from elsewhere as free
//! text goes through [`scrubbed`] first.

use std::collections::HashMap;

use serde::Serialize;

use domain::model::time::MINUTE_MS;

mod console;

pub use console::{error, warn, write, write_some};

/// How much a line matters, and by which of the console's three ways it goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Info,
    /// Somebody else has to do something, or it mends itself.
    Warn,
    /// The operator has to look.
    Error,
}

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A postback.
    Conversion,
    /// A change that the operator asked for.
    Operator,
    /// A report.
    Report,
    /// A try of a callback that did not deliver it.
    Callback,
    /// A credential that is missing or wrong.
    Refused,
    /// Any other request that was answered 5xx.
    Request,
    /// Something behind a request that did not work.
    Fault,
}

impl Event {
    pub const ALL: [Self; 7] = [
        Self::Conversion,
        Self::Operator,
        Self::Report,
        Self::Callback,
        Self::Refused,
        Self::Request,
        Self::Fault,
    ];
}

macro_rules! line {
    ($($(#[$doc:meta])* $field:ident as $name:literal: $type:ty,)*) => {
        /// A line of the log. What does not apply is left out.
        #[derive(Clone, Debug)]
        pub struct Line<'a> {
            /// When it was written, in Unix milliseconds.
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
    /// Cloudflare's id of the request, by which it is found in Cloudflare's own logs.
    ray as "ray": &'a str,
    method as "method": &'a str,
    /// The path as the route table has it: what varies in it is `{}`.
    route as "route": &'a str,
    /// Of the HTTP answer; in a callback's line, the receiver's.
    status as "status": u16,
    /// Of the answer's `{error, code}`.
    code as "code": &'a str,
    /// What became of a conversion: approved, pending, rejected, reversed, refused, unavailable, unread.
    outcome as "outcome": &'a str,
    /// Whether the conversion was known already.
    duplicate as "duplicate": bool,
    app as "app": &'a str,
    offer as "offer": &'a str,
    publisher as "publisher": &'a str,
    advertiser as "advertiser": &'a str,
    /// The other id in an operator's path, of what was there: a key's, a token's, a transaction's, a day.
    item as "item": &'a str,
    transaction_id as "transaction_id": &'a str,
    /// The beginning of the SHA-256 of the report key.
    key as "key": &'a str,
    /// Rows that match a report, on all pages.
    rows as "rows": i64,
    /// Tries made of a callback, this one included.
    tries as "try": u32,
    /// Why a try had no answer: timeout, connection, broken_answer, forbidden, not_a_url.
    cause as "cause": &'a str,
    /// When it is tried again, in Unix seconds.
    next_try as "next_try": i64,
    /// Whether it is not tried again by itself.
    dead as "dead": bool,
    /// Whether the endpoint has switched itself off.
    disabled as "disabled": bool,
    /// The part of the service that a fault was met in.
    place as "where": &'a str,
    what as "what": &'a str,
    /// How many lines of this kind were left out before this one.
    skipped as "skipped": u64,
    /// How long it took, in milliseconds.
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

/// How many owners have lines of one kind to themselves in a minute: what is kept is bounded, and so is what is written.
const OWNERS: usize = 100;

/// How many lines of one kind are written in a minute; the rest is counted. One isolate has one.
#[derive(Debug, Default)]
pub struct Sampler {
    kinds: HashMap<String, Kind>,
}

#[derive(Debug, Default)]
struct Kind {
    /// Of the lines that are nobody's, and of those of owners that there was no room for.
    shared: Count,
    owners: HashMap<String, Count>,
}

#[derive(Debug, Default)]
struct Count {
    minute: i64,
    written: u32,
    skipped: u64,
}

impl Sampler {
    /// Whether a line of this kind is written now, if at most `most` are in a minute: then, how many were left out since
    /// the last. The first [`OWNERS`] owners of a minute have so many each; all others, and lines that are nobody's, so
    /// many together. Kinds are named by what is in the code (a place; an event, a route and a refusal), so there are few.
    pub fn admit(&mut self, kind: &str, owner: Option<&str>, most: u32, now_ms: i64) -> Option<u64> {
        if !self.kinds.contains_key(kind) {
            self.kinds.insert(kind.to_owned(), Kind::default());
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

impl Kind {
    /// What counts an owner's lines in this minute.
    fn count(&mut self, owner: Option<&str>, minute: i64) -> &mut Count {
        let Some(owner) = owner else {
            return &mut self.shared;
        };
        if self.owners.len() >= OWNERS && !self.owners.contains_key(owner) {
            // Those of earlier minutes make room. Who has lines in this one stays: his count would begin anew.
            let shared = &mut self.shared;
            self.owners.retain(|_, count| {
                let stays = count.minute == minute;
                if !stays {
                    shared.skipped = shared.skipped.saturating_add(count.skipped);
                }
                stays
            });
            if self.owners.len() >= OWNERS {
                return &mut self.shared;
            }
        }
        self.owners.entry(owner.to_owned()).or_default()
    }
}

/// The longest free text of a line, in characters.
const LONGEST: usize = 300;
/// The longest word of it that cannot be a secret, in characters: the shortest secret that Signpost issues has 32.
const WORD: usize = 24;

/// Free text as it may stand in the log: without what is quoted in it, without queries of URLs, with long words cut. What
/// an error quotes is what was sent; a long word may be a key.
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
    if out.chars().count() > LONGEST {
        out = out.chars().take(LONGEST).chain(['…']).collect();
    }
    out
}

fn end_word(out: &mut String, word: &mut String) {
    if word.chars().count() > WORD {
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
    fn a_line_is_one_json_object_with_what_applies() {
        let line = Line {
            status: Some(503),
            code: Some("un\"available\n"),
            place: Some("outbox"),
            tries: Some(3),
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
    fn what_comes_too_often_is_counted_and_told_with_the_next() {
        let mut sampler = Sampler::default();
        assert_eq!(sampler.admit("a", None, 2, 0), Some(0));
        assert_eq!(sampler.admit("a", None, 2, 1_000), Some(0));
        for at_ms in [2_000, 59_999] {
            assert_eq!(sampler.admit("a", None, 2, at_ms), None);
        }
        assert_eq!(
            sampler.admit("b", None, 2, 3_000),
            Some(0),
            "another kind has its own"
        );
        assert_eq!(sampler.admit("a", None, 2, 60_000), Some(2));
        assert_eq!(sampler.admit("a", None, 2, 60_001), Some(0));
        assert_eq!(sampler.admit("a", None, 0, 180_000), None);
    }

    #[test]
    fn each_owner_has_lines_of_his_own_and_no_more_are_kept_than_there_is_room_for() {
        let mut sampler = Sampler::default();
        let mut admit = |owner: &str, now_ms: i64| sampler.admit("a", Some(owner), 1, now_ms);
        let name = |n: usize| format!("owner-{n}");
        for n in 0..OWNERS {
            assert_eq!(admit(&name(n), 0), Some(0));
            assert_eq!(admit(&name(n), 0), None);
        }
        // Those there is no room for share what is left, however many they are, and free nobody of his count.
        assert_eq!(admit("one", 0), Some(0));
        assert_eq!(admit("another", 0), None);
        assert_eq!(admit(&name(0), 59_999), None);
        // One that stays tells of his own, and the lines of all that were forgotten are told together.
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
    fn free_text_loses_what_may_be_a_secret() {
        for (text, scrubbed_text) in [
            (
                "no such table: takes: SQLITE_ERROR",
                "no such table: takes: SQLITE_ERROR",
            ),
            (
                "invalid type: string \"whsec_1\", expected a map",
                "invalid type: string \"…\", expected a map",
            ),
            ("it is inside `demo-user-1`", "it is inside `…`"),
            ("an open \"quotation", "an open \"…"),
            (
                "for http://x.example/cb?user_id=u-1&c1=x at once",
                "for http://x.example/cb?… at once",
            ),
            (
                "key sk_lumen-arcade_000102030405060708090a0b0c0d0e0f_00",
                "key sk_l…",
            ),
            ("a\nb", "a b"),
        ] {
            assert_eq!(scrubbed(text), scrubbed_text);
        }
        assert_eq!(scrubbed(&"ab ".repeat(500)).chars().count(), LONGEST + 1);
    }
}

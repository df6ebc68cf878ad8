//! Tells crawlers, link previews and monitors from people, by the form of a User-Agent and by a list of names.
//!
//! HTTP libraries (okhttp, CFNetwork, axios, curl, …) count as people, because the publisher's app or its backend may
//! call the tracking URL with one (docs/SPEC.md, "Events").

use std::sync::LazyLock;

use super::{starts_with, words};

/// Names of crawlers that [`has_crawlers_form`] does not tell, in small letters, one a line, sorted. Each begins at the
/// start of a word and has at least three characters. They come from the npm package `crawler-user-agents` (MIT,
/// copyright 2017 Martin Monperrus). After an update of the package `make crawlers` writes the file again.
pub const NAMES: &str = include_str!("crawlers.txt");

/// Whether a User-Agent belongs to a crawler, a link preview or a monitor.
pub fn is_crawler(user_agent: &str) -> bool {
    has_crawlers_form(user_agent) || words(user_agent).any(|(_, on)| INDEX.has(on))
}

/// Whether a User-Agent has the form of a crawler's: a word such as "Googlebot", a web or e-mail address, or
/// `compatible;` before its name, as old browsers had it.
pub fn has_crawlers_form(user_agent: &str) -> bool {
    is_compatible(user_agent)
        || words(user_agent).any(|(word, on)| {
            let after = on.get(word.len()..).unwrap_or_default();
            is_crawlers_word(word, after) || begins_address(word, after)
        })
}

/// Words with a crawler's ending that are names of phones.
const PHONES: [&str; 2] = ["cubot", "xbot"];

/// Whether a word ends as the names of crawlers do. Phones are called "M bot 54" and "Spider 8", so these words alone
/// must not be followed by a space or an underscore.
fn is_crawlers_word(word: &[u8], after: &[u8]) -> bool {
    let Some(ending) = endings(word).iter().find(|ending| ends_with(word, ending)) else {
        return false;
    };
    let is_phone = PHONES
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
    let may_be_phone = ending.len() == word.len()
        && matches!(*ending, "bot" | "bots" | "spider")
        && matches!(after.first(), Some(b' ' | b'_'));
    !is_phone && !may_be_phone
}

/// Endings of the last word of a crawler's name, by the word's last letter.
fn endings(word: &[u8]) -> &'static [&'static str] {
    match word.last().map_or(0, u8::to_ascii_lowercase) {
        b'c' => &["synthetic"],
        b'e' => &["probe"],
        b'g' => &["monitoring"],
        b'k' => &["healthcheck"],
        b'l' => &["crawl"],
        b'r' => &[
            "spider",
            "crawler",
            "scraper",
            "fetcher",
            "monitor",
            "checker",
            "scanner",
            "validator",
            "archiver",
            "indexer",
            "analyzer",
            "inspector",
            "prober",
            "extractor",
            "collector",
            "finder",
            "transcoder",
            "expander",
            "feedreader",
        ],
        b's' => &["bots", "synthetics"],
        b't' => &["bot", "externalhit"],
        b'w' => &["preview"],
        b'y' => &["emailproxy", "imageproxy"],
        _ => &[],
    }
}

/// Whether a web or e-mail address begins at a word.
fn begins_address(word: &[u8], after: &[u8]) -> bool {
    match after {
        [b':', b'/', b'/', ..] => word.eq_ignore_ascii_case(b"http") || word.eq_ignore_ascii_case(b"https"),
        [b'.', ..] => word.eq_ignore_ascii_case(b"www"),
        // A browser has `android@103.0`.
        [b'@', next, ..] => next.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Browsers that say `compatible;`.
const COMPATIBLE_BROWSERS: [&str; 5] = ["msie", "konqueror", "u", "viera", "linux"];

/// Whether a User-Agent begins with `Mozilla/5.0` and says `compatible; Name`, where the name is no browser's.
fn is_compatible(user_agent: &str) -> bool {
    let is_mozilla = starts_with(user_agent.as_bytes(), "mozilla/5.0");
    let mut words = words(user_agent);
    is_mozilla
        && words.any(|(_, on)| starts_with(on, "compatible; "))
        && words.all(|(word, _)| {
            !COMPATIBLE_BROWSERS
                .iter()
                .any(|browser| word.eq_ignore_ascii_case(browser.as_bytes()))
        })
}

fn ends_with(text: &[u8], name: &str) -> bool {
    let start = text.len().checked_sub(name.len());
    start
        .and_then(|start| text.get(start..))
        .is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes()))
}

static INDEX: LazyLock<Index> = LazyLock::new(|| Index::new(NAMES));

/// Finds the names of a list at the start of a text.
struct Index {
    names: Vec<&'static str>,
    /// A bit for each hash of the first three letters of a name. Most words of a browser have none.
    starts: [u64; 64],
}

impl Index {
    fn new(list: &'static str) -> Self {
        let mut starts = [0; 64];
        for start in list.lines().filter_map(|name| start(name.as_bytes())) {
            let (word, bit) = place(start);
            if let Some(word) = starts.get_mut(word) {
                *word |= bit;
            }
        }
        Self {
            names: list.lines().collect(),
            starts,
        }
    }

    fn has(&self, text: &[u8]) -> bool {
        let Some(start_of_text) = start(text) else {
            return false;
        };
        let (word, bit) = place(start_of_text);
        if self.starts.get(word).is_none_or(|bits| bits & bit == 0) {
            return false;
        }
        let first = self
            .names
            .partition_point(|name| start(name.as_bytes()) < Some(start_of_text));
        let names = self.names.iter().skip(first);
        names
            .take_while(|name| start(name.as_bytes()) == Some(start_of_text))
            .any(|name| starts_with(text, name))
    }
}

/// The first three characters of a text, letters in small.
fn start(text: &[u8]) -> Option<[u8; 3]> {
    text.first_chunk::<3>()
        .map(|start| start.map(|byte| byte.to_ascii_lowercase()))
}

/// The word and the bit for a start, by a multiplicative hash of 12 bits.
fn place([a, b, c]: [u8; 3]) -> (usize, u64) {
    let hash = u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9e37_79b1) >> 20;
    ((hash >> 6) as usize, 1 << (hash & 63))
}

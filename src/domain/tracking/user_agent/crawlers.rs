//! Distinguishes crawlers, link previews and monitors from people, by the form of a User-Agent and by a list of names.
//!
//! HTTP libraries (okhttp, CFNetwork, axios, curl, …) count as people, because the publisher's app or its backend may
//! call the tracking URL with one (docs/SPEC.md, "Events").

use std::sync::LazyLock;

use super::{starts_with, words};

/// Names of crawlers that [`has_crawlers_form`] does not recognize, in lower case, one per line, sorted. Each name is
/// compared with the start of a word, and has at least three characters. The names come from the npm package
/// `crawler-user-agents` (MIT, copyright 2017 Martin Monperrus). After an update of the package, run `make crawlers` to
/// regenerate the file.
pub const NAMES: &str = include_str!("crawlers.txt");

/// True if a User-Agent belongs to a crawler, a link preview or a monitor.
pub fn is_crawler(user_agent: &str) -> bool {
    let names: &Index = &NAMES_INDEX;
    is_any(user_agent, |on| names.has(on))
}

/// True if a User-Agent has a crawler's form: it has a word such as "Googlebot", a web or e-mail address, or a name
/// after `compatible;` that is not the name of an old browser.
pub fn has_crawlers_form(user_agent: &str) -> bool {
    is_any(user_agent, |_| false)
}

/// True if a User-Agent has a crawler's form, or if `is_name` accepts the text that begins at one of its words. Makes a
/// single pass, since every click is checked.
fn is_any(user_agent: &str, is_name: impl Fn(&[u8]) -> bool) -> bool {
    let mut compatible = Compatible::No;
    for (word, on) in words(user_agent) {
        let after = on.get(word.len()..).unwrap_or_default();
        if is_crawlers_word(word, after) || begins_address(word, after) || is_name(on) {
            return true;
        }
        compatible = compatible.then(word, on);
    }
    // The User-Agents of old browsers begin with `Mozilla/4.0`.
    compatible == Compatible::Named && starts_with(user_agent.as_bytes(), "mozilla/5.0")
}

/// Browsers whose User-Agent contains `compatible;`.
const COMPATIBLE_BROWSERS: [&str; 5] = ["msie", "konqueror", "u", "viera", "linux"];

/// The part of `compatible; Name` that was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compatible {
    No,
    /// `compatible; ` was read, and no browser's name has followed so far.
    Named,
    Browser,
}

impl Compatible {
    fn then(self, word: &[u8], on: &[u8]) -> Self {
        let is_browser = || COMPATIBLE_BROWSERS.iter().any(|browser| word.eq_ignore_ascii_case(browser.as_bytes()));
        match self {
            Self::No if word.len() == "compatible".len() && starts_with(on, "compatible; ") => Self::Named,
            Self::Named if is_browser() => Self::Browser,
            other => other,
        }
    }
}

/// Words with a crawler's ending that are names of phones.
const PHONES: [&str; 2] = ["cubot", "xbot"];

/// True if a word ends like the names of crawlers. Phones are called "M bot 54" and "Spider 8", so `bot`, `bots` and
/// `spider` do not count as whole words before a space or an underscore.
fn is_crawlers_word(word: &[u8], after: &[u8]) -> bool {
    let Some(ending) = endings(word).iter().find(|ending| ends_with(word, ending)) else {
        return false;
    };
    let is_phone = PHONES.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
    let may_be_phone = ending.len() == word.len()
        && matches!(*ending, "bot" | "bots" | "spider")
        && matches!(after.first(), Some(b' ' | b'_'));
    !is_phone && !may_be_phone
}

/// The endings of crawlers' names that have the same last letter as the word.
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

/// True if a web or e-mail address begins at a word.
fn begins_address(word: &[u8], after: &[u8]) -> bool {
    match after {
        [b':', b'/', b'/', ..] => word.eq_ignore_ascii_case(b"http") || word.eq_ignore_ascii_case(b"https"),
        [b'.', ..] => word.eq_ignore_ascii_case(b"www"),
        // The User-Agents of some browsers contain `android@103.0`.
        [b'@', next, ..] => next.is_ascii_alphabetic(),
        _ => false,
    }
}

fn ends_with(text: &[u8], name: &str) -> bool {
    let start = text.len().checked_sub(name.len());
    start.and_then(|start| text.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes()))
}

static NAMES_INDEX: LazyLock<Index> = LazyLock::new(|| Index::new(NAMES));

/// Finds the names of a list at the start of a text, by a hash of their first three letters.
struct Index {
    /// Sorted by hash.
    names: Vec<&'static str>,
    /// For each hash, the number of names with lower hashes. The names with a hash end where the names with the next
    /// hash begin. Most words of a browser's User-Agent have a hash without names, so nothing is compared.
    firsts: Vec<u16>,
}

const HASH_BITS: u32 = 12;

impl Index {
    fn new(list: &'static str) -> Self {
        let mut names: Vec<(usize, &str)> =
            list.lines().filter_map(|name| Some((hash(name.as_bytes())?, name))).collect();
        names.sort_unstable();
        let mut firsts = vec![0_u16; (1 << HASH_BITS) + 1];
        for (hash, _) in &names {
            if let Some(next) = firsts.get_mut(hash + 1) {
                *next += 1;
            }
        }
        let mut before = 0;
        for first in &mut firsts {
            before += *first;
            *first = before;
        }
        Self { names: names.into_iter().map(|(_, name)| name).collect(), firsts }
    }

    fn has(&self, text: &[u8]) -> bool {
        let names = hash(text).and_then(|hash| {
            let (first, end) = (self.firsts.get(hash)?, self.firsts.get(hash + 1)?);
            self.names.get(usize::from(*first)..usize::from(*end))
        });
        names.is_some_and(|names| names.iter().any(|name| starts_with(text, name)))
    }
}

/// A multiplicative hash of a text's first three characters, in lower case.
fn hash(text: &[u8]) -> Option<usize> {
    let [a, b, c] = text.first_chunk::<3>()?.map(|byte| byte.to_ascii_lowercase());
    let hash = u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9e37_79b1) >> (u32::BITS - HASH_BITS);
    usize::try_from(hash).ok()
}

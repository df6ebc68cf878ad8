//! The recipes of docs/INTEGRATING.md, and values as people really send them: filled in, left in, misspelt, encoded again, or
//! with a word for "none".

#![allow(dead_code, reason = "no test binary uses all of it")]

use crate::random::Random;

const ADDRESS: &str = "https://track.example.com/v2/tracking/conversion?";

/// Other systems' marks around a macro's name.
const MARKS: [(&str, &str); 13] = [
    ("{", "}"),
    ("{{", "}}"),
    ("${", "}"),
    ("[", "]"),
    ("[[", "]]"),
    ("%", "%"),
    ("%%", "%%"),
    ("__", "__"),
    ("<", ">"),
    ("#", "#"),
    ("$", ""),
    ("::", "::"),
    ("@", "@"),
];
/// Words that no user and no goal is called.
const NOBODY: [&str; 8] = ["null", "undefined", "none", "(null)", "NULL", "Undefined", "None", "(NULL)"];
/// Words for "none" that could be somebody's.
const WORDS: [&str; 7] = ["nil", "N/A", "n/a", "na", "NA", "-", "unknown"];
/// A recipe: the partner, what goes into an offer's `target_url`, and the query of its postback.
pub fn recipes() -> Vec<(String, String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guides/RECIPES.md");
    let document = std::fs::read_to_string(path).unwrap();
    let recipes = document.lines().filter_map(|line| {
        let (partner, rest) = line.strip_prefix("| ")?.split_once(" | `")?;
        let (target, rest) = rest.split_once("` | `")?;
        let (postback, _) = rest.split_once('`')?;
        let query = postback.strip_prefix(ADDRESS)?;
        Some((partner.to_owned(), target.to_owned(), query.to_owned()))
    });
    recipes.collect()
}

/// What became of a value on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    Filled,
    Macro,
    Nobody,
    Word,
    Zero,
    Empty,
}

impl Fate {
    pub fn any(random: &mut Random) -> Self {
        match random.below(14) {
            0..=7 => Self::Filled,
            8..=9 => Self::Macro,
            10 => Self::Nobody,
            11 => Self::Word,
            12 => Self::Zero,
            _ => Self::Empty,
        }
    }
}

fn encode(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}

fn maybe_encode(random: &mut Random, text: &str) -> String {
    // A `#` and a `&` end a value in any URL.
    if random.below(2) == 0 || text.contains(['#', '&']) { encode(text) } else { text.to_owned() }
}

/// A macro that was left in: as the recipe writes it, or in another spelling, encoded up to twice.
fn left_in(random: &mut Random, written: &str) -> String {
    let name = written.trim_start_matches(['{', '$', '(']);
    let name = name.split(|char: char| !char.is_ascii_alphanumeric() && !"_.-".contains(char));
    let name = name.into_iter().next().unwrap();
    let text = if random.below(3) == 0 {
        written.to_owned()
    } else {
        let (open, close) = MARKS[random.below(MARKS.len())];
        let upper = open == "__" || random.below(2) == 0;
        let name = if upper { name.to_uppercase() } else { name.to_owned() };
        format!("{open}{name}{close}")
    };
    match random.below(4) {
        0 => encode(&encode(&text)),
        _ => maybe_encode(random, &text),
    }
}

/// The text of a value, where `filled` is the right one and `written` the macro in its place.
pub fn text(random: &mut Random, fate: Fate, filled: &str, written: &str) -> String {
    match fate {
        Fate::Filled => maybe_encode(random, filled),
        Fate::Macro => left_in(random, written),
        Fate::Nobody => encode(NOBODY[random.below(NOBODY.len())]),
        Fate::Word => encode(WORDS[random.below(WORDS.len())]),
        Fate::Zero => "0".to_owned(),
        Fate::Empty => String::new(),
    }
}

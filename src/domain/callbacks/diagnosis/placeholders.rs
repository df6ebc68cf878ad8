//! Finds placeholders of other networks in a callback URL: texts such as `[user_id]`, `$user_id` or `%257Buser_id%257D`, which
//! are sent as they are.

use percent_encoding::percent_decode_str;

use crate::model::url_template::{self, Piece};

/// The most that are reported of a URL.
const MAX: usize = 10;
/// The longest name of a placeholder, in characters.
const MAX_NAME: usize = 64;

/// Marks before and after a name. The longer ones come first, since they contain others.
const MARKS: [(&str, &str); 7] = [
    ("${", "}"),
    ("{", "}"),
    ("[", "]"),
    ("<", ">"),
    ("__", "__"),
    ("%", "%"),
    ("$", ""),
];

/// The placeholders in the path and the query of a URL with its macros in braces. Names of parameters are not read:
/// `ids[a]=1` is one of many ways to write a list.
pub fn find(rest: &str) -> Vec<String> {
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let values = query
        .split('&')
        .map(|parameter| parameter.split_once('=').map_or("", |(_, value)| value));
    let mut found = Vec::new();
    for text in path.split('/').chain(values) {
        for placeholder in of_part(text) {
            if found.len() < MAX && !found.contains(&placeholder) {
                found.push(placeholder);
            }
        }
    }
    found
}

/// The placeholders in a segment of a path or a value of a parameter, beside Signpost's macros.
fn of_part(part: &str) -> Vec<String> {
    let pieces: Vec<_> = url_template::pieces(part).filter_map(Result::ok).collect();
    let mut found = Vec::new();
    for (at, piece) in (0_usize..).zip(&pieces) {
        let Piece::Text(text) = piece else { continue };
        let is_before_macro = matches!(pieces.get(at.saturating_add(1)), Some(Piece::Macro(_)));
        if text.ends_with('$')
            && is_before_macro
            && let Some(Piece::Macro(name)) = pieces.get(at.saturating_add(1))
        {
            // The dollar would be sent before the value.
            found.push(format!("${{{name}}}"));
        }
        // Encoded twice, braces survive the first decoding.
        let decoded = decode(&decode(text));
        found.extend(first_in(&decoded).or_else(|| first_in(text)));
    }
    found
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The first placeholder in a text.
fn first_in(text: &str) -> Option<String> {
    MARKS.iter().find_map(|(open, close)| {
        text.match_indices(open).find_map(|(at, _)| {
            let after = text.get(at.checked_add(open.len())?..)?;
            let length = name_length(after, *close == "__");
            let name = after.get(..length)?;
            let rest = after.get(length..)?;
            let is_escape = *open == "%" && is_escape(after);
            // A dollar amid a word is no mark.
            let stands_alone = !close.is_empty()
                || text
                    .get(..at)
                    .is_some_and(|before| !before.ends_with(|last: char| last.is_ascii_alphanumeric()));
            (length > 0 && rest.starts_with(close) && !is_escape && stands_alone)
                .then(|| format!("{open}{name}{close}"))
        })
    })
}

/// The length of the name that a text begins with: a letter, then letters, digits and `_ . -`. One between underscores
/// ends before two of them.
fn name_length(text: &str, ends_at_underscores: bool) -> usize {
    if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return 0;
    }
    let is_name = |character: char| character.is_ascii_alphanumeric() || "_.-".contains(character);
    let length = text.find(|character| !is_name(character)).unwrap_or(text.len());
    let length = match text.find("__") {
        Some(end) if ends_at_underscores => length.min(end),
        _ => length,
    };
    if length > MAX_NAME { 0 } else { length }
}

/// Whether a text after a `%` is that of an encoded byte.
fn is_escape(after: &str) -> bool {
    after.len() >= 2 && after.bytes().take(2).all(|byte| byte.is_ascii_hexdigit())
}

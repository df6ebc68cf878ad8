//! Recognizes what senders write in place of a value: unreplaced macros in all spellings of ad tech, words for "none",
//! other spellings of known names, and invisible characters (docs/DECISIONS.md, "Placeholders").
//!
//! [`is_macro`] recognizes a macro only if it is the whole value, so `A-1`, `$5` and `me@x.example` are values. Clicks
//! are checked on the hot path, where the first byte decides for nearly every value.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

type Fits = fn(&str) -> bool;
/// The marks before and after a macro's name, and a check of the text between them. If two opening marks begin alike,
/// the longer one comes first.
const SPELLINGS: [(&str, &str, Fits); 13] = [
    ("{{", "}}", is_any),
    ("${", "}", is_any),
    ("{", "}", is_any),
    ("[[", "]]", has_letter),
    ("[", "]", has_letter),
    ("%%", "%%", is_name),
    ("%", "%", is_name),
    ("__", "__", is_upper_or_known),
    ("<", ">", is_name),
    ("#", "#", is_name),
    ("::", "::", is_name),
    ("@", "@", is_name),
    ("$", "", is_name),
];

/// The names of Signpost's macros and parameters. Between `__` marks, only these names may be in lower case.
const NAMES: &str = "user_id value payout currency transaction_id offer_id goal_id goal_value app_id gaid idfa c1 c2 c3 \
    c4 c5 country click_ts conversion_ts status original_transaction_id pending_value reason ts click_id goal txn token \
    rid app placement your_user_id gaid_for_android idfa_for_ios sig exp clickid tid cid subid aff_sub";

/// Words for "none", in any case.
const NONE: &str = "null undefined none nil n/a na - (null) unknown";
/// The words for "none" that are never the name of a user or a goal.
const NOBODY: &str = "null undefined none (null)";

/// Maximum bytes of a placeholder's name.
const MAX_NAME: usize = 64;

/// True if the whole value is an unreplaced macro. The macro may be percent-encoded once more.
pub fn is_macro(value: &str) -> bool {
    let Some(b'{' | b'[' | b'%' | b'_' | b'<' | b'#' | b':' | b'@' | b'$') = value.bytes().next() else {
        return false;
    };
    is_spelled(value) || (value.contains('%') && is_spelled(&decode_lossy(value)))
}

/// True if a value is a macro or contains one in braces. Other marks are too common within values.
pub fn has_macro(value: &str) -> bool {
    is_macro(value) || value.split_once('{').is_some_and(|(_, rest)| rest.contains('}'))
}

/// True if a value is a macro or contains one in any spelling: `order-[ORDER_ID]` would be the same in all postbacks.
/// Inside a value, a name between marks counts only if it is known or the text has `{` or `_`. So `[EU]-1001` is a
/// value.
pub fn has_any_macro(value: &str) -> bool {
    let is_macro = |found: &Placeholder| found.text.contains(['{', '_']) || is_known(&found.name);
    has_macro(value) || in_part(value).iter().any(is_macro)
}

/// True if a value is a word for "none".
pub fn is_none(value: &str) -> bool {
    is_in(NONE, value)
}

/// True if a value is a word for "none" that is never the name of a user or a goal.
pub fn is_nobody(value: &str) -> bool {
    is_in(NOBODY, value)
}

/// True if a device id means "none": it is a word for "none", a macro, or all zeros, which devices report for users who
/// declined tracking.
pub fn is_no_device(id: &str) -> bool {
    id.bytes().all(|byte| matches!(byte, b'0' | b'-')) || is_none(id) || is_macro(id)
}

fn is_in(words: &str, value: &str) -> bool {
    // A quick check first: no word is longer than `undefined`, but most values are longer.
    value.len() <= 9 && words.split(' ').any(|word| word.eq_ignore_ascii_case(value))
}

fn is_spelled(value: &str) -> bool {
    SPELLINGS.iter().any(|(open, close, fits)| {
        let inner = value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        inner.is_some_and(fits)
    })
}

/// Accepts every text, because real values have no braces.
fn is_any(_: &str) -> bool {
    true
}

/// Requires a letter: macros such as `[%GOAL:ID%]` have one, and a list of numbers in brackets has none.
fn has_letter(inner: &str) -> bool {
    inner.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_name(inner: &str) -> bool {
    !inner.is_empty() && name_length(inner) == inner.len()
}

/// Refuses unknown names in lower case, because a user may be called `__bob__`.
fn is_upper_or_known(inner: &str) -> bool {
    is_name(inner) && (!inner.bytes().any(|byte| byte.is_ascii_lowercase()) || is_known(inner))
}

fn is_known(name: &str) -> bool {
    known_name(name, &NAMES.split_ascii_whitespace().collect::<Vec<_>>()).is_some()
}

/// The length of the name that a text begins with: a letter, then letters, digits and `_ . -`. It is 0 if there is no
/// name, or if the name is longer than [`MAX_NAME`].
fn name_length(text: &str) -> usize {
    if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return 0;
    }
    let is_name = |character: char| character.is_ascii_alphanumeric() || "_.-".contains(character);
    let length = text.find(|character| !is_name(character)).unwrap_or(text.len());
    if length > MAX_NAME { 0 } else { length }
}

/// The known name that a sender means. Case, `_` and `-` are ignored. If several known names match, such as `click_id`
/// and `clickid`, the one that differs least is returned.
pub fn known_name<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    fn letters(name: &str, skips: bool) -> impl Iterator<Item = u8> {
        name.bytes()
            .map(|byte| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() })
            .filter(move |byte| !skips || *byte != b'_')
    }
    let alike = |skips| {
        let mut known = known.iter().copied();
        known.find(|known| letters(known, skips).eq(letters(name, skips)))
    };
    alike(false).or_else(|| alike(true))
}

/// True for white space and invisible characters that do not belong to a value when they surround it.
pub fn is_blank(char: char) -> bool {
    char.is_whitespace() || (is_invisible(char) && !char.is_control())
}

/// A parameter's name without `amp;`, which is left over when `&amp;` was copied from a page's source.
pub fn without_amp(name: &str) -> &str {
    name.strip_prefix("amp;").unwrap_or(name)
}

/// A text without surrounding blanks.
pub fn trim(text: Cow<'_, str>, is_blank: fn(char) -> bool) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(is_blank)),
        Cow::Owned(text) => Cow::Owned(text.trim_matches(is_blank).to_owned()),
    }
}

/// A placeholder in a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// The placeholder with its marks, decoded.
    pub text: String,
    name: String,
}

/// The placeholders in the path, the query and the fragment of a URL, except Signpost's macros in braces. Names of
/// parameters are not searched: `ids[a]=1` is one of many ways to write a list.
pub fn in_url(rest: &str) -> Vec<Placeholder> {
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let values = query.split('&').map(|parameter| parameter.split_once('=').map_or(parameter, |(_, value)| value));
    path.split('/').chain(values).flat_map(in_part).collect()
}

/// The placeholders in a path segment or a parameter's value. The text is decoded twice, because marks that were
/// encoded twice survive the first decoding.
fn in_part(part: &str) -> Vec<Placeholder> {
    let (mut found, mut rest) = in_text(part);
    found.retain(|placeholder| placeholder.text != right(&placeholder.name));
    for _ in 0..2 {
        let (deeper, left) = in_text(&decode_lossy(&rest));
        found.extend(deeper);
        rest = left;
    }
    found
}

/// The placeholders in a text, and the text without them.
fn in_text(text: &str) -> (Vec<Placeholder>, String) {
    let (mut found, mut left) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (char, length) = match at_start(rest, left.chars().next_back()) {
            None => (first, first.len_utf8()),
            Some(placeholder) => {
                let length = placeholder.text.len();
                found.push(placeholder);
                (' ', length)
            }
        };
        left.push(char);
        rest = rest.get(length..).unwrap_or_default();
    }
    (found, left)
}

/// The placeholder that a text begins with; `None` if it begins with none. `before` is the character before the text.
fn at_start(text: &str, before: Option<char>) -> Option<Placeholder> {
    SPELLINGS.iter().find_map(|(open, close, fits)| {
        let after = text.strip_prefix(open)?;
        // A name may contain the mark `__`, but no other mark, so only this mark can end a name early.
        let end = after.find(close).filter(|_| *close == "__");
        let (name, rest) = after.split_at_checked(name_length(after).min(end.unwrap_or(MAX_NAME)))?;
        let is_marked = rest.starts_with(close) && is_name(name) && fits(name);
        // `%ab%cd` is two encoded bytes, not a macro.
        let is_percent = *open != "%" || !begins_with_hex(name) || !begins_with_hex(rest.get(1..)?);
        // These marks are common within words: `US$abc`, `a@b@c`.
        let stands_alone = !matches!(*open, "$" | "@" | "#" | "::" | "__")
            || before.is_none_or(|before| !before.is_ascii_alphanumeric());
        (is_marked && is_percent && stands_alone)
            .then(|| Placeholder { text: format!("{open}{name}{close}"), name: name.to_owned() })
    })
}

/// True if a text begins with two hexadecimal digits, as after a percent sign.
pub fn begins_with_hex(text: &str) -> bool {
    matches!(text.as_bytes(), [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

/// Percent-decodes a text. Invalid encodings are not errors.
pub fn decode_lossy(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// A macro as Signpost's templates spell it.
fn right(name: &str) -> String {
    format!("{{{name}}}")
}

/// The problem with a macro in braces that no template knows, as a phrase to put after the field's name.
pub fn unknown_macro(name: &str, known: &[&str]) -> String {
    match known_name(name, known) {
        Some(meant) => format!("has an unknown macro {{{name}}}: write {{{meant}}}"),
        None => format!("has an unknown macro {{{name}}}"),
    }
}

/// Checks the path, query and fragment of a template: no known macro in the spelling of another system, no remains of a
/// page's source or an editor, and no broken encoding.
///
/// # Errors
/// The problem, as a phrase to put after the field's name.
pub fn check_template(rest: &str, known: &[&str]) -> Result<(), String> {
    for Placeholder { text, name } in in_url(rest) {
        let Some(right) = known_name(&name, known).map(right) else {
            continue;
        };
        return Err(if text == right {
            format!("has {right} encoded more than once: write {right}")
        } else {
            format!("has a macro in the spelling of another system: write {right} instead of {text}")
        });
    }
    let lower = rest.to_ascii_lowercase();
    if let Some(found) = ["&amp;", "&#38;", "&#x26;"].into_iter().find(|found| lower.contains(found)) {
        return Err(format!("has the HTML escape {found}: write & instead"));
    }
    // Joiners and variation selectors are legitimate in emoji and in some scripts. After an ASCII character they do
    // nothing and stay invisible.
    let is_joiner = |char| matches!(char, '\u{34f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    let hidden = |text: &str| {
        let mut chars = [' '].into_iter().chain(text.chars()).zip(text.chars());
        let hidden = chars.find(|(before, char)| {
            (is_invisible(*char) && !char.is_control()) || (before.is_ascii() && is_joiner(*char))
        });
        hidden.map(|(_, char)| char)
    };
    if let Some(hidden) = hidden(rest).or_else(|| hidden(&decode_lossy(rest))) {
        return Err(format!("has the invisible character U+{:04X}: remove it", u32::from(hidden)));
    }
    match rest.split('%').skip(1).find(|after| !begins_with_hex(after)) {
        Some(after) => Err(format!(
            "has %{}, which is not percent-encoding: write %25 for a percent sign",
            after.chars().take(2).collect::<String>()
        )),
        None => Ok(()),
    }
}

/// True if a character can break a line, is invisible, or changes the direction of the text around it. A name with such
/// a character could imitate another name, and a URL with one leads elsewhere.
pub fn is_invisible(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}' // soft hyphen
            | '\u{61c}' // Arabic letter mark
            | '\u{115f}'..='\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
            | '\u{180e}' // Mongolian vowel separator
            | '\u{200b}' // zero-width space
            | '\u{200e}'..='\u{200f}' // left-to-right and right-to-left marks
            | '\u{2028}'..='\u{202e}' // separators of lines and paragraphs, embeddings, overrides
            | '\u{2060}'..='\u{206f}' // word joiner, isolates, deprecated controls
            | '\u{2800}' // blank Braille pattern
            | '\u{feff}' // byte order mark
            | '\u{fff9}'..='\u{fffb}' // interlinear annotations
            | '\u{e0000}'..='\u{e007f}' // tags
        )
}

#[cfg(test)]
mod tests;

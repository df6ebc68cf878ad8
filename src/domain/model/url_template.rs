//! URLs with macros, such as `https://t.example.com/c?id={click_id}`: splitting of text and macros, encoding of values,
//! and detection of characters and values that could change the URL's host or path. Used for the targets of clicks and
//! for callbacks.

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that a browser encodes anywhere in a path, query or fragment, except `{` and `}`, which mark macros.
pub const NOT_IN_A_URL: &AsciiSet = &CONTROLS.add(b'"').add(b'<').add(b'>').add(b'^').add(b'`').add(b'|');

/// All but RFC 3986's unreserved characters. A value that is encoded with this set can neither end its part of the URL
/// nor start another macro. Only `.` and `..` need another check, because they could be a whole path segment: see
/// [`could_be_dots`].
const NOT_IN_A_VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Refuses characters that URL parsers drop or convert without an error: a browser reads a backslash as a slash and
/// drops line breaks, so the host or path that is called could differ from the one that was checked. The error is a
/// phrase to put after the field's name.
pub fn check_characters(url: &str) -> Result<(), &'static str> {
    let is_refused = |character: char| character.is_control() || character.is_whitespace() || character == '\\';
    if url.contains(is_refused) {
        return Err("must not contain spaces, control characters or backslashes");
    }
    Ok(())
}

/// A part of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Text between macros; may be empty.
    Text(&'t str),
    /// The name between the braces.
    Macro(&'t str),
}

const STRAY_BRACE: &str = "has a { or } that is not part of a macro";

/// Splits a template at its macros. Yields a text, then a macro and a text in turn; a text may be empty. A stray brace
/// yields an error, which is a phrase to put after the field's name.
pub fn pieces(template: &str) -> impl Iterator<Item = Result<Piece<'_>, &'static str>> {
    let text = |text: &'_ str| (!text.contains('}')).then_some(()).ok_or(STRAY_BRACE);
    template.split('{').enumerate().flat_map(move |(index, part)| {
        let (name, after) = match part.split_once('}') {
            _ if index == 0 => (None, part),
            Some((name, after)) => (Some(Ok(Piece::Macro(name))), after),
            None => (Some(Err(STRAY_BRACE)), ""),
        };
        name.into_iter().chain([text(after).map(|()| Piece::Text(after))])
    })
}

/// Appends a macro's value, percent-encoded by RFC 3986.
pub fn append_value(value: &str, out: &mut String) {
    // Usually nothing needs encoding. In a click's values, only `@` does.
    if value.bytes().all(is_unreserved) {
        out.push_str(value);
    } else {
        out.extend(utf8_percent_encode(value, NOT_IN_A_VALUE));
    }
}

/// RFC 3986's unreserved characters, the complement of [`NOT_IN_A_VALUE`].
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// True if a value could turn a path segment into `.` or `..`, plain or encoded. URL parsers resolve such a segment as
/// a step in the path. `free` lists the macros whose value could be dots, and `absent` lists the macros whose value
/// could be empty.
pub fn could_be_dots(segment: &str, free: &[&str], absent: &[&str]) -> bool {
    let without =
        |segment: &str, macros: &[&str]| macros.iter().fold(segment.to_owned(), |rest, name| rest.replace(name, ""));
    let fixed = without(segment, free);
    let has_free = fixed.len() < segment.len();
    let rest = without(&fixed, absent);
    let has_absent = rest.len() < fixed.len();
    // An empty segment is not a step in the path.
    (has_free || (has_absent && !rest.is_empty())) && is_dots(&rest)
}

/// True if a text consists of dots only. A dot may be plain or `%2e`. A prefix of `%2e` also counts, because a value
/// could complete it.
fn is_dots(mut rest: &str) -> bool {
    while !rest.is_empty() {
        let after = rest.strip_prefix('.').or_else(|| {
            let encoded = rest.strip_prefix('%')?;
            let encoded = encoded.strip_prefix('2').unwrap_or(encoded);
            Some(encoded.strip_prefix(['e', 'E']).unwrap_or(encoded))
        });
        let Some(after) = after else { return false };
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_split_at_its_macros() {
        use Piece::{Macro, Text};
        let split = |template| pieces(template).collect::<Result<Vec<_>, _>>();
        assert_eq!(split(""), Ok(vec![Text("")]));
        assert_eq!(split("/a?b"), Ok(vec![Text("/a?b")]));
        assert_eq!(split("{a}"), Ok(vec![Text(""), Macro("a"), Text("")]));
        assert_eq!(split("x{a}{}y"), Ok(vec![Text("x"), Macro("a"), Text(""), Macro(""), Text("y")]));
        for stray in ["}", "a}b", "{", "{a", "{a}}", "{a}b}c", "{a{b}"] {
            assert_eq!(split(stray), Err(STRAY_BRACE), "{stray}");
        }
    }

    #[test]
    fn a_value_is_encoded_unless_all_of_it_is_unreserved() {
        let encoded = |value| {
            let mut out = String::from("v=");
            append_value(value, &mut out);
            out
        };
        assert_eq!(encoded("Az09-._~"), "v=Az09-._~");
        assert_eq!(encoded("a&b=c/{d} é"), "v=a%26b%3Dc%2F%7Bd%7D%20%C3%A9");
    }
}

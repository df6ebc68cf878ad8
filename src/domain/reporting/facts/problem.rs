//! The problem of a line, as a message for the operator who wrote it.

use std::borrow::Cow;

/// Maximum characters of the input that a message quotes.
const MAX_QUOTED: usize = 40;

/// The reason why a line is refused.
#[derive(Debug)]
pub struct Problem {
    /// The wrong column or member; `None` if the whole line is wrong.
    pub column: Option<Cow<'static, str>>,
    pub message: String,
}

impl Problem {
    pub fn of_line(message: impl Into<String>) -> Self {
        Self { column: None, message: message.into() }
    }

    pub fn of_column(column: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { column: Some(column.into()), message: message.into() }
    }
}

/// A text of the input as a message quotes it: escaped, truncated and in quotes.
pub fn quoted(text: &str) -> String {
    let (head, more) = head(text);
    format!("{head:?}{more}")
}

/// A name or a JSON value of the input: escaped and truncated, without quotes.
pub fn bare(text: &str) -> String {
    let (head, more) = head(text);
    // Without quotes around the text, a quote inside needs no escape.
    let escaped = head.escape_debug().to_string().replace("\\\"", "\"");
    format!("{escaped}{more}")
}

fn head(text: &str) -> (&str, &'static str) {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => (text.get(..end).unwrap_or(text), "…"),
        None => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_input_is_escaped_and_truncated() {
        assert_eq!(quoted("a\"\n\u{202e}"), r#""a\"\n\u{202e}""#);
        assert_eq!(bare("\"a\"\u{feff}"), "\"a\"\\u{feff}");
        let long = "é".repeat(41);
        assert_eq!(quoted(&long), format!("\"{}\"…", "é".repeat(40)));
        assert_eq!(bare(&"é".repeat(40)), "é".repeat(40));
    }
}

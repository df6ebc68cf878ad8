//! What is wrong with a line, in words for the operator who wrote it.

use std::borrow::Cow;

/// The most that is shown of what was found, in characters.
const SHOWN: usize = 40;

/// Why a line is refused.
#[derive(Debug)]
pub struct Problem {
    /// The column or member that is wrong, if it is one.
    pub column: Option<Cow<'static, str>>,
    pub message: String,
}

impl Problem {
    pub fn of_line(message: impl Into<String>) -> Self {
        Self {
            column: None,
            message: message.into(),
        }
    }

    pub fn of_column(column: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            column: Some(column.into()),
            message: message.into(),
        }
    }
}

/// A text that was found, as a message quotes it.
pub fn quoted(text: &str) -> String {
    let (head, more) = head(text);
    format!("{head:?}{more}")
}

/// A name or a JSON value that was found, without quotes around it.
pub fn bare(text: &str) -> String {
    let (head, more) = head(text);
    // A quote is nothing to escape where none is put around.
    let escaped = head.escape_debug().to_string().replace("\\\"", "\"");
    format!("{escaped}{more}")
}

fn head(text: &str) -> (&str, &'static str) {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => (text.get(..end).unwrap_or(text), "…"),
        None => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_escaped_and_cut() {
        assert_eq!(quoted("a\"\n\u{202e}"), r#""a\"\n\u{202e}""#);
        assert_eq!(bare("\"a\"\u{feff}"), "\"a\"\\u{feff}");
        let long = "é".repeat(41);
        assert_eq!(quoted(&long), format!("\"{}\"…", "é".repeat(40)));
        assert_eq!(bare(&"é".repeat(40)), "é".repeat(40));
    }
}

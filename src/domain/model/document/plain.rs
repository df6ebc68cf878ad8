//! Rewrites serde's messages about a document in plain words.

/// Maximum characters of a value that a message shows.
const MAX_SHOWN: usize = 60;

/// Rewrites a message in plain words. A message that serde did not write stays unchanged.
pub fn words(problem: &str) -> String {
    in_words(problem).unwrap_or_else(|| problem.to_owned())
}

fn in_words(problem: &str) -> Option<String> {
    if let Some(name) = problem.strip_prefix("missing field ") {
        return Some(format!("{} is missing", bare(name)));
    }
    if let Some(name) = problem.strip_prefix("duplicate field ") {
        return Some(format!("{} is given twice", bare(name)));
    }
    let (found, expected) = problem.rsplit_once(", expected ")?;
    if let Some(name) = found.strip_prefix("unknown field ") {
        let fields = expected.trim_start_matches("one of ").replace('`', "");
        return Some(format!("unknown field {}; the fields are {fields}", bare(name)));
    }
    if let Some(name) = found.strip_prefix("unknown variant ") {
        return Some(format!("must be {} (got {})", expected.replace('`', ""), bare(name)));
    }
    let found = found.strip_prefix("invalid type: ").or_else(|| found.strip_prefix("invalid value: "))?;
    Some(format!("must be {} (got {})", kind_of(expected)?, value_of(found)?))
}

/// A name without the backticks around it.
fn bare(name: &str) -> &str {
    name.strip_prefix('`').and_then(|name| name.strip_suffix('`')).unwrap_or(name)
}

/// Describes the kind of value that serde expected; `None` for an unknown description.
fn kind_of(expected: &str) -> Option<&'static str> {
    Some(match expected {
        "a string" | "string or map" | "variant identifier" => "a string",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        "f64" => "a number",
        "i64" => "a whole number from -9223372036854775808 to 9223372036854775807",
        "u64" => "a whole number from 0 to 18446744073709551615",
        "u32" => "a whole number from 0 to 4294967295",
        "u16" => "a whole number from 0 to 65535",
        "u8" => "a whole number from 0 to 255",
        other if other.starts_with("struct ") || other.starts_with("internally tagged enum ") => "an object",
        other if other.starts_with("enum ") => "a string",
        _ => return None,
    })
}

/// The value that serde found. A long string is cut.
fn value_of(found: &str) -> Option<String> {
    Some(match found.split(' ').next()? {
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        "null" => "null".to_owned(),
        "boolean" | "integer" | "number" | "floating" => found.rsplit(' ').next().map(bare)?.to_owned(),
        "string" => {
            let text = found.strip_prefix("string ")?;
            let shown: String = text.chars().take(MAX_SHOWN).collect();
            let more = if shown.len() < text.len() { "…" } else { "" };
            shown + more
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;
    use crate::model::document::problem;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only its messages count")]
    struct Given {
        name: String,
        #[serde(default)]
        active: bool,
        #[serde(default)]
        cap: u32,
        #[serde(default)]
        at: i64,
        #[serde(default)]
        usd: f64,
        #[serde(default)]
        kind: Option<Kind>,
        #[serde(default)]
        list: Vec<u8>,
        #[serde(default)]
        map: BTreeMap<String, u64>,
        #[serde(default)]
        inner: Option<Box<Given>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Game,
        Survey,
    }

    #[test]
    fn a_message_names_the_field_and_what_it_takes() {
        for (json, expected) in [
            ("{}", "name is missing"),
            (r#"{"name": "a", "name": "b"}"#, "name is given twice"),
            (
                r#"{"nam`, expected `e": 1}"#,
                "unknown field nam`, expected `e; the fields are name, active, cap, at, usd, kind, list, map, inner",
            ),
            (r#"{"kind": "film"}"#, "must be game or survey (got film)"),
            (r#"{"name": 5}"#, "must be a string (got 5)"),
            (r#"{"name": null}"#, "must be a string (got null)"),
            (r#"{"active": "yes"}"#, r#"must be true or false (got "yes")"#),
            (r#"{"usd": "1,50"}"#, r#"must be a number (got "1,50")"#),
            (r#"{"usd": true}"#, "must be a number (got true)"),
            (r#"{"cap": -1}"#, "must be a whole number from 0 to 4294967295 (got -1)"),
            (r#"{"cap": 1.5}"#, "must be a whole number from 0 to 4294967295 (got 1.5)"),
            (
                r#"{"at": 9223372036854775808}"#,
                "must be a whole number from -9223372036854775808 to 9223372036854775807 (got 9223372036854775808)",
            ),
            (r#"{"list": {}}"#, "must be a list (got an object)"),
            (r#"{"list": [256]}"#, "must be a whole number from 0 to 255 (got 256)"),
            (r#"{"map": []}"#, "must be an object (got a list)"),
            (r#"{"map": {"a": -1}}"#, "must be a whole number from 0 to 18446744073709551615 (got -1)"),
            (r#"{"inner": "x"}"#, r#"must be an object (got "x")"#),
        ] {
            let error = serde_json::from_str::<Given>(json).unwrap_err();
            assert_eq!(problem(&error), expected, "{json}: {error}");
        }
    }

    #[test]
    fn a_long_value_is_cut_off() {
        let json = format!(r#"{{"usd": "{}"}}"#, "é".repeat(500));
        let error = serde_json::from_str::<Given>(&json).unwrap_err();
        let shown = "é".repeat(MAX_SHOWN - 1);
        assert_eq!(problem(&error), format!(r#"must be a number (got "{shown}…)"#));
    }

    #[test]
    fn other_messages_stay_unchanged() {
        for message in ["must be an app id", "invalid length 3, expected a tuple", "", ", expected "] {
            assert_eq!(words(message), message);
        }
    }
}

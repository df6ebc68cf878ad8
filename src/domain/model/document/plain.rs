//! Puts serde's messages about a document into plain words.

/// The message in plain words. One that serde did not write stays as it is.
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
    if let Some(name) = problem
        .strip_prefix("unknown field ")
        .and_then(|text| text.strip_suffix(", there are no fields"))
    {
        return Some(format!("{} is not a field, there are none", bare(name)));
    }
    let (found, expected) = problem.rsplit_once(", expected ")?;
    if let Some(name) = found.strip_prefix("unknown field ") {
        return Some(format!(
            "{} is not a field, only {}",
            bare(name),
            choices(expected)
        ));
    }
    if let Some(name) = found.strip_prefix("unknown variant ") {
        return Some(format!("must be {}, not {}", choices(expected), bare(name)));
    }
    if let Some(kind) = found.strip_prefix("invalid type: ") {
        return Some(format!(
            "must be {}, not {}",
            kind_of(expected)?,
            found_kind(kind)?
        ));
    }
    let (_, value) = found.strip_prefix("invalid value: ")?.split_once(' ')?;
    Some(format!("must be {}, not {}", kind_of(expected)?, bare(value)))
}

/// A name without the marks around it.
fn bare(name: &str) -> &str {
    name.strip_prefix('`')
        .and_then(|name| name.strip_suffix('`'))
        .unwrap_or(name)
}

/// One of the names that there are.
fn choices(expected: &str) -> String {
    expected.replace('`', "")
}

/// The kind of value that a Rust type takes.
fn kind_of(expected: &str) -> Option<&'static str> {
    Some(match expected {
        "a string" | "string or map" | "variant identifier" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        "f64" => "a number",
        "i64" => "a whole number",
        "u64" => "a whole number from 0 on",
        "u32" => "a whole number from 0 to 4294967295",
        "u16" => "a whole number from 0 to 65535",
        "u8" => "a whole number from 0 to 255",
        other if other.starts_with("struct ") || other.starts_with("internally tagged enum ") => "an object",
        other if other.starts_with("enum ") => "a text",
        _ => return None,
    })
}

/// The kind of value that was found, without the value.
fn found_kind(found: &str) -> Option<&'static str> {
    Some(match found.split(' ').next()? {
        "null" => "null",
        "boolean" => "true or false",
        "integer" | "number" => "a number",
        "floating" => "a decimal",
        "string" | "character" => "a text",
        "sequence" => "a list",
        "map" => "an object",
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
                "nam`, expected `e is not a field, only one of name, active, cap, at, usd, kind, list, map, inner",
            ),
            (r#"{"kind": "film"}"#, "must be game or survey, not film"),
            (r#"{"name": 5}"#, "must be a text, not a number"),
            (r#"{"name": null}"#, "must be a text, not null"),
            (r#"{"active": "yes"}"#, "must be true or false, not a text"),
            (
                r#"{"cap": "secret"}"#,
                "must be a whole number from 0 to 4294967295, not a text",
            ),
            (
                r#"{"cap": -1}"#,
                "must be a whole number from 0 to 4294967295, not -1",
            ),
            (
                r#"{"cap": 1.5}"#,
                "must be a whole number from 0 to 4294967295, not a decimal",
            ),
            (r#"{"at": []}"#, "must be a whole number, not a list"),
            (r#"{"usd": true}"#, "must be a number, not true or false"),
            (r#"{"list": {}}"#, "must be a list, not an object"),
            (
                r#"{"list": [256]}"#,
                "must be a whole number from 0 to 255, not 256",
            ),
            (r#"{"map": []}"#, "must be an object, not a list"),
            (
                r#"{"map": {"a": -1}}"#,
                "must be a whole number from 0 on, not -1",
            ),
            (r#"{"inner": "x"}"#, "must be an object, not a text"),
        ] {
            let error = serde_json::from_str::<Given>(json).unwrap_err();
            assert_eq!(problem(&error), expected, "{json}: {error}");
        }
    }

    #[test]
    fn another_message_stays() {
        for message in [
            "must be an app id",
            "invalid length 3, expected a tuple",
            "",
            ", expected ",
        ] {
            assert_eq!(words(message), message);
        }
    }
}

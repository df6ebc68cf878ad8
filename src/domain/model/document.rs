//! Parses an operator's JSON into a validated resource. For every resource, unknown fields are refused and an error
//! names its field.

mod fields;
mod plain;
mod strict;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub use self::fields::names_of;
use self::strict::Strict;
use crate::model::{
    api_error::{ApiError, common},
    credentials,
    url_template::check_characters,
};

/// The answer to a field of the wrong type, form or range.
pub const INVALID_FIELD: ApiError = ApiError::new(400, "invalid_field", "a field has an invalid value");
/// The answer to a field that the resource does not have.
pub const UNKNOWN_FIELD: ApiError = ApiError::new(400, "unknown_field", "a field is unknown");

/// Identifies a version of a document by a prefix of its hash.
pub fn tag(document: &str) -> String {
    credentials::fingerprint(document)
}

/// Keeps the members of a stored document that `T` does not have: copies them from `stored` to its replacement
/// `document`. Newer code wrote those members and will read them again.
pub fn keep_unknown<T: DeserializeOwned>(stored: &str, mut document: String) -> String {
    let known = fields::names_of::<T>();
    let stored: Map<String, Value> = serde_json::from_str(stored).unwrap_or_default();
    for (name, value) in stored.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        if document.pop() == Some('}') {
            document.push_str(&format!(",{}:{value}}}", Value::from(name.as_str())));
        }
    }
    document
}

/// A field with an invalid value. `path` is like `goals[1].payout_usd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The place in the document, by names and indices.
    pub path: String,
    /// A phrase to put after the path: `must be …`.
    pub problem: String,
}

impl FieldError {
    /// An error at a path.
    pub fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }
}

impl From<FieldError> for ApiError {
    fn from(error: FieldError) -> Self {
        INVALID_FIELD.with_message(format!("{}: {}", error.path, error.problem))
    }
}

/// A resource that is sent as one JSON object.
pub trait Document: DeserializeOwned {
    /// Checks rules that types cannot express: lengths, ranges, and combinations of fields. Returns the first error. By
    /// default there are no such rules.
    fn check(&self) -> Result<(), FieldError> {
        Ok(())
    }

    /// Parses and checks a whole resource.
    fn from_json(text: &str) -> Result<Self, ApiError> {
        let document = Self::parse(text)?;
        document.check()?;
        Ok(document)
    }

    /// Parses a resource without [`Self::check`], for a caller that first completes it.
    fn parse(text: &str) -> Result<Self, ApiError> {
        if text.trim_start().starts_with('[') {
            return Err(common::INVALID_JSON.with_message("the body must be a JSON object"));
        }
        let mut json = serde_json::Deserializer::from_str(text);
        let document: Self = serde_path_to_error::deserialize(Strict(&mut json)).map_err(|error| {
            let path = error.path().to_string();
            refuse(&path, error.inner())
        })?;
        json.end().map_err(|error| common::INVALID_JSON.with_message(error.to_string()))?;
        Ok(document)
    }
}

fn refuse(path: &str, error: &serde_json::Error) -> ApiError {
    if !error.is_data() {
        return common::INVALID_JSON.with_message(error.to_string());
    }
    let text = error.to_string();
    let kind = if text.starts_with("missing field") {
        common::MISSING_FIELD
    } else if text.starts_with("unknown field") {
        UNKNOWN_FIELD
    } else {
        INVALID_FIELD
    };
    let problem = problem(error);
    match path {
        "." | "" => kind.with_message(problem),
        path => kind.with_message(format!("{path}: {problem}")),
    }
}

/// Rewrites a JSON error in plain words, without line and column, which are useless in a body on one line.
pub fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let problem = text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem);
    plain::words(problem)
}

/// Checks that a text has 1 to `max` characters, not all of them spaces.
pub fn check_text(path: &str, text: &str, max: usize) -> Result<(), FieldError> {
    if text.trim().is_empty() {
        return Err(FieldError::new(path, "must not be empty"));
    }
    check_length(path, text, max)
}

/// Checks that a text has at most `max` characters and no control characters except tabs and line ends.
pub fn check_length(path: &str, text: &str, max: usize) -> Result<(), FieldError> {
    if text.contains(|character: char| character.is_control() && !matches!(character, '\n' | '\r' | '\t')) {
        return Err(FieldError::new(path, "must not contain control characters"));
    }
    if text.chars().count() > max {
        return Err(FieldError::new(path, format!("must be at most {max} characters")));
    }
    Ok(())
}

/// Checks that a text is an absolute `http` or `https` URL without credentials, of at most 2,048 characters.
pub fn check_web_url(path: &str, text: &str) -> Result<(), FieldError> {
    check_text(path, text, 2_048)?;
    check_characters(text).map_err(|problem| FieldError::new(path, problem))?;
    let url = url::Url::parse(text).map_err(|error| FieldError::new(path, format!("is not a URL: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(FieldError::new(path, "must be an http or https URL"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(FieldError::new(path, "must not carry credentials"));
    }
    Ok(())
}

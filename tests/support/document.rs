//! Reads `openapi.yaml` for tests: follows references and compiles schemas.

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use origin::description::DESCRIPTION;

/// The document that Signpost serves.
pub fn document() -> Value {
    serde_json::from_str(DESCRIPTION).expect("JSON")
}

/// Follows references from a JSON Pointer. Returns the final pointer and its value.
pub fn resolved<'d>(document: &'d Value, location: &str) -> (String, &'d Value) {
    let found = document.pointer(location);
    let found = found.unwrap_or_else(|| panic!("nothing at {location}"));
    match found["$ref"].as_str().and_then(|target| target.strip_prefix('#')) {
        Some(target) => resolved(document, target),
        None => (location.to_owned(), found),
    }
}

/// Escapes a key for a JSON Pointer.
pub fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Compiles the schema at a JSON Pointer.
pub fn schema(document: &Value, location: &str) -> Validator {
    // A reference is a URI, which may not contain braces.
    let location = location.replace('{', "%7B").replace('}', "%7D");
    let schema = json!({
        "$ref": format!("#{location}"),
        "components": document["components"],
        "paths": document["paths"],
    });
    let options = jsonschema::options().with_draft(Draft::Draft202012);
    options
        .build(&schema)
        .unwrap_or_else(|error| panic!("{location}: {error}"))
}

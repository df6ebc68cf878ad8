//! `openapi.yaml` as tests read it: its references followed, its schemas ready to hold something against.

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use origin::description::DESCRIPTION;

/// The document that Signpost serves.
pub fn document() -> Value {
    serde_json::from_str(DESCRIPTION).expect("JSON")
}

/// Where something stands that a reference at this place, if there is one, leads to.
pub fn resolved<'d>(document: &'d Value, place: &str) -> (String, &'d Value) {
    let found = document.pointer(place);
    let found = found.unwrap_or_else(|| panic!("nothing at {place}"));
    match found["$ref"].as_str().and_then(|target| target.strip_prefix('#')) {
        Some(target) => resolved(document, target),
        None => (place.to_owned(), found),
    }
}

/// A path as a key of a JSON Pointer.
pub fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The schema that stands at a place.
pub fn schema(document: &Value, place: &str) -> Validator {
    // A reference is a URI, in which no brace may stand.
    let place = place.replace('{', "%7B").replace('}', "%7D");
    let schema = json!({
        "$ref": format!("#{place}"),
        "components": document["components"],
        "paths": document["paths"],
    });
    let options = jsonschema::options().with_draft(Draft::Draft202012);
    options
        .build(&schema)
        .unwrap_or_else(|error| panic!("{place}: {error}"))
}

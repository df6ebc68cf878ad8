//! Reads `openapi.yaml` and `openapi-dashboard.yaml` for tests: follows references and compiles schemas.

use std::collections::BTreeSet;

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use origin::http::description::DESCRIPTION;

const DASHBOARD: &str = include_str!("../../openapi-dashboard.yaml");
/// Begins a reference of the dashboard's document to a component of the served one.
const SERVED: &str = "openapi.yaml#";

/// The document that Signpost serves.
pub fn document() -> Value {
    serde_json::from_str(DESCRIPTION).expect("JSON")
}

/// The dashboard's document, with a copy of each component of the served document that it refers to, and with the paths
/// of the console that it names.
pub fn dashboard_document() -> Value {
    let served = document();
    let mut document: Value = yaml_serde::from_str(DASHBOARD).expect("YAML");
    add_console(&mut document);
    let mut wanted = Vec::new();
    localize(&mut document, SERVED, &mut wanted);
    let mut copied = BTreeSet::new();
    while let Some(location) = wanted.pop() {
        if !copied.insert(location.clone()) {
            continue;
        }
        let found = served.pointer(&location);
        let mut copy = found.unwrap_or_else(|| panic!("nothing at {SERVED}{location}")).clone();
        localize(&mut copy, "#", &mut wanted);
        let (kind, name) = location
            .strip_prefix("/components/")
            .and_then(|rest| rest.split_once('/'))
            .unwrap_or_else(|| panic!("{location} is no component"));
        let components = document["components"].as_object_mut().expect("components");
        let of_kind = components.entry(kind).or_insert_with(|| json!({}));
        let of_kind = of_kind.as_object_mut().expect("components of a kind");
        assert!(of_kind.insert(name.to_owned(), copy).is_none(), "both documents have {location}");
    }
    document
}

/// Adds the paths of `x-console`, each with the description of the dashboard's path that it names.
fn add_console(document: &mut Value) {
    let members = document.as_object_mut().expect("a document");
    let Some(Value::Object(console)) = members.remove("x-console") else {
        panic!("no x-console");
    };
    for (path, described) in console {
        let described = described.as_str().expect("a path");
        let mut item = document["paths"][described].clone();
        let methods = item.as_object_mut().unwrap_or_else(|| panic!("no path {described}"));
        for operation in methods.values_mut() {
            if let Some(id) = operation.get("operationId").and_then(Value::as_str) {
                operation["operationId"] = json!(format!("{id} at {path}"));
            }
        }
        document["paths"][path] = item;
    }
}

/// Makes the references that begin with `prefix` local, and collects where they lead.
fn localize(value: &mut Value, prefix: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && let Some(location) = target.strip_prefix(prefix)
            {
                found.push(location.to_owned());
                *target = format!("#{location}");
            }
            members.values_mut().for_each(|member| localize(member, prefix, found));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| localize(item, prefix, found)),
        _ => {}
    }
}

/// The methods that a path of a document may have. Other members of a path are `parameters` and `servers`.
pub const METHODS: [&str; 6] = ["get", "head", "post", "put", "patch", "delete"];

/// The operations of a path: each method, and what the document says about it.
pub fn methods(item: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = item.as_object().expect("a path").iter();
    members.filter(|(key, _)| METHODS.contains(&key.as_str())).map(|(method, operation)| (method.as_str(), operation))
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
        "webhooks": document["webhooks"],
    });
    let options = jsonschema::options().with_draft(Draft::Draft202012);
    options.build(&schema).unwrap_or_else(|error| panic!("{location}: {error}"))
}

//! The examples of the API documents: each request and answer body has one, and all conform to their schemas.

use serde_json::Value;

use crate::{
    document::{dashboard_document, document, escaped, methods, resolved, schema},
    openapi::assert_valid,
};

#[test]
fn each_body_has_an_example_and_each_example_is_as_its_schema_asks() {
    let (served, dashboard) = (document(), dashboard_document());
    let mut without = Vec::new();
    let seen = check(&served, "paths", &mut without)
        + check(&served, "webhooks", &mut without)
        + check(&dashboard, "paths", &mut without);
    assert!(without.is_empty(), "no example: {without:#?}");
    assert!(seen > 300, "{seen}");
}

/// The tests make publishers, offers and people whose names mean nothing to a reader.
#[test]
fn no_example_has_a_name_that_only_tests_use() {
    let of_tests =
        ["chaos", "Mallory", "ureq/", "t.signpost.example", "\"cb-", "_cb-", "\"conv-", "-caps", "seen-open", "hammer"];
    for file in ["openapi.yaml", "openapi-dashboard.yaml"] {
        let text = crate::read(file);
        for name in of_tests {
            assert!(!text.contains(name), "{file}: {name}");
        }
    }
}

/// Checks every example of an operation's parameters, request bodies and answers. Returns their number, and notes the bodies
/// that have none.
fn check(document: &Value, group: &str, without: &mut Vec<String>) -> usize {
    let mut seen = 0;
    for (path, item) in document[group].as_object().expect("paths") {
        let at = format!("/{group}/{}", escaped(path));
        seen += check_parameters(document, &at, item);
        for (method, operation) in methods(item) {
            let at = format!("{at}/{method}");
            seen += check_parameters(document, &at, operation);
            let mut bodies = Vec::new();
            if operation.get("requestBody").is_some() {
                bodies.push(format!("{at}/requestBody"));
            }
            let answers = operation["responses"].as_object().expect("answers").keys();
            let successes = answers.filter(|status| status.starts_with('2'));
            bodies.extend(successes.map(|status| format!("{at}/responses/{status}")));
            for body in bodies {
                let (body_at, described) = resolved(document, &body);
                for media_type in described["content"].as_object().into_iter().flat_map(|types| types.keys()) {
                    let found = check_place(document, &format!("{body_at}/content/{}", escaped(media_type)));
                    if found == 0 {
                        without.push(format!("{body} {media_type}"));
                    }
                    seen += found;
                }
            }
        }
    }
    seen
}

fn check_parameters(document: &Value, at: &str, owner: &Value) -> usize {
    let count = owner["parameters"].as_array().map_or(0, Vec::len);
    (0..count)
        .map(|number| {
            let (at, parameter) = resolved(document, &format!("{at}/parameters/{number}"));
            // Some parameters are texts of JSON.
            if let Some(text) = parameter["example"].as_str()
                && parameter["schema"].get("contentSchema").is_some()
            {
                let content = schema(document, &format!("{at}/schema/contentSchema"));
                assert_valid(&content, &serde_json::from_str(text).expect("JSON"));
            }
            check_place(document, &at)
        })
        .sum()
}

/// Checks the examples beside a schema. Returns their number.
fn check_place(document: &Value, at: &str) -> usize {
    let about = document.pointer(at).expect("a place");
    let single = about.get("example").into_iter();
    let named = about.get("examples").and_then(Value::as_object);
    let named = named.into_iter().flat_map(|examples| examples.values());
    let mut seen = 0;
    for example in single.chain(named.map(|example| &example["value"])) {
        let (schema_at, described) = resolved(document, &format!("{at}/schema"));
        match (described.get("x-lines"), example) {
            (Some(_), Value::String(text)) => {
                let line = schema(document, &format!("{schema_at}/x-lines"));
                for text in text.lines() {
                    assert_valid(&line, &serde_json::from_str(text).expect("JSON"));
                }
            }
            _ => assert_valid(&schema(document, &format!("{at}/schema")), example),
        }
        seen += 1;
    }
    seen
}

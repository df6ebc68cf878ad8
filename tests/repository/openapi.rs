//! `openapi.yaml` and `openapi-dashboard.yaml` have the paths and methods of the route tables. Each reference leads
//! somewhere, and each path names its host. The end-to-end tests check that the service's answers conform to them.

mod dashboard;
mod limits;
mod refusals;

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::{
    document::{dashboard_document, document, escaped, methods, resolved, schema},
    read,
};
use origin::http::routes::routes;
use platform::http::router::{Route, RouteName};

/// Every operation of the document: its path, its method and what is said of it.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        found.extend(methods(item).map(|(method, operation)| (path.as_str(), method, operation)));
    }
    found
}

/// The documents, that of the dashboard last.
fn documents() -> [Value; 2] {
    [document(), dashboard_document()]
}

fn place(path: &str, method: &str) -> String {
    format!("/paths/{}/{method}", escaped(path))
}

/// Calls `visit` with every object of the document outside its examples.
fn walk(value: &Value, visit: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(members) => {
            visit(members);
            let described = members.iter().filter(|(name, _)| *name != "example");
            described.for_each(|(_, member)| walk(member, visit));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        _ => {}
    }
}

fn texts(values: &Value) -> BTreeSet<String> {
    let values = values.as_array().unwrap_or_else(|| panic!("no list: {values}"));
    values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[track_caller]
pub fn assert_valid(schema: &Validator, instance: &Value) {
    let errors: Vec<_> = schema.iter_errors(instance).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{instance}: {errors:?}");
}

/// Path and method of each method of a route table: those of the dashboard and the console, or all others.
fn rows<H: 'static, P: 'static>(
    table: impl IntoIterator<Item = &'static Route<H, P>>,
    of_sites: bool,
) -> Vec<(String, String)> {
    let is_sites = |route: &&Route<H, P>| matches!(route.name, RouteName::Dashboard | RouteName::Console);
    // An image is no operation of the API, and generators of clients know no such answer.
    let table = table.into_iter().filter(|route| !route.pattern.ends_with(".svg"));
    let routes = table.filter(|route| is_sites(route) == of_sites);
    let methods = routes.flat_map(|route| route.methods.iter().map(move |method| (route.pattern, method.method)));
    methods.map(|(path, method)| (path.to_owned(), method.as_str().to_owned())).collect()
}

/// A path as a route table writes it.
fn pattern(path: &str) -> String {
    let segments = path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part });
    segments.collect::<Vec<_>>().join("/")
}

#[test]
fn the_documents_have_the_paths_and_methods_of_the_route_tables() {
    for (document, of_dashboard) in documents().iter().zip([false, true]) {
        let documented: BTreeSet<(String, String)> =
            operations(document).into_iter().map(|(path, method, _)| (pattern(path), method.to_uppercase())).collect();
        let answered: BTreeSet<_> =
            [rows(edge::routes::ROUTES, of_dashboard), rows(routes(), of_dashboard)].into_iter().flatten().collect();
        assert_eq!(documented, answered);
    }
}

#[test]
fn every_reference_has_a_target_and_every_component_is_referenced() {
    for document in documents() {
        check_references(&document);
    }
}

/// Many tools ignore what stands beside a `$ref`, or refuse it.
#[test]
fn only_a_description_stands_beside_a_reference() {
    for document in documents() {
        walk(&document, &mut |members| {
            let others = members.keys().filter(|name| !["$ref", "description"].contains(&name.as_str()));
            assert!(!members.contains_key("$ref") || others.count() == 0, "{members:?}");
        });
    }
}

#[test]
fn each_path_names_its_host_and_the_local_run() {
    for (path, item) in document()["paths"].as_object().unwrap() {
        let servers = item["servers"].as_array().unwrap_or_else(|| panic!("{path} names no host"));
        let mut hosts: BTreeSet<_> = servers.iter().map(|server| server["url"].as_str().unwrap()).collect();
        assert!(hosts.remove("http://127.0.0.1:8787"), "{path}: {hosts:?}");
        let host = |name: &str| format!("https://{name}.example.com");
        let expected = match path.split('/').nth(1).unwrap() {
            "v2" => vec![host("track")],
            "healthz" | "openapi.json" => ["offers", "track", "reporting", "operator"].map(host).to_vec(),
            "metrics" => ["offers", "track", "reporting"].map(host).to_vec(),
            _ if path.starts_with("/v1/offer/") => vec![host("offers")],
            _ if path.starts_with("/v1/core/") => vec![host("reporting")],
            _ => vec![host("operator")],
        };
        assert_eq!(hosts, expected.iter().map(String::as_str).collect(), "{path}");
    }
}

fn check_references(document: &Value) {
    let mut referred = BTreeSet::new();
    walk(document, &mut |members| {
        // In braces YAML ends an unquoted text at a comma, and the rest becomes a member without a value.
        let cut: Vec<_> = members.iter().filter(|(_, value)| value.is_null()).collect();
        assert!(cut.is_empty(), "{cut:?}");
        if let Some(target) = members.get("$ref").and_then(Value::as_str) {
            resolved(document, target.strip_prefix('#').unwrap());
            referred.insert(target.to_owned());
        }
        for scheme in members.get("security").and_then(Value::as_array).into_iter().flatten() {
            let names = scheme.as_object().unwrap().keys();
            referred.extend(names.map(|name| format!("#/components/securitySchemes/{name}")));
        }
    });
    let kinds = document["components"].as_object().unwrap();
    let there: BTreeSet<_> = kinds
        .iter()
        .flat_map(|(kind, of_kind)| {
            let names = of_kind.as_object().unwrap().keys();
            names.map(move |name| format!("#/components/{kind}/{name}"))
        })
        .collect();
    assert_eq!(referred, there);

    let mut ids = BTreeMap::new();
    for (path, method, operation) in operations(document) {
        let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path}"));
        assert!(operation["security"].is_array(), "{id} does not say who may");
        assert_eq!(ids.insert(id, path), None, "{id} is twice there");
    }
}

#[test]
fn the_demo_catalog_is_as_the_document_asks() {
    let document = document();
    let line = schema(&document, "/components/schemas/ImportLine");
    let catalog = read("fixtures/catalog.ndjson");
    for text in catalog.lines() {
        let mut resource: Value = serde_json::from_str(text).unwrap();
        assert_valid(&line, &resource);
        resource["surplus"] = json!(1);
        assert!(!line.is_valid(&resource), "a member that is not known");
    }
}

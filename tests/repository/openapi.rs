//! `openapi.yaml` and the code name the same paths, methods, refusals, lists and limits; and what it gives as an
//! example, or the fixtures hold, is as it says. That answers are, the end-to-end tests see.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::{
    document::{document, escaped, resolved, schema},
    read, sources,
};
use domain::{
    conversions::state::{Reason, Status},
    model::{Category, Country, OfferType, Platform},
    offers::request as offers,
    reporting::{Dimension, Metric, query},
};
use platform::http::router::Route;

/// Every operation of the document: its path, its method and what is said of it.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let methods = item.as_object().unwrap().iter();
        let methods = methods.filter(|(key, _)| *key != "parameters");
        found.extend(methods.map(|(method, operation)| (path.as_str(), method.as_str(), operation)));
    }
    found
}

fn place(path: &str, method: &str) -> String {
    format!("/paths/{}/{method}", escaped(path))
}

/// Calls `visit` with every object of the document.
fn walk(value: &Value, visit: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(members) => {
            visit(members);
            members.values().for_each(|member| walk(member, visit));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        _ => {}
    }
}

fn texts(values: &Value) -> BTreeSet<String> {
    let values = values.as_array().unwrap_or_else(|| panic!("no list: {values}"));
    values
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[track_caller]
fn assert_valid(schema: &Validator, instance: &Value) {
    let errors: Vec<_> = schema
        .iter_errors(instance)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{instance}: {errors:?}");
}

/// Path and method of each endpoint of a route table.
fn rows<H, P>(table: &[Route<H, P>]) -> Vec<(String, String)> {
    let endpoints = table.iter().flat_map(|route| {
        route
            .endpoints
            .iter()
            .map(move |endpoint| (route.pattern, endpoint.method))
    });
    endpoints
        .map(|(path, method)| (path.to_owned(), method.as_str().to_owned()))
        .collect()
}

#[test]
fn the_document_has_the_paths_and_methods_of_the_route_table() {
    let document = document();
    let documented: BTreeSet<(String, String)> = operations(&document)
        .into_iter()
        .map(|(path, method, _)| {
            let segments = path
                .split('/')
                .map(|part| if part.starts_with('{') { "{}" } else { part });
            (segments.collect::<Vec<_>>().join("/"), method.to_uppercase())
        })
        .collect();
    let answered: BTreeSet<_> = [rows(edge::routes::ROUTES), rows(origin::routes::ROUTES)]
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(documented, answered);
}

/// The status and the code of each refusal that the service's code makes.
fn refusals() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for path in sources("src") {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for made in code.split("ApiError::new(").skip(1) {
            let (status, rest) = made.split_once(',').unwrap();
            let code = rest.split('"').nth(1).unwrap();
            found.insert((status.trim().to_owned(), code.to_owned()));
        }
    }
    found
}

#[test]
fn every_refusal_is_documented_under_its_status_and_no_other_is() {
    let document = document();
    let mut places: Vec<_> = operations(&document)
        .into_iter()
        .map(|(path, method, _)| format!("{}/responses", place(path, method)))
        .collect();
    let elsewhere = document["x-elsewhere"].as_object().unwrap().keys();
    places.extend(elsewhere.map(|name| format!("/x-elsewhere/{name}")));
    let mut documented = BTreeSet::new();
    for place in places {
        for status in document.pointer(&place).unwrap().as_object().unwrap().keys() {
            let (_, response) = resolved(&document, &format!("{place}/{status}"));
            let code = &response["content"]["application/json"]["schema"]["properties"]["code"];
            let codes = match &code["const"] {
                Value::String(code) => BTreeSet::from([code.clone()]),
                _ if code["enum"].is_array() => texts(&code["enum"]),
                _ => continue,
            };
            documented.extend(codes.into_iter().map(|code| (status.clone(), code)));
        }
    }
    assert_eq!(documented, refusals());
}

#[test]
fn closed_lists_and_limits_are_those_of_the_code() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    let owned = |texts: Vec<&'static str>| texts.into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
    let lists = [
        (
            "OfferType",
            owned(OfferType::ALL.iter().map(|of| of.as_str()).collect()),
        ),
        (
            "Platform",
            owned(Platform::ALL.iter().map(|of| of.as_str()).collect()),
        ),
        (
            "Category",
            owned(Category::ALL.iter().map(|of| of.as_str()).collect()),
        ),
        ("Country", owned(Country::all().map(Country::as_str).collect())),
        (
            "Dimension",
            owned(Dimension::ALL.iter().map(|of| of.name()).collect()),
        ),
        ("Metric", owned(Metric::ALL.iter().map(|of| of.name()).collect())),
        (
            "PostbackStatus",
            owned(Status::ALL.iter().map(|of| of.as_str()).collect()),
        ),
    ];
    for (name, list) in lists {
        assert_eq!(texts(&schemas[name]["enum"]), list, "{name}");
    }
    let refusals = owned(Reason::ALL.map(|reason| reason.refusal().code).to_vec());
    assert_eq!(texts(&schemas["ReasonCode"]["enum"]), refusals);

    let limits = [
        (
            "/OffersRequest/properties/size/maximum",
            u64::from(offers::MAX_SIZE),
        ),
        ("/OffersFilters/maxItems", offers::MAX_FILTERS as u64),
        ("/Match/properties/value/maxItems", offers::MAX_VALUES as u64),
        (
            "/ReportQuery/properties/filters/maxItems",
            query::MAX_FILTERS as u64,
        ),
        (
            "/ReportQuery/properties/order_by/maxItems",
            query::MAX_ORDER as u64,
        ),
        (
            "/ReportQuery/properties/pagination/properties/page/maximum",
            query::MAX_PAGE,
        ),
        (
            "/ReportQuery/properties/pagination/properties/count/maximum",
            u64::from(query::MAX_COUNT),
        ),
        (
            "/ReportQuery/properties/pagination/properties/count/default",
            u64::from(query::DEFAULT_COUNT),
        ),
    ];
    for (place, limit) in limits {
        assert_eq!(schemas.pointer(place), Some(&json!(limit)), "{place}");
    }
}

#[test]
fn what_is_referred_to_is_there_and_what_is_there_is_referred_to() {
    let document = document();
    let mut referred = BTreeSet::new();
    walk(&document, &mut |members| {
        // What is left of a text with a comma that YAML took for its own.
        let cut: Vec<_> = members.iter().filter(|(_, value)| value.is_null()).collect();
        assert!(cut.is_empty(), "{cut:?}");
        if let Some(target) = members.get("$ref").and_then(Value::as_str) {
            resolved(&document, target.strip_prefix('#').unwrap());
            referred.insert(target.to_owned());
        }
        for scheme in members
            .get("security")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
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
    for (path, method, operation) in operations(&document) {
        let id = operation["operationId"]
            .as_str()
            .unwrap_or_else(|| panic!("{method} {path}"));
        assert!(operation["security"].is_array(), "{id} does not say who may");
        assert_eq!(ids.insert(id, path), None, "{id} is twice there");
    }
}

#[test]
fn every_example_is_as_the_document_asks() {
    let document = document();
    let mut seen = 0;
    let mut check = |place: &str| {
        let Some(about) = document.pointer(place) else {
            return;
        };
        let single = about.get("example").into_iter();
        let named = about
            .get("examples")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        for example in single.chain(named.map(|(_, example)| &example["value"])) {
            let (schema_place, of_all) = resolved(&document, &format!("{place}/schema"));
            match (of_all.get("x-lines"), example) {
                (Some(_), Value::String(text)) => {
                    let line = schema(&document, &format!("{schema_place}/x-lines"));
                    text.lines()
                        .for_each(|text| assert_valid(&line, &serde_json::from_str(text).unwrap()));
                }
                _ => assert_valid(&schema(&document, &format!("{place}/schema")), example),
            }
            seen += 1;
        }
    };
    for (path, method, operation) in operations(&document) {
        let bodies = operation["requestBody"]["content"].as_object();
        for media_type in bodies.into_iter().flat_map(serde_json::Map::keys) {
            check(&format!(
                "{}/requestBody/content/{}",
                place(path, method),
                escaped(media_type)
            ));
        }
    }
    for path in document["paths"].as_object().unwrap().keys() {
        (0..20).for_each(|at| check(&format!("/paths/{}/parameters/{at}", escaped(path))));
    }
    for name in document["components"]["parameters"].as_object().unwrap().keys() {
        check(&format!("/components/parameters/{name}"));
    }
    check("/components/parameters/Filt/content/application~1json");
    assert!(seen > 20, "{seen}");
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

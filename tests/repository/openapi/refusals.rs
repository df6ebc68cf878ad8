//! The refusals of the documents are those that the code makes: the same codes under the same statuses.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use super::{operations, place, texts};
use crate::{
    document::{dashboard_document, document, resolved},
    root, sources,
};
use domain::conversions::verdict;

/// The files whose refusals only the dashboard's calls can have. The others' are those of `openapi.yaml`.
const DASHBOARDS_OWN: [&str; 11] = [
    "src/domain/accounts/",
    "src/origin/objects/accounts/",
    "src/origin/objects/activity/publisher/",
    "src/origin/objects/catalog/own_apps.rs",
    "src/origin/objects/catalog/pub_key_requests.rs",
    "src/origin/http/dashboard/",
    "src/origin/http/site/",
    "src/origin/objects/ledger/export_slots.rs",
    "src/origin/objects/ledger/exports.rs",
    "src/origin/objects/ledger/report_budget.rs",
    "src/origin/objects/ledger/service/dashboard.rs",
];

/// The refusals of the dashboard's own files that calls of the operator, or with a key, can have, too.
const OF_OPERATOR: [(&str, &str); 5] = [
    ("400", "count_too_long"),
    ("409", "replay_running"),
    ("409", "too_many_invites"),
    ("409", "too_many_members"),
    ("409", "too_many_test_apps"),
];

/// Refusals that objects answer each other and no client gets.
const INTERNAL: [(&str, &str); 1] = [("503", "terms_lost")];

type Refusals = BTreeSet<(String, String)>;

/// The status and the code of each refusal that a file makes.
fn refusals_of(path: &Path) -> Refusals {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let made = code.split("ApiError::new(").skip(1).map(|made| {
        let (status, rest) = made.split_once(',').unwrap();
        let code = rest.split('"').nth(1).unwrap();
        (status.trim().to_owned(), code.to_owned())
    });
    made.collect()
}

/// The refusals that the service's code makes: those of the dashboard's own files, and all others.
fn refusals() -> [Refusals; 2] {
    let (mut own, mut others) = (Refusals::new(), Refusals::new());
    let mut found_in = BTreeSet::new();
    for path in sources("src") {
        let made = refusals_of(&path);
        let path = path.strip_prefix(root()).unwrap().to_str().unwrap();
        match DASHBOARDS_OWN.iter().find(|prefix| path.starts_with(**prefix)) {
            Some(prefix) if !made.is_empty() => {
                found_in.insert(*prefix);
                own.extend(made);
            }
            Some(_) => {}
            None => others.extend(made),
        }
    }
    assert_eq!(found_in, DASHBOARDS_OWN.into());
    [own, others]
}

/// The codes that a response describes.
pub(super) fn codes(document: &Value, place: &str) -> BTreeSet<String> {
    let (place, response) = resolved(document, place);
    let schema = &response["content"]["application/json"]["schema"];
    // A refusal of a single operation lists its codes itself; a shared one is a component: `Error` and its codes.
    let named = schema["$ref"].is_string().then(|| {
        let place = format!("{place}/content/application~1json/schema");
        &resolved(document, &place).1["allOf"][1]
    });
    let code = &named.unwrap_or(schema)["properties"]["code"];
    match &code["const"] {
        Value::String(code) => BTreeSet::from([code.clone()]),
        _ if code["enum"].is_array() => texts(&code["enum"]),
        _ => BTreeSet::new(),
    }
}

/// The status and the code of each refusal that a document describes.
fn described(document: &Value) -> Refusals {
    let mut places: Vec<_> = operations(document)
        .into_iter()
        .map(|(path, method, _)| format!("{}/responses", place(path, method)))
        .collect();
    let elsewhere = document["x-elsewhere"].as_object().unwrap().keys();
    places.extend(elsewhere.map(|name| format!("/x-elsewhere/{name}")));
    let mut described = Refusals::new();
    for place in places {
        for status in document.pointer(&place).unwrap().as_object().unwrap().keys() {
            let codes = codes(document, &format!("{place}/{status}"));
            described.extend(codes.into_iter().map(|code| (status.clone(), code)));
        }
    }
    described
}

#[test]
fn every_refusal_is_documented_under_its_status_and_no_other_is() {
    let [own, others] = refusals();
    let owned = |(status, code): (&str, &str)| (status.to_owned(), code.to_owned());
    let of_operator = Refusals::from(OF_OPERATOR.map(owned));
    assert!(of_operator.is_subset(&own), "{of_operator:?}");
    let internal = Refusals::from(INTERNAL.map(owned));
    assert!(internal.is_subset(&others), "{internal:?}");
    assert_eq!(described(&document()), &(&others | &of_operator) - &internal);
    // The dashboard's calls may also give the answers of other interfaces, but the code must make each of them.
    let described = described(&dashboard_document());
    let missing: Vec<_> = own.difference(&described).collect();
    assert!(missing.is_empty(), "not described: {missing:?}");
    let all = &own | &others;
    let made_up: Vec<_> = described.difference(&all).collect();
    assert!(made_up.is_empty(), "never made: {made_up:?}");
}

#[test]
fn each_answer_to_a_postback_has_a_verdict() {
    let document = document();
    let path = "/v2/tracking/conversion";
    let listed = texts(&document["components"]["schemas"]["PostbackCode"]["enum"]);
    let mut answered = 0;
    for method in ["get", "post"] {
        let place = format!("{}/responses", place(path, method));
        for status in document.pointer(&place).unwrap().as_object().unwrap().keys() {
            for code in codes(&document, &format!("{place}/{status}")) {
                assert!(verdict::is_known(&code), "{status} {code}");
                assert!(listed.contains(&code), "{status} {code}");
                answered += 1;
            }
        }
    }
    assert!(answered > 20, "{answered}");
    let unknown: Vec<_> = listed.iter().filter(|code| !verdict::is_known(code)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn a_refused_result_has_the_codes_of_the_refusals_that_stand_in_its_place() {
    let document = dashboard_document();
    let place = "/x-elsewhere/a-result-of-a-batch";
    let statuses = document.pointer(place).unwrap().as_object().unwrap().keys();
    let refusals: BTreeSet<_> = statuses.flat_map(|status| codes(&document, &format!("{place}/{status}"))).collect();
    let refused = &document["components"]["schemas"]["ResultRefused"];
    assert_eq!(texts(&refused["properties"]["code"]["enum"]), refusals);
}

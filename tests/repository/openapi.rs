//! `openapi.yaml` and `openapi-dashboard.yaml` name the paths, methods, refusals, lists and limits of the code; and what
//! they give as an example, what the fixtures hold, and what the code makes for a browser is as they say. That answers
//! are, the end-to-end tests see.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::{
    document::{dashboard_document, document, escaped, methods, resolved, schema},
    read, root, sources,
};
use domain::{
    accounts::{
        account::{Account, AccountKind},
        challenge,
        cookie::{Cookie, CookieSite},
        ids::{AccountId, MemberId},
        invite,
        role::Role,
        session, user_handle,
        webauthn::{self, Algorithm, RelyingParty, User},
    },
    conversions::{
        state::{Reason, Status},
        verdict,
    },
    model::{Category, Country, OfferType, Platform, PublisherId, mac::MacKeys},
    offers::request as offers,
    reporting::{Dimension, Metric, query},
};
use origin::{
    dashboard::{DashboardCall, MemberCall},
    routes::{Handler, ROUTES},
    site::{PublicCall, SiteCall},
};
use platform::http::router::{Interface, Method, Route, RouteName};

/// The files whose refusals only the dashboard's calls can have. The others' are those of `openapi.yaml`.
const DASHBOARDS_OWN: [&str; 11] = [
    "src/domain/accounts/",
    "src/origin/accounts/",
    "src/origin/activity/",
    "src/origin/catalog/own_apps.rs",
    "src/origin/catalog/pub_key_requests.rs",
    "src/origin/dashboard/",
    "src/origin/site/",
    "src/origin/ledger/export_slots.rs",
    "src/origin/ledger/exports.rs",
    "src/origin/ledger/report_budget.rs",
    "src/origin/ledger/service/dashboard.rs",
];

/// Every operation of the document: its path, its method and what is said of it.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        found.extend(methods(item).map(|(method, operation)| (path.as_str(), method, operation)));
    }
    found
}

/// The refusals of the dashboard's own files that calls of the operator can have, too.
const OF_OPERATOR: [(&str, &str); 4] = [
    ("400", "count_too_long"),
    ("409", "replay_running"),
    ("409", "too_many_invites"),
    ("409", "too_many_members"),
];

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
    values
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[track_caller]
pub fn assert_valid(schema: &Validator, instance: &Value) {
    let errors: Vec<_> = schema
        .iter_errors(instance)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{instance}: {errors:?}");
}

/// Path and method of each endpoint of a route table: those of the dashboard and the console, or all others.
fn rows<H, P>(table: &[Route<H, P>], of_sites: bool) -> Vec<(String, String)> {
    let is_sites = |route: &&Route<H, P>| matches!(route.name, RouteName::Dashboard | RouteName::Console);
    let routes = table.iter().filter(|route| is_sites(route) == of_sites);
    let endpoints = routes.flat_map(|route| {
        route
            .endpoints
            .iter()
            .map(move |endpoint| (route.pattern, endpoint.method))
    });
    endpoints
        .map(|(path, method)| (path.to_owned(), method.as_str().to_owned()))
        .collect()
}

/// A path as a route table writes it.
fn pattern(path: &str) -> String {
    let segments = path
        .split('/')
        .map(|part| if part.starts_with('{') { "{}" } else { part });
    segments.collect::<Vec<_>>().join("/")
}

#[test]
fn the_documents_have_the_paths_and_methods_of_the_route_tables() {
    for (document, of_dashboard) in documents().iter().zip([false, true]) {
        let documented: BTreeSet<(String, String)> = operations(document)
            .into_iter()
            .map(|(path, method, _)| (pattern(path), method.to_uppercase()))
            .collect();
        let answered: BTreeSet<_> = [
            rows(edge::routes::ROUTES, of_dashboard),
            rows(ROUTES, of_dashboard),
        ]
        .into_iter()
        .flatten()
        .collect();
        assert_eq!(documented, answered);
    }
}

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
fn codes(document: &Value, place: &str) -> BTreeSet<String> {
    let (place, response) = resolved(document, place);
    let schema = &response["content"]["application/json"]["schema"];
    // A refusal of one operation says its codes itself, another is a component: `Error` and its codes.
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
    let of_operator = OF_OPERATOR.map(|(status, code)| (status.to_owned(), code.to_owned()));
    let of_operator = Refusals::from(of_operator);
    assert!(of_operator.is_subset(&own), "{of_operator:?}");
    assert_eq!(described(&document()), &others | &of_operator);
    // The dashboard's calls may also answer what other interfaces do, but each code is made somewhere.
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
    let refusals: BTreeSet<_> = statuses
        .flat_map(|status| codes(&document, &format!("{place}/{status}")))
        .collect();
    let refused = &document["components"]["schemas"]["ResultRefused"];
    assert_eq!(texts(&refused["properties"]["code"]["enum"]), refusals);
}

#[test]
fn each_call_of_the_dashboard_is_documented_with_the_checks_that_it_passes() {
    let document = dashboard_document();
    let roles = || {
        Role::ALL
            .into_iter()
            .filter(|role| role.kind() == AccountKind::Publisher)
    };
    let operations = operations(&document);
    let mut seen = 0;
    for route in ROUTES
        .iter()
        .filter(|route| route.interface == Interface::Dashboard)
    {
        for endpoint in route.endpoints {
            let Handler::Dashboard(call) = endpoint.handler else {
                panic!("{} is no call of the dashboard", route.pattern);
            };
            let (path, method, operation) = operations
                .iter()
                .find(|(path, method, _)| {
                    pattern(path) == route.pattern && method.to_uppercase() == endpoint.method.as_str()
                })
                .unwrap();
            let id = &operation["operationId"];
            let place = place(path, method);
            let codes = |status: u16| {
                let place = format!("{place}/responses/{status}");
                document.pointer(&place).map(|_| codes(&document, &place))
            };
            for status in [404, 421, 500, 503] {
                assert!(codes(status).is_some(), "{id} has no {status}");
            }
            let (member, permission) = match call {
                DashboardCall::Site(SiteCall::Page | SiteCall::Asset) => {
                    assert_eq!((codes(401), codes(403)), (None, None), "{id}");
                    continue;
                }
                DashboardCall::Site(SiteCall::Public(_)) => (None, None),
                DashboardCall::Site(SiteCall::Account(call)) => (None, call.permission()),
                DashboardCall::Member(call) => (Some(call), call.permission()),
            };
            let has_session = !matches!(call, DashboardCall::Site(SiteCall::Public(_)));
            seen += 1;
            let mut forbidden = BTreeSet::from(["cross_site_request"]);
            let knows_account = !matches!(
                call,
                DashboardCall::Site(SiteCall::Public(PublicCall::SignOut | PublicCall::PasskeyRequest))
            );
            if knows_account {
                forbidden.insert("account_suspended");
            }
            if member == Some(MemberCall::CreateApp) {
                forbidden.insert("publisher_not_approved");
            }
            if let Some(permission) = permission {
                if roles().any(|role| !permission.is_granted_to(role)) {
                    forbidden.insert("role_forbids");
                }
                // Its handler asks for one where the app's clicks are signed.
                let is_of_handler = member == Some(MemberCall::MakeTrackingUrl);
                if permission.needs_fresh_passkey() || is_of_handler {
                    forbidden.insert("verify_first");
                }
            }
            let forbidden: BTreeSet<_> = forbidden.into_iter().map(str::to_owned).collect();
            assert_eq!(codes(403), Some(forbidden), "{id}");
            let asks_for_session = codes(401).is_some_and(|codes| codes.contains("not_signed_in"));
            assert_eq!(asks_for_session, has_session, "{id}");
            let needs_session = operation["security"] == json!([{ "Session": [] }]);
            assert_eq!(needs_session, has_session, "{id}");

            let is_bound = codes(409).is_some_and(|codes| codes.contains("account_switched"));
            assert_eq!(is_bound, has_session, "{id}");

            let is_write = endpoint.method != Method::Get;
            assert_eq!(codes(415).is_some(), is_write, "{id}");
            let has_body = operation.get("requestBody").is_some();
            assert_eq!(codes(413).is_some(), has_body, "{id}");
            let mut headers = BTreeSet::new();
            for list in [&document["paths"][path]["parameters"], &operation["parameters"]] {
                for parameter in list.as_array().into_iter().flatten() {
                    let target = parameter["$ref"]
                        .as_str()
                        .and_then(|target| target.strip_prefix('#'));
                    let parameter = target.map_or(parameter, |target| resolved(&document, target).1);
                    if parameter["in"] == "header" && parameter["required"] == true {
                        headers.insert(parameter["name"].as_str().unwrap());
                    }
                }
            }
            let mut sent = BTreeSet::from(["Sec-Fetch-Site"]);
            sent.extend(is_write.then_some("Origin"));
            sent.extend((is_write && has_session).then_some("X-Publisher"));
            sent.extend(match member {
                Some(MemberCall::CreateApp) => Some("Idempotency-Key"),
                Some(MemberCall::ChangeApp) => Some("If-Match"),
                _ => None,
            });
            assert_eq!(headers, sent, "{id}");
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn what_a_browser_is_given_is_as_the_document_of_the_dashboard_says() {
    let document = dashboard_document();
    let is_valid = |place: &str, instance: &Value| {
        let schema = schema(&document, &format!("/components/{place}"));
        schema.is_valid(instance)
    };
    let keys = MacKeys::parse("ACCOUNT_MAC", &"ab".repeat(32)).unwrap();
    let account = Account::Publisher(PublisherId::parse("lumen-arcade").unwrap());
    let session = session::issue(&keys, &account, [0xCD; 16]);
    let other = Account::Publisher(PublisherId::parse("hex-studio").unwrap());
    let sessions = format!("{session}.{}", session::issue(&keys, &other, [0xCD; 16]));
    let mark = "0123456789abcdef".repeat(2);
    for site in [CookieSite::Production, CookieSite::Local { port: 8787 }] {
        let of_session = Cookie::sessions(AccountKind::Publisher, site);
        let of_ceremony = Cookie::ceremony(AccountKind::Publisher, site);
        let cookies = [
            ("SessionCookie", of_session.set(&session).unwrap()),
            ("SessionCookie", of_session.set(&sessions).unwrap()),
            ("NoSession", of_session.clear()),
            ("CeremonyCookie", of_ceremony.set(&mark).unwrap()),
        ];
        for (name, cookie) in &cookies {
            for (other, _) in &cookies {
                let place = format!("headers/{other}/schema");
                assert_eq!(
                    is_valid(&place, &json!(cookie)),
                    name == other,
                    "{other}: {cookie}"
                );
            }
            let loose = cookie.replace("; HttpOnly", "");
            assert!(
                !is_valid(&format!("headers/{name}/schema"), &json!(loose)),
                "{name}"
            );
        }
    }

    let invite = json!(invite::issue(&keys, &account, [0xCD; 16]));
    assert!(is_valid("schemas/InviteText", &invite));
    assert!(
        !is_valid("schemas/InviteText", &json!(session)),
        "a session is no invite"
    );

    let party = RelyingParty::parse("Signpost", "http://localhost:8787").unwrap();
    let binding = [7; 32];
    let challenge = challenge::issue(
        &keys,
        challenge::CeremonyPurpose::Registration,
        Some(account.id()),
        &binding,
        1_795_000_000_000,
        [0xCD; 16],
    );
    let handle = user_handle::issue(&keys, AccountId([1; 12]), MemberId([2; 8]));
    let user = User {
        handle: &handle,
        name: "Ada Lovelace, lumen-arcade",
        display_name: "Ada Lovelace",
    };
    let creation = webauthn::creation_options(&party, user, challenge.as_bytes(), &[]);
    let request = webauthn::request_options(&party, challenge.as_bytes(), &[]);
    for (name, options) in [("CreationOptions", creation), ("RequestOptions", request)] {
        let place = format!("schemas/{name}");
        assert!(is_valid(&place, &options), "{name}: {options}");
        let members = options.as_object().unwrap();
        for member in members.keys() {
            let mut fewer = options.clone();
            fewer.as_object_mut().unwrap().remove(member);
            assert!(!is_valid(&place, &fewer), "{name} without {member}");
        }
        let mut more = options.clone();
        more["surplus"] = json!(1);
        assert!(!is_valid(&place, &more), "{name} with a member that is not known");
    }
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
    let roles = Role::ALL
        .iter()
        .filter(|role| role.kind() == AccountKind::Publisher);
    let roles = owned(roles.map(|role| role.as_str()).collect());
    assert_eq!(texts(&schemas["AccountRole"]["enum"]), roles);
    let refusals = owned(Reason::ALL.map(|reason| reason.refusal().code).to_vec());
    assert_eq!(texts(&schemas["ReasonCode"]["enum"]), refusals);

    let limits = [
        (
            "/OffersRequest/properties/size/maximum",
            u64::from(offers::MAX_SIZE),
        ),
        ("/OffersFilters/maxItems", offers::MAX_FILTERS as u64),
        (
            "/CountryMatch/properties/value/maxItems",
            offers::MAX_VALUES as u64,
        ),
        (
            "/OfferIdMatch/properties/values/maxItems",
            offers::MAX_VALUES as u64,
        ),
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

    let dashboard = dashboard_document();
    let schemas = &dashboard["components"]["schemas"];
    let algorithms = Algorithm::ALL.map(Algorithm::cose);
    assert_eq!(schemas["Algorithm"]["enum"], json!(algorithms));
    assert_eq!(schemas["CeremonyTimeout"]["const"], json!(challenge::LIFE_MS));
    let longest = json!(domain::accounts::member::MAX_NAME);
    for name in ["MemberName", "PersonName"] {
        assert_eq!(schemas[name]["maxLength"], longest, "{name}");
    }
}

#[test]
fn a_member_may_have_the_names_that_the_document_allows() {
    let name = schema(&document(), "/components/schemas/MemberName");
    let all = (0..=0xFFFF).filter_map(char::from_u32);
    // HTML is no matter of a schema.
    for character in all.filter(|character| !"<&".contains(*character)) {
        for text in [character.to_string(), format!("A{character}B")] {
            let is_taken = domain::accounts::member::parse_name("name", &text).is_ok();
            assert_eq!(name.is_valid(&json!(text)), is_taken, "{text:?}");
        }
    }
    assert!(!name.is_valid(&json!("a".repeat(65))));
}

#[test]
fn what_is_referred_to_is_there_and_what_is_there_is_referred_to() {
    for document in documents() {
        check_references(&document);
    }
}

/// Many tools ignore what stands beside a `$ref`, or refuse it.
#[test]
fn nothing_but_a_description_stands_beside_a_reference() {
    for document in documents() {
        walk(&document, &mut |members| {
            let others = members
                .keys()
                .filter(|name| !["$ref", "description"].contains(&name.as_str()));
            assert!(
                !members.contains_key("$ref") || others.count() == 0,
                "{members:?}"
            );
        });
    }
}

#[test]
fn each_path_names_its_host_and_the_local_run() {
    for (path, item) in document()["paths"].as_object().unwrap() {
        let servers = item["servers"]
            .as_array()
            .unwrap_or_else(|| panic!("{path} names no host"));
        let mut hosts: BTreeSet<_> = servers
            .iter()
            .map(|server| server["url"].as_str().unwrap())
            .collect();
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
        // What is left of a text with a comma that YAML took for its own.
        let cut: Vec<_> = members.iter().filter(|(_, value)| value.is_null()).collect();
        assert!(cut.is_empty(), "{cut:?}");
        if let Some(target) = members.get("$ref").and_then(Value::as_str) {
            resolved(document, target.strip_prefix('#').unwrap());
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
    for (path, method, operation) in operations(document) {
        let id = operation["operationId"]
            .as_str()
            .unwrap_or_else(|| panic!("{method} {path}"));
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

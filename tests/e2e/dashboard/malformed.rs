//! Sends every call of a member with input that no page sends: broken JSON, wrong types, long and deep bodies, odd ids
//! and headers. Calls come from the route table and from `openapi-dashboard.yaml`, so a new call is tested without a
//! change here. The harness compares each answer with the document, so a status that is not described fails the test.

use serde_json::{Value, json};

use super::{Browser, HOST, ORIGIN, access, signed_in};
use crate::harness::{Answer, Receiver, Setup, dashboard_document, escaped, eventually, resolved};

const PUBLISHER: &str = "dashboard-malformed";
const APP: &str = "79000501";

/// Texts that are no JSON object, or not one that any call could mean.
const BODIES: [&str; 15] = [
    "",
    " ",
    "{",
    "null",
    "true",
    "7",
    "\"{}\"",
    "[]",
    "[{}]",
    "{}{}",
    "{\"a\":}",
    "{'a': 1}",
    "{\"a\": NaN}",
    "\u{feff}{",
    "{\"\\ud800\": 1}",
];

/// Ids as they stand in a path. None of them is an app, a member, a session, …
const IDS: [&str; 12] = [
    "0",
    "-1",
    "00000000",
    "99999999999999999999",
    "7900%200501",
    "79000501%00",
    "%00",
    "%FF",
    "%2F",
    "%F0%9F%A6%8A",
    // Eight digits, of another script.
    "%D9%A1%D9%A2%D9%A3%D9%A4%D9%A5%D9%A6%D9%A7%D9%A8",
    "%27%22%3Cscript%3E",
];

/// Values of each type. A field accepts at most one of them.
fn values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(0.5),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("\u{0}\u{202e}\u{1f98a}"),
        json!("x".repeat(3_000)),
        json!([]),
        json!([[1]]),
        json!({}),
        json!({ "": null }),
    ]
}

/// A call of a member, and what the document says of its body.
struct Call {
    method: &'static str,
    /// The parts of the path between its ids.
    parts: Vec<String>,
    body: Option<Body>,
}

struct Body {
    /// A body that the call accepts.
    example: Value,
    /// Every field that the body may have.
    fields: Vec<String>,
    most_bytes: usize,
}

impl Call {
    /// The path with ids of the publisher's app and of nothing else.
    fn ids(&self) -> Vec<&str> {
        let before = self.parts.iter().take(self.parts.len() - 1);
        let id = |part: &String| match part.ends_with("/apps/") {
            true => APP,
            false => access::UNKNOWN,
        };
        before.map(id).collect()
    }

    fn path(&self, ids: &[&str]) -> String {
        let mut path = self.parts[0].clone();
        for (id, part) in ids.iter().zip(&self.parts[1..]) {
            path += id;
            path += part;
        }
        path
    }

    fn read(document: &Value, method: &'static str, path: &str) -> Self {
        let paths = document["paths"].as_object().unwrap();
        let described = paths.keys().find(|described| {
            let is_same =
                |(segment, own): (&str, &str)| segment == own || segment.starts_with('{') && own == access::UNKNOWN;
            described.split('/').count() == path.split('/').count()
                && described.split('/').zip(path.split('/')).all(is_same)
        });
        let described = described.unwrap_or_else(|| panic!("{path} is not described"));
        let body = format!("/paths/{}/{}/requestBody", escaped(described), method.to_lowercase());
        Self {
            method,
            parts: path.split(access::UNKNOWN).map(str::to_owned).collect(),
            body: document.pointer(&body).map(|described| {
                let content = format!("{body}/content/application~1json");
                let schema = format!("{content}/schema");
                let (_, of_fields) = resolved(document, &schema);
                let fields = of_fields["properties"].as_object().unwrap();
                let example = document.pointer(&format!("{content}/example"));
                let text = described["description"].as_str().unwrap();
                Body {
                    example: example.cloned().unwrap_or_else(|| sample(document, &schema)),
                    fields: fields.keys().cloned().collect(),
                    most_bytes: most_bytes(text).unwrap_or_else(|| panic!("{path}: {text}")),
                }
            }),
        }
    }
}

/// The limit in a description that begins with "At most 4 KiB."
fn most_bytes(description: &str) -> Option<usize> {
    let (kib, _) = description.strip_prefix("At most ")?.split_once(" KiB.")?;
    Some(kib.parse::<usize>().ok()? << 10)
}

/// An object with the fields that a schema requires.
fn sample(document: &Value, schema: &str) -> Value {
    let (location, schema) = resolved(document, schema);
    let required = schema["required"].as_array().into_iter().flatten();
    let fields = required.filter_map(Value::as_str).map(|name| {
        let field = format!("{location}/properties/{name}");
        let (_, described) = resolved(document, &field);
        let value = match described["type"].as_str() {
            Some("object") => sample(document, &field),
            Some("array") => json!([]),
            Some("integer") => json!(1),
            _ => json!("AAAA"),
        };
        (name.to_owned(), value)
    });
    Value::Object(fields.collect())
}

/// The bodies that differ from the example in one value, at any depth, or that have one field more.
fn changed(body: &Body) -> Vec<Value> {
    let mut places = Vec::new();
    collect_places(&body.example, String::new(), &mut places);
    let mut bodies = vec![body.example.clone(), json!({})];
    for value in values() {
        for place in &places {
            let mut changed = body.example.clone();
            *changed.pointer_mut(place).unwrap() = value.clone();
            bodies.push(changed);
        }
        for field in body.fields.iter().filter(|field| body.example.get(field).is_none()) {
            let mut changed = body.example.clone();
            changed[field] = value.clone();
            bodies.push(changed);
        }
    }
    let mut further = body.example.clone();
    further["a_field_that_nobody_knows"] = json!(1);
    bodies.push(further);
    bodies
}

fn collect_places(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                collect_places(field, format!("{place}/{}", escaped(name)), places);
            }
        }
        Value::Array(items) => {
            for (nth, item) in items.iter().enumerate().take(1) {
                collect_places(item, format!("{place}/{nth}"), places);
            }
        }
        _ => {}
    }
    if !place.is_empty() {
        places.push(place);
    }
}

/// The headers of the page's own calls, and those that some calls want besides.
fn headers(browser: &Browser<'_>) -> Vec<(&'static str, String)> {
    let cookie = browser.cookie.clone().unwrap();
    [
        ("Host", HOST),
        ("Sec-Fetch-Site", "same-origin"),
        ("Origin", ORIGIN),
        ("Content-Type", "application/json"),
        ("X-Publisher", PUBLISHER),
        ("If-Match", "\"1\""),
        ("Idempotency-Key", "key"),
        ("Cookie", &cookie),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into()
}

fn send(browser: &Browser<'_>, call: &Call, path: &str, headers: &[(&'static str, String)], body: &[u8]) -> Answer {
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let body = if call.method == "GET" { b"" } else { body };
    let answer = browser.signpost.send(call.method, path, &headers, body);
    assert!(answer.status < 500, "{answer:?}");
    if answer.status >= 400 {
        let (status, code) = (answer.status, answer.code());
        return answer.expect_error(status, &code);
    }
    answer
}

/// Sends bodies that are no object, that are too long, or that have a wrong value.
fn send_bodies(browser: &Browser<'_>, call: &Call) {
    let (path, mut headers) = (call.path(&call.ids()), headers(browser));
    let Some(body) = &call.body else {
        for text in BODIES.iter().copied().chain(["[".repeat(100_000).as_str()]) {
            send(browser, call, &path, &headers, text.as_bytes());
        }
        return;
    };
    let mut bodies: Vec<Vec<u8>> = BODIES.map(|text| text.as_bytes().to_vec()).into();
    bodies.push(b"{\"\xff\": \"\xfe\"}".to_vec());
    for open in ["[", "{\"a\":"] {
        bodies.push(open.repeat(body.most_bytes / open.len()).into());
    }
    for (name, value) in body.example.as_object().unwrap() {
        // The same name twice.
        bodies.push(format!("{{{name:?}: {value}, {name:?}: {value}}}").into());
        // Depth in a place where any value is read.
        let deep = "[".repeat(body.most_bytes / 4);
        bodies.push(format!("{{{name:?}: {deep}").into());
    }
    for text in bodies {
        let answer = send(browser, call, &path, &headers, &text);
        assert!((400..500).contains(&answer.status), "{answer:?}");
    }
    let long = " ".repeat(body.most_bytes + 1 - 2);
    let long = format!("{{{long}}}");
    send(browser, call, &path, &headers, long.as_bytes()).expect_error(413, "payload_too_large");
    for changed in changed(body) {
        if call.method == "PATCH" && path.ends_with(APP) {
            // As the app is, so that the body is what is refused.
            let read = browser.get(&format!("apps/{APP}")).expect(200);
            let revision = read.header("ETag").unwrap().to_owned();
            headers.retain(|(name, _)| *name != "If-Match");
            headers.push(("If-Match", revision));
        }
        send(browser, call, &path, &headers, changed.to_string().as_bytes());
    }
}

/// Sends each odd id in the place of each id of the path.
fn send_ids(browser: &Browser<'_>, call: &Call) {
    let headers = headers(browser);
    let body = call.body.as_ref().map_or(json!({}), |body| body.example.clone());
    let long = "a".repeat(4_000);
    for nth in 0..call.parts.len() - 1 {
        for id in IDS.into_iter().chain([long.as_str()]) {
            let mut ids = call.ids();
            ids[nth] = id;
            let path = call.path(&ids);
            let answer = send(browser, call, &path, &headers, body.to_string().as_bytes());
            assert!(answer.status >= 400, "{answer:?}");
        }
    }
}

/// Leaves each header out, and sends it with odd values.
fn send_headers(browser: &Browser<'_>, call: &Call) {
    let (path, usual) = (call.path(&call.ids()), headers(browser));
    let body = call.body.as_ref().map_or(json!({}), |body| body.example.clone());
    let body = body.to_string();
    let long = "\"".repeat(4_000);
    for (name, _) in &usual {
        let without: Vec<_> = usual.iter().filter(|(known, _)| known != name).cloned().collect();
        if *name != "Host" {
            send(browser, call, &path, &without, body.as_bytes());
        }
        for value in ["", "*", "W/\"1\"", "a, b", "null", "\u{e9}\u{1f98a}", &long] {
            let odd = [without.as_slice(), &[(*name, value.to_owned())]].concat();
            if *name != "Host" {
                send(browser, call, &path, &odd, body.as_bytes());
            }
        }
    }
}

#[test]
fn no_input_makes_a_call_of_a_member_fail() {
    let signpost = Setup::new().start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall(PUBLISHER, APP, Some(&receiver));
    let browser = signed_in(&signpost, &signpost.existing_publisher(PUBLISHER), "owner");
    // Some calls know an app by its rewards alone.
    wall.pay("user-1");
    let rewards = || browser.post("rewards", &json!({})).expect(200).json()["rows"].clone();
    eventually(&1, || rewards().as_array().unwrap().len());
    let document = dashboard_document();
    let calls = access::member_calls();
    let mut calls: Vec<_> = calls.iter().map(|(method, path, _)| Call::read(&document, method, path)).collect();
    // Changes of the app, some of which take its callback away, come after the calls that want one.
    calls.sort_by_key(|call| ["PATCH", "DELETE"].contains(&call.method));
    for call in &calls {
        send_bodies(&browser, call);
        send_ids(&browser, call);
        send_headers(&browser, call);
    }
    signpost.fence();
    let faults: Vec<_> = signpost.log_lines().into_iter().filter(|line| line["level"] == "error").collect();
    assert!(faults.is_empty(), "{faults:?}");
    assert!(!signpost.log().contains("panic"));
}

//! Refusals of offers requests: bodies, pages, filters, queries, sizes, media types, methods and paths.

use serde_json::json;
use ureq::SendBody;

use super::{GOOD, JSON, PATH, Served, filter};
use crate::harness::{ANDROID_APP, Answer};

/// Sends a body unchanged, with valid credentials.
fn send(served: &Served, body: impl AsRef<[u8]>) -> Answer {
    let headers = [("App-Id", ANDROID_APP), ("Pub-Key", &served.pub_key), JSON];
    served.signpost.send("POST", PATH, &headers, body.as_ref())
}

#[test]
fn an_unreadable_body_is_refused() {
    let served = Served::shared();
    for body in [
        "",
        "{",
        "[]",
        "null",
        "\"page\"",
        "1",
        "{\"page\":1,\"size\":1} x",
        "{'page':1,'size':1}",
        "page=1&size=1",
        &"[".repeat(10_000),
    ] {
        send(&served, body).expect_error(400, "invalid_json");
    }
    send(&served, b"{\"page\":1,\"size\":1,\"x\":\"\xff\"}").expect_error(400, "invalid_json");
}

#[test]
fn page_and_size_are_whole_numbers_in_their_range() {
    let served = Served::shared();
    for (body, named) in
        [("{}", "page"), (r#"{"size":1}"#, "page"), (r#"{"page":1}"#, "size"), (r#"{"page":1,"Size":1}"#, "size")]
    {
        let answer = send(&served, body).expect_error(400, "missing_field");
        assert!(answer.json()["error"].as_str().unwrap().contains(named), "{answer:?}");
    }
    let never = ["0", "-1", "1.5", "1.0", "1e0", "\"1\"", "null", "true", "[1]", "{}", "1e9", "4294967296", "1e999"];
    for page in never {
        let code = if page == "1e999" { "invalid_json" } else { "invalid_page" };
        send(&served, format!("{{\"page\":{page},\"size\":1}}")).expect_error(400, code);
    }
    for size in never.into_iter().chain(["1001", "18446744073709551616"]) {
        let code = if size == "1e999" { "invalid_json" } else { "invalid_size" };
        send(&served, format!("{{\"page\":1,\"size\":{size}}}")).expect_error(400, code);
    }
    for (page, size) in [("1", "1"), ("1", "1000"), ("4294967295", "1000")] {
        send(&served, format!("{{\"page\":{page},\"size\":{size},\"more\":1}}")).expect(200);
    }
}

/// Invalid lists of filters, and the path that the message names.
const WRONG_LISTS: &[(&str, &str)] = &[
    ("{}", "filt"),
    (r#""CPI""#, "filt"),
    ("1", "filt"),
    ("[1]", "filt[0]"),
    ("[{}]", "filt[0].dim"),
    (r#"[{"match":{"type":"any","value":["1"]}}]"#, "filt[0].dim"),
    (r#"[{"dim":"offer_id"}]"#, "filt[0].match"),
    (r#"[{"dim":"offer_id","match":"1"}]"#, "filt[0].match"),
    (r#"[{"dim":"offer_id","match":{"type":"any","value":["1"]},"not":1}]"#, "filt[0].not"),
    (r#"[{"dim":"offer_id","match":{"type":"any","value":["1"]}},{"dim":"os"}]"#, "filt[1].dim"),
];

/// Invalid dimensions or matches as JSON, and the path that the message names.
const WRONG_FILTERS: &[(&str, &str, &str)] = &[
    ("1", r#"{"type":"any","value":["1"]}"#, "dim"),
    ("\"currency\"", r#"{"type":"any","value":["1"]}"#, "dim"),
    ("\"offer_type\"", r#"{"value":["CPI"]}"#, "match.type"),
    ("\"offer_type\"", r#"{"type":"all","value":["CPI"]}"#, "match.type"),
    ("\"offer_type\"", r#"{"type":null,"value":["CPI"]}"#, "match.type"),
    ("\"offer_type\"", r#"{"type":"any"}"#, "match.value"),
    ("\"offer_type\"", r#"{"type":"any","value":"CPI"}"#, "match.value"),
    ("\"offer_type\"", r#"{"type":"any","value":[]}"#, "match.value"),
    ("\"offer_type\"", r#"{"type":"any","value":[1]}"#, "match.value"),
    ("\"offer_type\"", r#"{"type":"any","value":["CPI",null]}"#, "match.value"),
    ("\"offer_type\"", r#"{"type":"any","values":[]}"#, "match.values"),
    ("\"offer_type\"", r#"{"type":"any","value":["CPI"],"case":0}"#, "match.case"),
    ("\"offer_type\"", r#"{"type":"any","value":["CPI"],"values":["CPE"]}"#, "match.value"),
    ("\"offer_type\"", r#"{"type":"exact","value":["CPI","CPE"]}"#, "match.value"),
    ("\"offer_type\"", r#"{"type":"exact","value":[]}"#, "match.value"),
    ("\"offer_type\"", r#"{"type":"any","value":["CPI","CPX"]}"#, "match.value[1]"),
    ("\"offer_type\"", r#"{"type":"any","value":["cpi"]}"#, "match.value[0]"),
    ("\"platform\"", r#"{"type":"any","values":["windows"]}"#, "match.values[0]"),
    ("\"country\"", r#"{"type":"any","value":["DE","UK"]}"#, "match.value[1]"),
    ("\"country\"", r#"{"type":"any","value":["DEU"]}"#, "match.value[0]"),
    ("\"country\"", r#"{"type":"any","value":["XX"]}"#, "match.value[0]"),
    ("\"country\"", r#"{"type":"any","value":[""]}"#, "match.value[0]"),
];

#[test]
fn a_wrong_filter_is_refused_and_its_path_is_named() {
    let served = Served::shared();
    let refuse = |filt: &str, named: &str| {
        let answer = send(&served, format!("{{\"page\":1,\"size\":1,\"filt\":{filt}}}"));
        let answer = answer.expect_error(400, "invalid_filter");
        assert!(answer.json()["error"].as_str().unwrap().contains(named), "{named}: {answer:?}");
    };
    for (filt, named) in WRONG_LISTS {
        refuse(filt, named);
    }
    for (dim, matching, named) in WRONG_FILTERS {
        let filt = format!("[{{\"dim\":{dim},\"match\":{matching}}}]");
        refuse(&filt, &format!("filt[0].{named}"));
    }
    let ids: Vec<_> = (0..1_001).map(|n| n.to_string()).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let many = |filters, values| {
        let filters = vec![filter("offer_id", "any", &ids[..values]); filters];
        served.list(ANDROID_APP, &json!({ "page": 1, "size": 1, "filt": filters }))
    };
    many(64, 10).expect(200);
    many(65, 10).expect_error(400, "invalid_filter");
    many(1, 1_000).expect(200);
    many(1, 1_001).expect_error(400, "invalid_filter");
}

#[test]
fn a_wrong_query_is_refused_like_a_wrong_body() {
    let served = Served::shared();
    let headers = [("App-Id", ANDROID_APP), ("Pub-Key", served.pub_key.as_str())];
    let any = "%5B%7B%22dim%22%3A%22os%22%7D%5D";
    for (query, code) in [
        ("", "missing_field"),
        ("?size=1", "missing_field"),
        ("?page=1", "missing_field"),
        ("?page=&size=1", "invalid_page"),
        ("?page=0&size=1", "invalid_page"),
        ("?page=-1&size=1", "invalid_page"),
        ("?page=1.5&size=1", "invalid_page"),
        ("?page=%221%22&size=1", "invalid_page"),
        ("?page=4294967296&size=1", "invalid_page"),
        ("?page=1&page=1&size=1", "invalid_page"),
        ("?page=1&size=1001", "invalid_size"),
        ("?page=1&size=1e3", "invalid_size"),
        ("?page=1&size=1&size=2", "invalid_size"),
        ("?page=1&size=1&filt=%5B", "invalid_json"),
        ("?page=1&size=1&filt=CPI", "invalid_json"),
        ("?page=1&size=1&filt=%7B%7D", "invalid_filter"),
        (&format!("?page=1&size=1&filt={any}"), "invalid_filter"),
        ("?page=1&size=1&filt=%5B%5D&filt=%5B%5D", "invalid_filter"),
    ] {
        let answer = served.signpost.get(&format!("{PATH}{query}"), &headers);
        answer.expect_error(400, code);
    }
    served.signpost.get(&format!("{PATH}?page=1&size=1&filt=&other=1"), &headers).expect(200);
}

#[test]
fn sizes_types_methods_and_addresses_are_checked() {
    let served = Served::shared();
    let padded = |length: usize| [GOOD, " ".repeat(length - GOOD.len()).as_bytes()].concat();
    send(&served, padded(65_536)).expect(200);
    // Much longer bodies are not tested, since workerd may close the connection while they are sent.
    for length in [65_537, 100_000] {
        send(&served, padded(length)).expect_error(413, "payload_too_large");
    }
    // The limit also holds without a Content-Length.
    for (length, status) in [(65_536, 200), (65_537, 413)] {
        let body = padded(length);
        let request = ureq::post(format!("{}{PATH}", served.signpost.base()))
            .config()
            .http_status_as_error(false)
            .build()
            .header("App-Id", ANDROID_APP)
            .header("Pub-Key", &served.pub_key)
            .content_type("application/json");
        let answer = request.send(SendBody::from_reader(&mut body.as_slice())).unwrap();
        assert_eq!(answer.status().as_u16(), status, "{length} bytes in chunks");
    }

    let post = |content_type: &[(&str, &str)]| {
        let credentials = [("App-Id", ANDROID_APP), ("Pub-Key", served.pub_key.as_str())];
        served.signpost.send("POST", PATH, &[&credentials, content_type].concat(), GOOD)
    };
    for good in ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"] {
        post(&[("Content-Type", good)]).expect(200);
    }
    post(&[]).expect(200);
    for bad in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "json"] {
        post(&[("Content-Type", bad)]).expect_error(415, "unsupported_media_type");
    }

    let headers = [("App-Id", ANDROID_APP), ("Pub-Key", served.pub_key.as_str()), JSON];
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS"] {
        let answer = served.signpost.send(method, PATH, &headers, GOOD);
        let answer = answer.expect_error(405, "method_not_allowed");
        assert_eq!(answer.header("Allow"), Some("POST, GET, HEAD"), "{answer:?}");
    }
    for path in ["/v1/offer/api/", "/v1/offer", "/v2/offer/api", "//v1/offer/api", "/V1/offer/api"] {
        served.signpost.send("POST", path, &headers, GOOD).expect_error(404, "not_found");
    }
}

//! A request with two errors gets the one that is checked first (docs/DECISIONS.md, "Reports").

use serde_json::{Value, json};

use crate::{
    harness::{REPORT, ReportKey, demo},
    reports::{csv, query},
};

/// A request before it is sent.
struct Request {
    method: &'static str,
    content_type: &'static str,
    padding: usize,
    wrong_key: bool,
    used_key: bool,
    query: Value,
    /// Bytes after the query.
    tail: &'static str,
}

impl Request {
    fn good() -> Self {
        Self {
            method: "POST",
            content_type: "application/json",
            padding: 0,
            wrong_key: false,
            used_key: false,
            query: query(&["date"], &["clicks"]),
            tail: "",
        }
    }

    fn push(&mut self, list: &str, name: &str) {
        self.query[list].as_array_mut().unwrap().push(name.into());
    }
}

/// The name of an error, how to cause it, and the expected status and code.
type Fault = (&'static str, fn(&mut Request), u16, &'static str);

/// Errors in the order of the checks. Each can be caused in a request that has any later one.
const FAULTS: [Fault; 15] = [
    ("method", |r| r.method = "PUT", 405, "method_not_allowed"),
    ("content type", |r| r.content_type = "text/plain", 415, "unsupported_media_type"),
    ("size", |r| r.padding = 257 << 10, 413, "payload_too_large"),
    ("key", |r| r.wrong_key = true, 401, "invalid_api_key"),
    ("rate", |r| r.used_key = true, 429, "rate_limit_exceeded"),
    ("JSON", |r| r.tail = "}", 400, "invalid_json"),
    ("dimensions", |r| r.push("dimensions", "os"), 400, "invalid_dimension"),
    ("metrics", |r| r.push("metrics", "ctr"), 400, "invalid_metric"),
    ("start", |r| r.query["date_range"]["start_date"] = "2026-02-30".into(), 400, "invalid_start_date"),
    ("end", |r| r.query["date_range"]["end_date"] = "2026-06-31".into(), 400, "invalid_end_date"),
    ("span", |r| r.query["date_range"]["end_date"] = "2026-04-02".into(), 400, "date_range_too_long"),
    (
        "combination",
        |r| {
            r.push("dimensions", "ad_tag");
            r.push("metrics", "fill_rate");
        },
        400,
        "incompatible_dimension_metric",
    ),
    ("filters", |r| r.query["filters"] = json!([{"dimension": "country"}]), 400, "invalid_filter"),
    ("order", |r| r.query["order_by"] = json!([{"column": "date"}]), 400, "invalid_order_by"),
    ("pagination", |r| r.query["pagination"] = json!({"page": 0}), 400, "invalid_pagination"),
];

#[test]
fn of_two_errors_the_one_checked_first_is_returned() {
    let signpost = demo();
    let publisher = signpost.publisher("precedence");
    let fact = csv(&["2026-01-05,70000051,,DE,p,t,d,s,0,0,0,1,0"]);
    publisher.put_facts("2026-01-05", &fact).expect(200);
    let send = |request: &Request, key: &ReportKey| {
        let mut api_key = key.api_key.clone();
        if request.wrong_key {
            let last = api_key.pop();
            api_key.push(if last == Some('0') { '1' } else { '0' });
        }
        let headers = [("X-Api-Key", api_key.as_str()), ("Content-Type", request.content_type)];
        let body = format!("{}{}{}", request.query, request.tail, " ".repeat(request.padding));
        signpost.send(request.method, REPORT, &headers, body.as_bytes())
    };
    for (place, (first, break_first, status, code)) in FAULTS.iter().enumerate() {
        // Each error alone, and together with each later one.
        let others = std::iter::once(None).chain(FAULTS[place + 1..].iter().map(Some));
        for other in others {
            let key = publisher.create_key("precedence");
            let mut request = Request::good();
            if let Some((_, break_other, ..)) = other {
                break_other(&mut request);
            }
            break_first(&mut request);
            if request.used_key {
                send(&Request::good(), &key).expect(200);
            }
            let answer = send(&request, &key);
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (*status, *code),
                "{first} and {:?}: {answer:?}",
                other.map(|(name, ..)| name)
            );
            publisher.revoke_key(&key);
        }
    }
}

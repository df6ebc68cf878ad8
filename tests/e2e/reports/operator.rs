//! The operator's endpoints for reports: facts, stored days and report keys of a publisher.

use serde_json::{Value, json};

use crate::{harness::demo, reports::csv};

const FACT: &str = "2026-01-05,75000001,,DE,p,t,d,s,4,3,2,1,1.25";

#[test]
fn an_unknown_publisher_has_neither_keys_nor_facts() {
    let signpost = demo();
    for publisher in ["nobody-at-all", "nobody at all", "p_1"] {
        let publisher = publisher.replace(' ', "%20");
        for (method, rest, content_type) in [
            ("GET", "report_keys", ""),
            ("POST", "report_keys", "application/json"),
            ("DELETE", "report_keys/0123456789abcdef", ""),
            ("GET", "facts", ""),
            ("POST", "facts", "text/csv"),
            ("PUT", "facts/2026-01-05", "text/csv"),
        ] {
            let mut headers = vec![("Idempotency-Key", "key")];
            let body = match content_type {
                "text/csv" => csv(&[FACT]),
                "application/json" => json!({"label": "a"}).to_string(),
                _ => String::new(),
            };
            if !content_type.is_empty() {
                headers.push(("Content-Type", content_type));
            }
            let path = format!("publishers/{publisher}/{rest}");
            signpost.operate(method, &path, &headers, body.as_bytes()).expect_error(404, "not_found");
        }
    }
}

#[test]
fn without_the_operators_token_no_ledger_is_called() {
    let signpost = demo();
    let publisher = signpost.publisher("operating-token");
    let key = publisher.create_key("a");
    // A report key is not accepted as the operator's token.
    for authorization in ["", "Bearer wrong", &format!("Bearer {}", key.api_key)] {
        for (method, rest) in [
            ("GET", "report_keys"),
            ("POST", "report_keys"),
            ("DELETE", &format!("report_keys/{}", key.id)),
            ("GET", "facts"),
            ("POST", "facts"),
            ("PUT", "facts/2026-01-05"),
        ] {
            let path = format!("/v1/operator/publishers/operating-token/{rest}");
            let headers = [("Authorization", authorization), ("Content-Type", "text/csv"), ("Idempotency-Key", "key")];
            let body = if matches!(method, "GET" | "DELETE") { "" } else { FACT };
            signpost.send(method, &path, &headers, body.as_bytes()).expect_error(401, "invalid_operator_token");
        }
    }
    assert_eq!(publisher.days(), [] as [Value; 0]);
}

#[test]
fn methods_types_and_keys_of_uploads_are_checked() {
    let signpost = demo();
    let publisher = signpost.publisher("operating-types");
    let facts = csv(&[FACT]);
    let send = |method, rest, headers: &[(&str, &str)]| publisher.send_facts(method, rest, headers, facts.as_bytes());
    let csv_type = ("Content-Type", "text/csv");
    let key = ("Idempotency-Key", "key");
    for (method, rest, allow) in [
        ("PUT", "facts", "GET, POST"),
        ("POST", "facts/2026-01-05", "PUT"),
        ("PUT", "report_keys", "GET, POST"),
        ("POST", "report_keys/0123456789abcdef", "DELETE"),
    ] {
        let answer = send(method, rest, &[csv_type, key]).expect_error(405, "method_not_allowed");
        assert_eq!(answer.header("Allow"), Some(allow), "{answer:?}");
    }
    for wrong in ["application/json", "text/plain", "text/tab-separated-values", "csv"] {
        for (method, rest) in [("POST", "facts"), ("PUT", "facts/2026-01-05")] {
            send(method, rest, &[("Content-Type", wrong), key]).expect_error(415, "unsupported_media_type");
        }
    }
    for (method, rest) in [("POST", "facts"), ("PUT", "facts/2026-01-05")] {
        let encoding = ("Content-Encoding", "br");
        send(method, rest, &[csv_type, key, encoding]).expect_error(415, "unsupported_media_type");
    }
    for keyless in [&[csv_type][..], &[csv_type, ("Idempotency-Key", "")]] {
        let answer = send("POST", "facts", keyless).expect_error(400, "missing_field");
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains("Idempotency-Key"), "{answer:?}");
    }
    assert_eq!(publisher.days(), [] as [Value; 0]);
}

#[test]
fn an_increment_counts_once_and_its_idempotency_key_cannot_be_reused_for_other_facts() {
    let signpost = demo();
    let publisher = signpost.publisher("operating-repeats");
    let facts = csv(&[FACT, &FACT.replace("DE", "FR")]);
    for duplicate in [false, true, true] {
        let body = publisher.add_facts("june", &facts).expect(200).json();
        assert_eq!(body, json!({"rows": 2, "duplicate": duplicate}));
    }
    for other in [csv(&[FACT]), csv(&[&FACT.replace("1.25", "1.26"), &FACT.replace("DE", "FR")])] {
        publisher.add_facts("june", &other).expect_error(409, "idempotency_key_reused");
    }
    // Invalid facts are refused under a used key, too. Keys that differ in case or length are different keys.
    publisher.add_facts("june", &csv(&["x"])).expect_error(400, "invalid_facts");
    for key in ["June", "june-2", &"k".repeat(255)] {
        let body = publisher.add_facts(key, &facts).expect(200).json();
        assert_eq!(body["duplicate"], false, "{key}");
    }
    let days = publisher.days();
    assert_eq!(days.len(), 1);
    assert_eq!(days[0]["loaded"]["clicks"], 2 * 4, "{days:?}");
    assert_eq!(days[0]["loaded"]["revenue"].as_f64(), Some(10.0), "{days:?}");
}

#[test]
fn stored_days_are_listed_page_by_page_newest_first() {
    let signpost = demo();
    let publisher = signpost.publisher("operating-days");
    let listed = |query: &str| {
        let path = format!("facts{query}");
        publisher.operator("GET", &path, None).expect(200).json()
    };
    assert_eq!(listed(""), json!({"days": [], "cursor": null}));
    let day = |n: usize| format!("2026-{:02}-{:02}", 1 + n / 20, 1 + n % 20);
    for n in 0..23 {
        let date = day(n);
        let rows = [FACT.replace("2026-01-05", &date), FACT.replace("2026-01-05", &date).replace("DE", "FR")];
        publisher.put_facts(&date, &csv(&[&rows[0], &rows[1]])).expect(200);
    }
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = listed(&format!("?limit=10{cursor}"));
        let days = page["days"].as_array().unwrap();
        assert!(!days.is_empty() && days.len() <= 10, "{page}");
        seen.extend(days.iter().cloned());
        match page["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let expected: Vec<_> = (0..23).rev().map(day).collect();
    let dates: Vec<_> = seen.iter().map(|day| day["date"].as_str().unwrap()).collect();
    assert_eq!(dates, expected);
    for day in &seen {
        let loaded = &day["loaded"];
        for (measure, sum) in [
            ("rows", json!(2)),
            ("ad_requests", json!(8)),
            ("ad_responses", json!(6)),
            ("impressions", json!(4)),
            ("clicks", json!(2)),
            ("revenue", json!(2.5)),
        ] {
            assert_eq!(loaded[measure], sum, "{measure} of {day}");
        }
        assert!(loaded["segments"].as_i64().unwrap() >= 1, "{day}");
        assert!(day["offers"].is_null(), "{day}");
    }
    for limit in ["0", "-1", "x", "100000"] {
        let path = format!("facts?limit={limit}");
        publisher.operator("GET", &path, None).expect_error(400, "invalid_field");
    }
    let answer = publisher.operator("GET", "facts?cursor=yesterday", None);
    assert_eq!(answer.status, 400, "{answer:?}");
}

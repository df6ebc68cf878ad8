//! Report requests that are refused before the query is checked: by method, media type, size, key or invalid JSON.

use crate::{
    harness::{REPORT, demo},
    reports::errors::{good, with_facts},
};

#[test]
fn a_request_with_a_wrong_method_type_size_or_body_is_refused_before_its_query_is_checked() {
    let signpost = demo();
    let (publisher, key) = with_facts(&signpost, "errors-requests");
    let json_type = ("Content-Type", "application/json");
    let good = good().to_string();
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let body = if matches!(method, "PUT" | "PATCH") { good.as_str() } else { "" };
        let headers = [("X-Api-Key", key.api_key.as_str()), json_type];
        let answer = signpost.send(method, REPORT, &headers, body.as_bytes()).expect_error(405, "method_not_allowed");
        assert_eq!(answer.header("Allow"), Some("POST"), "{answer:?}");
    }
    for content_type in ["text/plain", "text/csv", "application/x-www-form-urlencoded", ""] {
        let mut headers = vec![("X-Api-Key", key.api_key.as_str())];
        if !content_type.is_empty() {
            headers.push(("Content-Type", content_type));
        }
        signpost.report(&headers, good.as_bytes()).expect_error(415, "unsupported_media_type");
    }
    let padded = |bytes: usize| format!("{good}{}", " ".repeat(bytes - good.len()));
    let headers = [("X-Api-Key", key.api_key.as_str()), json_type];
    signpost.report(&headers, padded((256 << 10) + 1).as_bytes()).expect_error(413, "payload_too_large");
    // None of these counted against the key's rate, and 256 KiB is not too large.
    signpost.report(&headers, padded(256 << 10).as_bytes()).expect(200);
    let media_type = [("X-Api-Key", key.api_key.as_str()), ("Content-Type", "Application/JSON; charset=utf-8")];
    let answer = signpost.report(&media_type, good.as_bytes());
    let answer = answer.expect_error(429, "rate_limit_exceeded");
    assert_eq!(answer.json()["error"], "rate limit exceeded", "{answer:?}");

    let broken: [&[u8]; 8] =
        [b"", b"{", b"[]", b"null", b"\"date\"", b"{} {}", b"{\"dimensions\":[\"date\"],}", b"{\"x\":\"\xff\"}"];
    for body in broken {
        let fresh = publisher.create_key("broken");
        let headers = [("X-Api-Key", fresh.api_key.as_str()), json_type];
        signpost.report(&headers, body).expect_error(400, "invalid_json");
        publisher.revoke_key(&fresh);
    }
}

#[test]
fn missing_wrong_and_revoked_keys_get_the_same_answer() {
    let signpost = demo();
    let (publisher, key) = with_facts(&signpost, "errors-keys");
    let revoked = publisher.create_key("revoked");
    publisher.revoke_key(&revoked);
    let wrong = [
        None,
        Some(""),
        Some("nonsense"),
        Some("sk_errors-keys_0123_4567"),
        Some(revoked.api_key.as_str()),
        Some(key.id.as_str()),
    ];
    for api_key in wrong {
        let mut headers = vec![("Content-Type", "application/json")];
        headers.extend(api_key.map(|api_key| ("X-Api-Key", api_key)));
        let answer = signpost.report(&headers, good().to_string().as_bytes()).expect_error(401, "invalid_api_key");
        assert_eq!(answer.json()["error"], "invalid or inactive api key", "{answer:?}");
        assert_eq!(answer.header("RateLimit"), None, "{answer:?}");
    }
}

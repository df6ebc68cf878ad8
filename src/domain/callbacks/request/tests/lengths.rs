//! URLs that would be too long.

use super::*;

#[test]
fn a_url_that_is_too_long_is_sent_without_the_reason() {
    let endpoint = Endpoint::parse(&get("https://x.example/cb")).unwrap();
    let base = Fields { reason: Some("\u{43f}".repeat(200)), ..fields() };
    let request = endpoint.request(&base, NOW);
    assert!(request.url.contains("&reason=") && request.url.len() < MAX_URL);
    let long = Fields { c1: Some("@".repeat(1_000)), ..base };
    let request = endpoint.request(&long, NOW);
    assert!(!request.url.contains("&reason=") && request.url.len() < MAX_URL, "{}", request.url);
}

use serde::Serialize;
use serde_json::json;

use super::*;

fn refusal(body: &str) -> (&'static str, String) {
    let refusal = OffersRequest::from_body(body).expect_err(body);
    assert_eq!(refusal.status, 400, "{body:.60}");
    (refusal.code, refusal.message.into_owned())
}

fn filters(filt: Value) -> Result<Vec<Filter>, ApiError> {
    OffersRequest::from_body(&json!({ "page": 1, "size": 1, "filt": filt }).to_string()).map(|read| read.filters)
}

fn country(code: &str) -> Country {
    Country::parse(code).unwrap()
}

fn id(text: &str) -> OfferId {
    OfferId::parse(text).unwrap()
}

/// A `filt` of one filter.
fn any(dim: &str, values: impl Serialize) -> Value {
    json!([{ "dim": dim, "match": { "type": "any", "value": values } }])
}

/// A request without filters.
fn unfiltered(page: u32, size: u32) -> OffersRequest {
    OffersRequest { page, size, filters: vec![] }
}

#[test]
fn a_body_that_is_not_a_json_object_is_invalid_json() {
    for body in ["", "{", "[1]", "null", "{\"page\":1,}", "{\"page\":1} x", "\"page\"", &"[".repeat(60_000)] {
        assert_eq!(refusal(body).0, "invalid_json", "{body:.20}");
    }
}

#[test]
fn page_and_size_are_required() {
    for (body, name) in [("{}", "page"), (r#"{"size":1}"#, "page"), (r#"{"page":1}"#, "size")] {
        let expected = ("missing_field", format!("{name} is missing"));
        assert_eq!(refusal(body), expected, "{body}");
    }
}

#[test]
fn page_and_size_are_integers_in_their_range_and_never_clamped() {
    for bad in ["\"1\"", "1.5", "1.0", "0", "-1", "1e9", "1e0", "4294967296", "null", "[1]", "true"] {
        let page = OffersRequest::from_body(&format!("{{\"page\":{bad},\"size\":1}}")).expect_err(bad);
        let size = OffersRequest::from_body(&format!("{{\"page\":1,\"size\":{bad}}}")).expect_err(bad);
        assert_eq!((page, size), (INVALID_PAGE, INVALID_SIZE), "{bad}");
    }
    for (body, code) in [
        (r#"{"page":1e400,"size":1}"#, "invalid_json"),
        (r#"{"page":1,"size":1e400}"#, "invalid_json"),
        (r#"{"page":1,"size":1001}"#, "invalid_size"),
    ] {
        assert_eq!(refusal(body).0, code, "{body}");
    }
    let largest = OffersRequest::from_body(r#"{"page":4294967295,"size":1000}"#);
    assert_eq!(largest, Ok(unfiltered(u32::MAX, 1000)));
}

#[test]
fn filters_may_be_absent_null_or_empty_and_unknown_members_are_ignored() {
    for body in [
        r#"{"page":2,"size":20}"#,
        r#"{"page":2,"size":20,"filt":null}"#,
        r#"{"page":2,"size":20,"filt":[],"sort":"new"}"#,
    ] {
        assert_eq!(OffersRequest::from_body(body), Ok(unfiltered(2, 20)), "{body}");
    }
}

#[test]
fn each_dimension_is_parsed() {
    for (filt, expected) in [
        (any("offer_type", ["CPI", "APK_REGISTER"]), Filter::OfferType(vec![OfferType::Cpi, OfferType::ApkRegister])),
        (any("platform", ["web", "ios"]), Filter::Platform(vec![Platform::Ios, Platform::Web])),
        (any("country", ["us", "DE", "US"]), Filter::Country(vec![country("DE"), country("US")])),
        (any("offer_id", ["23818", "x"]), Filter::OfferId(vec![id("23818"), id("x")])),
        (any("offer_id", ["no such id!", ""]), Filter::OfferId(vec![])),
    ] {
        assert_eq!(filters(filt.clone()), Ok(vec![expected]), "{filt}");
    }
}

#[test]
fn values_is_accepted_for_value_and_exact_equals_any_with_one_value() {
    let expected = Ok(vec![Filter::Country(vec![country("US")])]);
    for matching in [
        json!({ "type": "any", "value": ["US"] }),
        json!({ "type": "exact", "value": ["us"] }),
        json!({ "type": "exact", "values": ["US"] }),
        json!({ "type": "any", "value": ["US"], "values": ["US"] }),
    ] {
        let filt = json!([{ "dim": "country", "match": matching }]);
        assert_eq!(filters(filt.clone()), expected, "{filt}");
    }
}

#[test]
fn an_invalid_filter_is_refused_with_the_path_of_the_error() {
    let good = json!({ "dim": "country", "match": { "type": "any", "value": ["US"] } });
    let check = |filt: Value, message: &str| {
        let refusal = filters(filt.clone()).expect_err(message);
        assert_eq!((refusal.code, refusal.status), ("invalid_filter", 400), "{filt}");
        assert_eq!(refusal.message, message, "{filt}");
    };
    check(json!({}), "filt must be an array");
    check(json!("US"), "filt must be an array");
    check(json!([good, 7]), "filt[1] must be an object");
    check(json!(vec![&good; 65]), "filt must be at most 64 filters");
    assert!(filters(json!(vec![&good; 64])).is_ok());

    for (filter, fault) in [
        (json!({ "match": {} }), ".dim is missing"),
        (json!({ "dim": 7 }), ".dim must be a string"),
        (json!({ "dim": "Country" }), ".dim must be offer_type, platform, country or offer_id"),
        (json!({ "dim": "country" }), ".match is missing"),
        (json!({ "dim": "country", "match": [] }), ".match must be an object"),
        (json!({ "dim": "country", "match": {}, "not": true }), ".not is unknown"),
    ] {
        check(json!([filter]), &format!("filt[0]{fault}"));
    }

    for (matching, fault) in [
        (json!({ "value": ["US"] }), ".type is missing"),
        (json!({ "type": null, "value": ["US"] }), ".type must be a string"),
        (json!({ "type": "none", "value": ["US"] }), ".type must be any or exact"),
        (json!({ "type": "any" }), ".value is missing"),
        (json!({ "type": "any", "value": ["US"], "x": 1 }), ".x is unknown"),
        (json!({ "type": "any", "value": ["US"], "values": ["DE"] }), ".value and .values are both given and differ"),
        (json!({ "type": "exact", "values": ["US", "US"] }), ".values must be exactly one value if type is exact"),
    ] {
        let filt = json!([good, { "dim": "country", "match": matching }]);
        check(filt, &format!("filt[1].match{fault}"));
    }

    for (dim, values, fault) in [
        ("country", json!("US"), " must be an array of strings"),
        ("country", json!(null), " must be an array of strings"),
        ("country", json!(["US", 1]), " must be an array of strings"),
        ("country", json!([]), " must not be empty"),
        ("country", json!(["US", "UK"]), "[1] is not an assigned ISO 3166 alpha-2 code"),
        ("platform", json!(["Android"]), "[0] is not ios, android or web"),
        ("offer_type", json!(["CPM"]), "[0] is not an offer type"),
        ("offer_id", json!(vec!["1"; 1001]), " must be at most 1000 values"),
    ] {
        check(any(dim, values), &format!("filt[0].match.value{fault}"));
    }
    assert!(filters(any("offer_id", vec!["1"; 1000])).is_ok());
}

#[test]
fn requests_for_the_same_offers_are_equal() {
    let one = filters(json!([
        { "dim": "platform", "match": { "type": "exact", "value": ["ios"] } },
        { "dim": "country", "match": { "type": "any", "value": ["us", "DE", "US"] } },
        { "dim": "platform", "match": { "type": "any", "values": ["ios", "ios"] } },
    ]));
    let other = filters(json!([
        { "match": { "values": ["DE", "US"], "type": "any" }, "dim": "country" },
        { "dim": "platform", "match": { "type": "any", "value": ["ios"] } },
    ]));
    assert_eq!(one, other);
    assert_eq!(one.map(|filters| filters.len()), Ok(2));
}

#[test]
fn the_query_of_a_get_is_equal_to_a_body() {
    let filt = r#"[{"dim":"country","match":{"type":"any","value":["US", "DE"]}}]"#;
    let body = OffersRequest::from_body(&format!(r#"{{"page":3,"size":20,"filt":{filt}}}"#)).unwrap();
    let encoded = |set| percent_encoding::utf8_percent_encode(filt, set).to_string();
    let by_form: String = url::form_urlencoded::byte_serialize(filt.as_bytes()).collect();
    for filt in [encoded(percent_encoding::NON_ALPHANUMERIC), encoded(percent_encoding::CONTROLS), by_form] {
        let query = format!("page=3&size=20&utm=x&filt={filt}");
        assert_eq!(OffersRequest::from_query(&query).as_ref(), Ok(&body), "{query}");
    }
    for query in ["page=1&size=5", "size=5&page=1&filt=", "page=1&size=%35&filt=null", "?&page=1&size=5&filt=[]"] {
        assert_eq!(OffersRequest::from_query(query), Ok(unfiltered(1, 5)), "{query}");
    }
}

#[test]
fn an_invalid_query_is_refused_like_an_invalid_body() {
    for (query, code) in [
        ("", "missing_field"),
        ("page=1", "missing_field"),
        ("page=&size=1", "invalid_page"),
        ("page=+1&size=1", "invalid_page"),
        ("page=%2B1&size=1", "invalid_page"),
        ("page=1.0&size=1", "invalid_page"),
        ("page=1&page=1&size=1", "invalid_page"),
        ("page=1&size=0", "invalid_size"),
        ("page=1&size=1001", "invalid_size"),
        ("page=1&size=1&size=2", "invalid_size"),
        ("page=1&size=1&filt=[&filt=[]", "invalid_filter"),
        ("page=1&size=1&filt=[", "invalid_json"),
        ("page=1&size=1&filt=%zz", "invalid_json"),
        ("page=1&size=1&filt={}", "invalid_filter"),
    ] {
        let refusal = OffersRequest::from_query(query).expect_err(query);
        assert_eq!((refusal.code, refusal.status), (code, 400), "{query}: {refusal:?}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in "[ -~é]{0,80}", json in r#"[\[\]{}",:a-z0-9]{0,60}"#) {
        let _ = (OffersRequest::from_body(&text), OffersRequest::from_query(&text));
        let filt = format!(r#"{{"page":1,"size":1,"filt":{json}}}"#);
        if let Err(refusal) = OffersRequest::from_body(&filt) {
            proptest::prop_assert_eq!(refusal.status, 400);
        }
    }
}

use serde_json::json;

use super::*;

fn refusal(body: &str) -> (&'static str, String) {
    let refusal = OffersRequest::from_body(body).expect_err(body);
    assert_eq!(refusal.status, 400);
    (refusal.code, refusal.message.into_owned())
}

fn filters(filt: Value) -> Result<Vec<Filter>, ApiError> {
    OffersRequest::from_body(&json!({ "page": 1, "size": 1, "filt": filt }).to_string())
        .map(|read| read.filters)
}

fn country(code: &str) -> Country {
    Country::parse(code).unwrap()
}

#[test]
fn a_body_that_is_not_a_json_object_is_invalid_json() {
    for body in [
        "",
        "{",
        "[1]",
        "null",
        "{\"page\":1,}",
        "{\"page\":1} x",
        "\"page\"",
        &"[".repeat(60_000),
    ] {
        assert_eq!(refusal(body).0, "invalid_json", "{body:.20}");
    }
}

#[test]
fn page_and_size_are_required() {
    let missing = |name: &str| ("missing_field", format!("{name} is missing"));
    assert_eq!(refusal("{}"), missing("page"));
    assert_eq!(refusal(r#"{"size":1}"#), missing("page"));
    assert_eq!(refusal(r#"{"page":1}"#), missing("size"));
}

#[test]
fn page_and_size_are_integers_in_their_range_and_never_clamped() {
    for bad in [
        "\"1\"",
        "1.5",
        "1.0",
        "0",
        "-1",
        "1e9",
        "1e0",
        "4294967296",
        "1e400",
        "null",
        "[1]",
        "true",
    ] {
        let page = OffersRequest::from_body(&format!("{{\"page\":{bad},\"size\":1}}")).unwrap_err();
        let size = OffersRequest::from_body(&format!("{{\"page\":1,\"size\":{bad}}}")).unwrap_err();
        if bad == "1e400" {
            assert_eq!((page.code, size.code), ("invalid_json", "invalid_json"));
        } else {
            assert_eq!((page, size), (INVALID_PAGE, INVALID_SIZE), "{bad}");
        }
    }
    assert_eq!(refusal(r#"{"page":1,"size":1001}"#).0, "invalid_size");
    let largest = OffersRequest::from_body(r#"{"page":4294967295,"size":1000}"#).unwrap();
    assert_eq!(
        largest,
        OffersRequest {
            page: u32::MAX,
            size: 1000,
            filters: vec![]
        }
    );
}

#[test]
fn filters_may_be_absent_null_or_empty_and_unknown_members_are_ignored() {
    let expected = OffersRequest {
        page: 2,
        size: 20,
        filters: vec![],
    };
    for body in [
        r#"{"page":2,"size":20}"#,
        r#"{"page":2,"size":20,"filt":null}"#,
        r#"{"page":2,"size":20,"filt":[],"sort":"new"}"#,
    ] {
        assert_eq!(OffersRequest::from_body(body), Ok(expected.clone()));
    }
}

#[test]
fn each_dimension_is_parsed() {
    let any =
        |dim: &str, values: &[&str]| json!([{ "dim": dim, "match": { "type": "any", "value": values } }]);
    for (filt, expected) in [
        (
            any("offer_type", &["CPI", "APK_REGISTER"]),
            Filter::OfferType(vec![OfferType::Cpi, OfferType::ApkRegister]),
        ),
        (
            any("platform", &["web", "ios"]),
            Filter::Platform(vec![Platform::Ios, Platform::Web]),
        ),
        (
            any("country", &["us", "DE", "US"]),
            Filter::Country(vec![country("DE"), country("US")]),
        ),
        (
            any("offer_id", &["23818", "x"]),
            Filter::OfferId(vec![id("23818"), id("x")]),
        ),
        (any("offer_id", &["no such id!", ""]), Filter::OfferId(vec![])),
    ] {
        assert_eq!(filters(filt), Ok(vec![expected]));
    }
}

fn id(text: &str) -> OfferId {
    OfferId::parse(text).unwrap()
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
        assert_eq!(
            filters(json!([{ "dim": "country", "match": matching }])),
            expected
        );
    }
}

#[test]
fn an_invalid_filter_is_refused_with_the_path_of_the_error() {
    let good = json!({ "dim": "country", "match": { "type": "any", "value": ["US"] } });
    let matching = |matching: Value| json!([good, { "dim": "country", "match": matching }]);
    let valued =
        |dim: &str, value: Value| json!([{ "dim": dim, "match": { "type": "any", "value": value } }]);
    for (filt, message) in [
        (json!({}), "filt must be an array"),
        (json!("US"), "filt must be an array"),
        (json!([good, 7]), "filt[1] must be an object"),
        (json!([{ "match": {} }]), "filt[0].dim is missing"),
        (json!([{ "dim": 7 }]), "filt[0].dim must be a string"),
        (
            json!([{ "dim": "Country" }]),
            "filt[0].dim must be offer_type, platform, country or offer_id",
        ),
        (json!([{ "dim": "country" }]), "filt[0].match is missing"),
        (
            json!([{ "dim": "country", "match": [] }]),
            "filt[0].match must be an object",
        ),
        (
            json!([{ "dim": "country", "match": {}, "not": true }]),
            "filt[0].not is not known",
        ),
        (
            matching(json!({ "value": ["US"] })),
            "filt[1].match.type is missing",
        ),
        (
            matching(json!({ "type": null, "value": ["US"] })),
            "filt[1].match.type must be a string",
        ),
        (
            matching(json!({ "type": "none", "value": ["US"] })),
            "filt[1].match.type must be any or exact",
        ),
        (
            matching(json!({ "type": "any" })),
            "filt[1].match.value is missing",
        ),
        (
            matching(json!({ "type": "any", "value": ["US"], "x": 1 })),
            "filt[1].match.x is not known",
        ),
        (
            matching(json!({ "type": "any", "value": ["US"], "values": ["DE"] })),
            "filt[1].match.value and .values are both given and differ",
        ),
        (
            matching(json!({ "type": "exact", "values": ["US", "US"] })),
            "filt[1].match.values must be one value where type is exact",
        ),
        (
            valued("country", json!("US")),
            "filt[0].match.value must be an array of strings",
        ),
        (
            valued("country", json!(null)),
            "filt[0].match.value must be an array of strings",
        ),
        (
            valued("country", json!(["US", 1])),
            "filt[0].match.value must be an array of strings",
        ),
        (
            valued("country", json!([])),
            "filt[0].match.value must not be empty",
        ),
        (
            valued("country", json!(["US", "UK"])),
            "filt[0].match.value[1] is not an assigned ISO 3166 alpha-2 code",
        ),
        (
            valued("platform", json!(["Android"])),
            "filt[0].match.value[0] is not ios, android or web",
        ),
        (
            valued("offer_type", json!(["CPM"])),
            "filt[0].match.value[0] is not an offer type",
        ),
        (
            valued("offer_id", json!(vec!["1"; 1001])),
            "filt[0].match.value must be at most 1000 values",
        ),
        (json!(vec![&good; 65]), "filt must be at most 64 filters"),
    ] {
        let refusal = filters(filt.clone()).expect_err(message);
        assert_eq!((refusal.code, refusal.status), ("invalid_filter", 400));
        assert_eq!(refusal.message, message, "{filt}");
    }
    assert!(
        filters(json!(vec![&good; 64])).is_ok()
            && filters(valued("offer_id", json!(vec!["1"; 1000]))).is_ok()
    );
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
    for filt in [
        encoded(percent_encoding::NON_ALPHANUMERIC),
        encoded(percent_encoding::CONTROLS),
        by_form,
    ] {
        let query = format!("page=3&size=20&utm=x&filt={filt}");
        assert_eq!(OffersRequest::from_query(&query).as_ref(), Ok(&body), "{query}");
    }
    let bare = Ok(OffersRequest {
        page: 1,
        size: 5,
        filters: vec![],
    });
    for query in [
        "page=1&size=5",
        "size=5&page=1&filt=",
        "page=1&size=%35&filt=null",
        "?&page=1&size=5&filt=[]",
    ] {
        assert_eq!(OffersRequest::from_query(query), bare, "{query}");
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
        assert_eq!(
            (refusal.code, refusal.status),
            (code, 400),
            "{query}: {}",
            refusal.message
        );
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

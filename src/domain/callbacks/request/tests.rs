use serde_json::json;

use super::*;
use crate::{
    callbacks::{
        fields::{Decimal, Status},
        settings::LegacyMd5,
        signature::receiver::{self, SECRET},
    },
    catalog::app::App,
    model::Document,
};

mod lengths;
mod properties;

const PREVIOUS: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const MD5_SECRET: &str = "fa072672-d432-11c4-885a-EB1CdEc4Bb13";
const NOW: i64 = 1_614_265_330;

fn get(url: &str) -> Callback {
    Callback {
        url: url.to_owned(),
        method: CallbackMethod::Get,
        secret: SECRET.to_owned(),
        previous_secret: None,
        legacy_md5: None,
        events: None,
    }
}

fn post(url: &str) -> Callback {
    Callback { method: CallbackMethod::Post, ..get(url) }
}

/// The callback during a rotation of its secret.
fn rotating(callback: Callback) -> Callback {
    Callback { previous_secret: Some(PREVIOUS.to_owned()), ..callback }
}

/// The callback with the legacy signature as well.
fn with_md5(callback: Callback, secret: &str) -> Callback {
    let secret = secret.to_owned();
    Callback { legacy_md5: Some(LegacyMd5 { secret }), events: None, ..callback }
}

fn fields() -> Fields {
    let stored = json!({
        "user_id": "u@1", "value": "100.1234", "payout": "0.5", "currency": "Gold & Co",
        "transaction_id": "tx-1", "offer_id": "o1", "goal_id": "g1", "app_id": "00000042",
        "c1": "a/b", "c3": "", "country": "DE",
        "click_ts": 1_614_000_000, "conversion_ts": 1_614_265_000, "status": "approved",
    });
    serde_json::from_value(stored).unwrap()
}

fn sent(callback: &Callback, fields: &Fields) -> Request {
    let endpoint = Endpoint::parse(callback).expect(&callback.url);
    endpoint.request(fields, NOW)
}

fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    let mut of_name = request.headers.iter().filter(|(known, _)| *known == name);
    let (_, value) = of_name.next().unwrap();
    assert!(of_name.next().is_none(), "{name} twice");
    value
}

fn query(request: &Request) -> &str {
    request.url.split_once('?').unwrap().1
}

/// True if a receiver with the stock library and this secret accepts the request.
fn verifies(secret: &str, request: &Request, payload: &str) -> bool {
    let [id, timestamp, signatures] =
        ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| header(request, name));
    receiver::verifies(secret, id, timestamp.parse().unwrap(), payload, signatures)
}

/// True if the last parameter has this name and signs the query before it.
fn query_verifies(query: &str, name: &str) -> bool {
    let parted = query.rsplit_once('&');
    parted.is_some_and(|(before, last)| {
        let signature = query_signature(&Secret::parse(SECRET).unwrap(), before);
        last == format!("{name}={signature}")
    })
}

/// Checks both signatures of a GET: the one in the header, and the parameter of the query with this name.
#[track_caller]
fn expect_signed(request: &Request, name: &str) {
    assert!(verifies(SECRET, request, query(request)), "{}", request.url);
    assert!(query_verifies(query(request), name), "{}", request.url);
}

#[test]
fn a_get_has_the_fields_in_order_then_the_time_then_the_signature() {
    let request = sent(&get("https://x.example/cb"), &fields());
    let (before, _) = request.url.rsplit_once("&signature=").unwrap();
    assert_eq!(
        before,
        "https://x.example/cb?user_id=u%401&value=100.1234&payout=0.5&currency=Gold%20%26%20Co\
        &transaction_id=tx-1&offer_id=o1&goal_id=g1&app_id=00000042&c1=a%2Fb&c3=&country=DE\
        &click_ts=1614000000&conversion_ts=1614265000&status=approved&ts=1614265330"
    );
    assert_eq!(header(&request, "webhook-id"), "tx-1");
    assert_eq!(header(&request, "webhook-timestamp"), "1614265330");
    assert_eq!(header(&request, "user-agent"), "Signpost/1");
    assert!(request.headers.iter().all(|(name, _)| *name != "content-type"));
    assert_eq!((request.method, &request.body), (CallbackMethod::Get, &None));
    expect_signed(&request, "signature");
}

#[test]
fn a_url_without_macros_keeps_its_query_and_gets_every_field() {
    for (url, kept) in [
        ("https://x.example", "https://x.example/?"),
        ("https://x.example?", "https://x.example/?"),
        ("HTTPS://X.example:443/a?k=1&b=%20&", "https://x.example/a?k=1&b=%20&"),
        ("http://x.example:8080/a?it's=|é#part", "http://x.example:8080/a?it%27s=%7C%C3%A9&"),
    ] {
        let request = sent(&get(url), &fields());
        let expected = format!("{kept}user_id=u%401&value=");
        assert!(request.url.starts_with(&expected), "{url}: {}", request.url);
        expect_signed(&request, "signature");
    }
}

#[test]
fn a_url_with_macros_gets_no_other_fields() {
    for (target, filled) in [
        ("/cb?u={user_id}&k=1", "/cb?u=u%401&k=1&"),
        ("/cb?u=%7Buser_id%7d", "/cb?u=u%401&"),
        ("/c{c1}/{offer_id}?", "/ca%2Fb/o1?"),
        ("/u{user_id}", "/uu%401?"),
        ("/?a={gaid}&b={c3}&c={c1}-{value}", "/?a=&b=&c=a%2Fb-100.1234&"),
        ("/?value=fixed&a={gaid}", "/?value=fixed&a=&"),
        ("/?when={ts}", "/?when=1614265330&"),
    ] {
        let request = sent(&get(&format!("https://x.example{target}")), &fields());
        let expected = format!("https://x.example{filled}ts=1614265330&signature=");
        assert!(request.url.starts_with(&expected), "{target}: {}", request.url);
        expect_signed(&request, "signature");
    }
}

#[test]
fn a_url_that_could_mislead_is_refused() {
    let macros = "may have macros only in its path and query";
    let own = "must not have a parameter";
    let dots = "must not have a path segment";
    for (url, problem) in [
        ("https://{c1}.example/", macros),
        ("https://%7Bc1%7D.example/", macros),
        ("https://x.example:{c1}/", macros),
        ("{c1}://x.example/", macros),
        ("https://x.example/#{c1}", macros),
        ("https://x.example/?a=1#%7Bc1%7D", macros),
        ("https://x.example/?a={nothing}", "has an unknown macro {nothing}"),
        ("https://x.example/%7BUSER_ID%7D", "has an unknown macro {USER_ID}"),
        ("https://x.example/?a={signature}", "has an unknown macro {signature}"),
        ("https://x.example/?a={c1", "has a { or }"),
        ("https://x.example/?a=c1}", "has a { or }"),
        ("https://x.example/?a={{c1}}", "has a { or }"),
        ("https://x.example/?a={c1}}", "has a { or }"),
        // A receiver that reads the first of two equal parameters would see the same id in every callback.
        ("https://x.example/?transaction_id=fixed", own),
        ("https://x.example/?Value=5&x=1", own),
        ("https://x.example/?signature=1", own),
        ("https://x.example/?a=1&%73ignature", own),
        ("https://x.example/?Signature={c1}", own),
        ("https://x.example/?ts=1", own),
        ("https://x.example/?{c1}=1", "must not have a macro in the name"),
        ("https://x.example/?{c1}", "must not have a macro in the name"),
        ("https://x.example/a/{user_id}/b", dots),
        ("https://x.example/.{c1}{c2}", dots),
        ("https://x.example/%2e{c1}", dots),
        ("https://x.example/%2{c1}", dots),
        // A URL parser reads these as https://x.example with the rest as the path.
        ("https:/x.example/?https://a=1", "must be an http or https URL"),
        ("https:x.example/://", "must be an http or https URL"),
        ("ftp://x.example/", "must be an http or https URL"),
        ("x.example", "must be an http or https URL"),
        ("https://", "is not a URL"),
        ("https://u:p@x.example/", "must not carry credentials"),
        ("https://x.example/a b", "must not contain spaces"),
    ] {
        let error = Template::parse(url, CallbackMethod::Get, false).expect_err(url);
        assert!(error.starts_with(problem), "{url}: {error}");
    }
}

#[test]
fn the_parameters_of_the_legacy_signature_are_reserved_only_with_it() {
    for name in ["token", "signature_hmac"] {
        let url = format!("https://x.example/?{name}=1");
        assert!(Template::parse(&url, CallbackMethod::Get, false).is_ok(), "{name}");
        assert!(Template::parse(&url, CallbackMethod::Get, true).is_err(), "{name}");
    }
}

#[test]
fn a_post_may_have_any_parameters_because_its_fields_and_signatures_are_elsewhere() {
    let url = "https://x.example/cb?ts=1&signature=2&token=3&user_id=4";
    let request = sent(&with_md5(post(url), "old"), &fields());
    let body = request.body.clone().unwrap();
    assert_eq!(request.url, url);
    assert!(verifies(SECRET, &request, &body) && body.contains("\"user_id\":\"u@1\""));
}

#[test]
fn an_invalid_setting_is_named_in_the_error() {
    for (setting, invalid) in [("secret", "x"), ("url", "x"), ("previous_secret", "whsec_")] {
        let mut callback = json!({ "url": "https://x.example/", "method": "GET", "secret": SECRET });
        callback[setting] = invalid.into();
        let callback = serde_json::from_value(callback).unwrap();
        let error = Endpoint::parse(&callback).expect_err(setting);
        assert_eq!(error.path, format!("callback.{setting}"));
    }
}

#[test]
fn macros_are_refused_with_post() {
    for url in [
        "https://x.example/?u={user_id}",
        "https://x.example/?u=%7Buser_id%7D",
        "https://x.example/a{offer_id}",
        "https://x.example/?at={ts}",
    ] {
        assert!(Endpoint::parse(&get(url)).is_ok(), "{url}");
        let error = Endpoint::parse(&post(url)).expect_err(url);
        let error = format!("{}: {}", error.path, error.problem);
        let expected = "callback.url: must not have macros if the method is POST, because the body has every field";
        assert_eq!(error, expected, "{url}");
    }
}

#[test]
fn an_app_with_an_invalid_callback_is_refused() {
    let app = |url: &str| {
        let app = json!({
            "publisher_id": "p1", "name": "App", "platform": "android",
            "currency": { "name": "Coins", "per_usd": 1000 },
            "callback": { "url": url, "method": "GET", "secret": SECRET },
        });
        App::from_json(&app.to_string())
    };
    assert!(app("https://x.example/?u={user_id}&t={transaction_id}&v={value}").is_ok());
    let refusal = app("https://x.example/?signature=1").unwrap_err();
    assert!(format!("{refusal:?}").contains("callback.url: must not have a parameter signature"), "{refusal:?}");
}

#[test]
fn during_a_rotation_both_secrets_sign_the_header_and_the_current_one_signs_the_query() {
    for callback in [get("https://x.example/"), post("https://x.example/")] {
        let alone = sent(&callback, &fields());
        let request = sent(&rotating(callback), &fields());
        let payload = request.body.clone().unwrap_or_else(|| query(&request).to_owned());
        for secret in [SECRET, PREVIOUS] {
            assert!(verifies(secret, &request, &payload), "{secret}: {request:?}");
        }
        let [both, one] = [&request, &alone].map(|request| header(request, "webhook-signature"));
        assert_eq!(both.split(' ').count(), 2, "{both}");
        assert!(both.starts_with(one), "{both}, {one}");
        assert_eq!(request.url, alone.url);
    }
}

#[test]
fn the_hmac_covers_the_legacy_signature_before_it() {
    let mut fields = fields();
    fields.user_id = "30356439-8d15-4f47-B133-010a37C19eBD".to_owned();
    fields.transaction_id = "525a5B8e-512b-441A-a10B-72d218c370e5".to_owned();
    for url in ["https://x.example/", "https://x.example/?id={user_id}"] {
        let request = sent(&with_md5(get(url), MD5_SECRET), &fields);
        let expected = "&ts=1614265330&token=525a5B8e-512b-441A-a10B-72d218c370e5\
            &signature=918809ac0e5fcc1960c8875d9e9c8e80&signature_hmac=";
        assert!(query(&request).contains(expected), "{url}: {}", request.url);
        expect_signed(&request, "signature_hmac");
    }
    let posted = sent(&with_md5(post("https://x.example/"), MD5_SECRET), &fields);
    let body: serde_json::Value = serde_json::from_str(&posted.body.unwrap()).unwrap();
    assert_eq!(body["token"], "525a5B8e-512b-441A-a10B-72d218c370e5");
    assert_eq!(body["signature"], "918809ac0e5fcc1960c8875d9e9c8e80");
}

#[test]
fn a_post_sends_the_same_fields_as_json_to_the_unchanged_url() {
    let url = "https://x.example/cb?k=1&b=%20";
    let request = sent(&post(url), &fields());
    assert_eq!(request.url, url);
    let body = request.body.as_deref().unwrap();
    assert_eq!(
        body,
        "{\"user_id\":\"u@1\",\"value\":100.1234,\"payout\":0.5,\"currency\":\"Gold & Co\",\
        \"transaction_id\":\"tx-1\",\"offer_id\":\"o1\",\"goal_id\":\"g1\",\"app_id\":\"00000042\",\"c1\":\"a/b\",\
        \"c3\":\"\",\"country\":\"DE\",\"click_ts\":1614000000,\"conversion_ts\":1614265000,\"status\":\"approved\"}"
    );
    assert_eq!(header(&request, "content-type"), "application/json");
    assert!(verifies(SECRET, &request, body));
}

#[test]
fn a_reversal_has_a_negative_amount_and_its_own_id() {
    let reversal = Fields {
        value: Decimal::parse("-100.1234").unwrap(),
        transaction_id: "tx-2".to_owned(),
        status: Status::Reversed,
        original_transaction_id: Some("tx-1".to_owned()),
        ..fields()
    };
    let request = sent(&get("https://x.example/"), &reversal);
    for part in ["&value=-100.1234&", "&transaction_id=tx-2&", "&status=reversed&original_transaction_id=tx-1&ts="] {
        assert!(request.url.contains(part), "{part} in {}", request.url);
    }
}

#[test]
fn secrets_are_masked_in_a_logged_answer() {
    let callback = rotating(with_md5(get("https://p.example/cb"), MD5_SECRET));
    let endpoint = Endpoint::parse(&callback).unwrap();
    let key = |secret: &str| secret.strip_prefix("whsec_").unwrap().to_owned();
    for secret in [SECRET, PREVIOUS, MD5_SECRET, &key(SECRET), &key(PREVIOUS)] {
        let logged = endpoint.mask_for_log(&format!("<p>{secret}</p> is not {secret}{secret}"));
        assert_eq!(logged, "<p>********</p> is not ****************", "{secret}");
    }
    for other in ["", "ok", "whsec_", "fa072672", "{\"error\":\"no such user\"}"] {
        assert_eq!(endpoint.mask_for_log(other), other);
    }
}

#[test]
fn a_secret_that_the_read_limit_cuts_is_not_logged_in_part() {
    // The longest secret: 200 characters of four bytes.
    let secret = "🗝".repeat(200);
    let endpoint = Endpoint::parse(&with_md5(get("https://p.example/cb"), &secret)).unwrap();
    let mut answer = "x".repeat(MAX_READ - 796);
    answer.push_str(secret.get(..796).unwrap());
    assert_eq!(endpoint.mask_for_log(&answer), "x".repeat(1_024));
}

#[test]
fn a_legacy_secret_equal_to_the_prefix_masks_only_the_prefix() {
    let callback = with_md5(get("https://p.example/cb"), "whsec_");
    let endpoint = Endpoint::parse(&callback).unwrap();
    assert_eq!(endpoint.mask_for_log("whsec_ is ok"), "******** is ok");
}

#[test]
fn debug_output_of_a_callback_has_no_secret() {
    let callback = rotating(with_md5(get("https://p.example/cb"), MD5_SECRET));
    let endpoint = Endpoint::parse(&callback).unwrap();
    let legacy = &callback.legacy_md5;
    let logged = format!("{endpoint:?} {endpoint:#?} {callback:?} {legacy:?}");
    for shown in [
        (format!("{endpoint:?}"), "Hidden"),
        (format!("{callback:?}"), "https://p.example/cb"),
        (format!("{legacy:?}"), "LegacyMd5"),
    ] {
        assert!(shown.0.contains(shown.1), "{shown:?}");
    }
    for secret in [SECRET, PREVIOUS].map(|secret| secret.trim_start_matches("whsec_")) {
        assert!(!logged.contains(secret), "{logged}");
    }
    assert!(!logged.contains("fa072672"), "{logged}");
}

/// A new field is either in this list, because its value cannot consist of dots alone, or in `USER_MACROS`.
#[test]
fn a_field_that_could_be_dots_is_no_path_segment_by_itself() {
    const NEVER_DOTS: [&str; 9] =
        ["value", "payout", "transaction_id", "offer_id", "goal_id", "app_id", "click_ts", "conversion_ts", "status"];
    for (name, _) in TABLE {
        let url = format!("https://x.example/a/{{{name}}}/b");
        let is_taken = Endpoint::parse(&get(&url)).is_ok();
        assert_eq!(is_taken, NEVER_DOTS.contains(&name), "{name}");
    }
}

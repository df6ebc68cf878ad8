use std::collections::BTreeMap;

use proptest::{prelude::*, sample::Index};
use standardwebhooks::Webhook;

use super::*;
use crate::{
    callbacks::fields::{Decimal, Status, strategies},
    catalog::app::{App, LegacyMd5},
    model::document::Document,
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PREVIOUS: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const NOW: i64 = 1_614_265_330;

fn callback(url: &str, method: CallbackMethod) -> Callback {
    Callback {
        url: url.to_owned(),
        method,
        secret: SECRET.to_owned(),
        previous_secret: None,
        legacy_md5: None,
    }
}

fn with_md5(url: &str, method: CallbackMethod) -> Callback {
    Callback {
        legacy_md5: Some(LegacyMd5 {
            secret: "fa072672-d432-11c4-885a-EB1CdEc4Bb13".to_owned(),
        }),
        ..callback(url, method)
    }
}

fn fields() -> Fields {
    Fields {
        user_id: "u@1".to_owned(),
        value: Decimal::parse("100.1234").unwrap(),
        payout: Decimal::parse("0.5").unwrap(),
        currency: "Gold & Co".to_owned(),
        transaction_id: "tx-1".to_owned(),
        offer_id: "o1".to_owned(),
        goal_id: "g1".to_owned(),
        goal_value: None,
        app_id: "00000042".to_owned(),
        gaid: None,
        idfa: None,
        c1: Some("a/b".to_owned()),
        c2: None,
        c3: Some(String::new()),
        c4: None,
        c5: None,
        country: Some("DE".to_owned()),
        click_ts: 1_614_000_000,
        conversion_ts: 1_614_265_000,
        status: Status::Approved,
        original_transaction_id: None,
    }
}

fn sent(callback: &Callback, fields: &Fields) -> Request {
    Endpoint::parse(callback).unwrap().request(fields, NOW)
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

/// Whether the stock library computes the same signature with this secret.
fn verifies(secret: &str, request: &Request, payload: &str) -> bool {
    let timestamp = header(request, "webhook-timestamp").parse().unwrap();
    let own = Webhook::new(secret).unwrap();
    let own = own.sign(header(request, "webhook-id"), timestamp, payload.as_bytes());
    header(request, "webhook-signature")
        .split(' ')
        .any(|signature| signature == own.as_ref().unwrap())
}

/// Whether the last parameter has this name and signs the query before it.
fn query_verifies(query: &str, name: &str) -> bool {
    let parted = query.rsplit_once('&');
    parted.is_some_and(|(before, last)| {
        let signature = query_signature(&Secret::parse(SECRET).unwrap(), before);
        last == format!("{name}={signature}")
    })
}

#[test]
fn a_get_has_the_fields_in_order_then_the_time_then_the_signature() {
    let request = sent(&callback("https://x.example/cb", CallbackMethod::Get), &fields());
    let (before, _) = request.url.rsplit_once("&signature=").unwrap();
    assert_eq!(
        before,
        "https://x.example/cb?user_id=u%401&value=100.1234&payout=0.5&currency=Gold%20%26%20Co\
        &transaction_id=tx-1&offer_id=o1&goal_id=g1&app_id=00000042&c1=a%2Fb&c3=&country=DE\
        &click_ts=1614000000&conversion_ts=1614265000&status=approved&ts=1614265330"
    );
    assert!(query_verifies(query(&request), "signature"));
    assert_eq!(header(&request, "webhook-id"), "tx-1");
    assert_eq!(header(&request, "webhook-timestamp"), "1614265330");
    assert_eq!(header(&request, "user-agent"), "Signpost/1");
    assert!(request.headers.iter().all(|(name, _)| *name != "content-type"));
    assert_eq!((request.method, &request.body), (CallbackMethod::Get, &None));
    assert!(verifies(SECRET, &request, query(&request)));
}

#[test]
fn the_query_of_a_url_is_filled_or_kept_and_then_signed() {
    for (url, expected) in [
        ("https://x.example", "https://x.example/?user_id=u%401&value="),
        ("https://x.example?", "https://x.example/?user_id=u%401&value="),
        (
            "HTTPS://X.example:443/a?k=1&b=%20&",
            "https://x.example/a?k=1&b=%20&user_id=u%401&value=",
        ),
        (
            "http://x.example:8080/a?it's=|é#part",
            "http://x.example:8080/a?it%27s=%7C%C3%A9&user_id=",
        ),
        // A URL with a macro gets no other fields.
        (
            "https://x.example/cb?u={user_id}&k=1",
            "https://x.example/cb?u=u%401&k=1&ts=1614265330&signature=",
        ),
        (
            "https://x.example/cb?u=%7Buser_id%7d",
            "https://x.example/cb?u=u%401&ts=1614265330&signature=",
        ),
        (
            "https://x.example/c{c1}/{offer_id}?",
            "https://x.example/ca%2Fb/o1?ts=1614265330&signature=",
        ),
        (
            "https://x.example/u{user_id}",
            "https://x.example/uu%401?ts=1614265330&signature=",
        ),
        (
            "https://x.example/?a={gaid}&b={c3}&c={c1}-{value}",
            "https://x.example/?a=&b=&c=a%2Fb-100.1234&ts=",
        ),
        (
            "https://x.example/?value=fixed&a={gaid}",
            "https://x.example/?value=fixed&a=&ts=1614265330&signature=",
        ),
        (
            "https://x.example/?when={ts}",
            "https://x.example/?when=1614265330&ts=1614265330&signature=",
        ),
    ] {
        let request = sent(&callback(url, CallbackMethod::Get), &fields());
        assert!(request.url.starts_with(expected), "{url}: {}", request.url);
        assert!(query_verifies(query(&request), "signature"), "{url}");
        assert!(verifies(SECRET, &request, query(&request)), "{url}");
    }
}

#[test]
fn a_url_that_could_mislead_is_refused() {
    let macros = "may have macros in its path and query only";
    let own = "must not have a parameter";
    let dots = "must not have a path segment";
    for (url, problem) in [
        ("https://{c1}.example/", macros),
        // A receiver that reads the first of two would see the same id in every callback.
        ("https://x.example/?transaction_id=fixed", own),
        ("https://x.example/?Value=5&x=1", own),
        ("https://%7Bc1%7D.example/", macros),
        ("https://x.example:{c1}/", macros),
        ("{c1}://x.example/", macros),
        ("https://x.example/#{c1}", macros),
        ("https://x.example/?a=1#%7Bc1%7D", macros),
        ("https://x.example/?a={nothing}", "has an unknown macro {nothing}"),
        (
            "https://x.example/%7BUSER_ID%7D",
            "has an unknown macro {USER_ID}",
        ),
        (
            "https://x.example/?a={signature}",
            "has an unknown macro {signature}",
        ),
        ("https://x.example/?a={c1", "has a { or }"),
        ("https://x.example/?a=c1}", "has a { or }"),
        ("https://x.example/?a={{c1}}", "has a { or }"),
        ("https://x.example/?a={c1}}", "has a { or }"),
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
        let error = Template::parse(url, false).unwrap_err();
        assert!(error.starts_with(problem), "{url}: {error}");
    }
}

#[test]
fn the_parameters_of_the_legacy_signature_are_reserved_only_with_it() {
    for name in ["token", "signature_hmac"] {
        let url = format!("https://x.example/?{name}=1");
        assert!(Template::parse(&url, false).is_ok(), "{name}");
        assert!(Template::parse(&url, true).is_err(), "{name}");
    }
}

#[test]
fn an_invalid_setting_is_named_in_the_error() {
    let good = callback("https://x.example/", CallbackMethod::Get);
    let error = |callback: &Callback| Endpoint::parse(callback).unwrap_err();
    let bad = |text: &str| text.to_owned();
    let previous = Some(bad("whsec_"));
    assert_eq!(
        error(&Callback {
            secret: bad("x"),
            ..good.clone()
        })
        .path,
        "callback.secret"
    );
    assert_eq!(
        error(&Callback {
            url: bad("x"),
            ..good.clone()
        })
        .path,
        "callback.url"
    );
    assert_eq!(
        error(&Callback {
            previous_secret: previous,
            ..good
        })
        .path,
        "callback.previous_secret"
    );
}

#[test]
fn macros_are_refused_with_post() {
    for url in [
        "https://x.example/?u={user_id}",
        "https://x.example/?u=%7Buser_id%7D",
        "https://x.example/a{offer_id}",
        "https://x.example/?at={ts}",
    ] {
        assert!(
            Endpoint::parse(&callback(url, CallbackMethod::Get)).is_ok(),
            "{url}"
        );
        let error = Endpoint::parse(&callback(url, CallbackMethod::Post)).unwrap_err();
        let error = format!("{}: {}", error.path, error.problem);
        let expected = "callback.url: must not have macros with POST, whose body carries every field";
        assert_eq!(error, expected, "{url}");
    }
}

#[test]
fn an_app_with_an_invalid_callback_is_refused() {
    let app = |url: &str| {
        let app = serde_json::json!({
            "publisher_id": "p1", "name": "App", "platform": "android",
            "currency": { "name": "Coins", "per_usd": 1000 },
            "callback": { "url": url, "method": "GET", "secret": SECRET },
        });
        App::from_json(&app.to_string())
    };
    assert!(app("https://x.example/?u={user_id}").is_ok());
    let refusal = app("https://x.example/?signature=1").unwrap_err();
    assert!(
        format!("{refusal:?}").contains("callback.url: must not have a parameter signature"),
        "{refusal:?}"
    );
}

#[test]
fn during_a_rotation_both_secrets_sign_the_header_and_the_current_one_signs_the_query() {
    for method in [CallbackMethod::Get, CallbackMethod::Post] {
        let rotating = Callback {
            previous_secret: Some(PREVIOUS.to_owned()),
            ..callback("https://x.example/", method)
        };
        let request = sent(&rotating, &fields());
        let payload = request.body.clone().unwrap_or_else(|| query(&request).to_owned());
        assert!(verifies(SECRET, &request, &payload) && verifies(PREVIOUS, &request, &payload));
        assert_eq!(header(&request, "webhook-signature").split(' ').count(), 2);
        let alone = sent(&callback("https://x.example/", method), &fields());
        assert!(header(&request, "webhook-signature").starts_with(header(&alone, "webhook-signature")));
        assert_eq!(request.url, alone.url);
    }
}

#[test]
fn the_hmac_covers_the_legacy_signature_before_it() {
    let mut fields = fields();
    fields.user_id = "30356439-8d15-4f47-B133-010a37C19eBD".to_owned();
    fields.transaction_id = "525a5B8e-512b-441A-a10B-72d218c370e5".to_owned();
    for url in ["https://x.example/", "https://x.example/?id={user_id}"] {
        let request = sent(&with_md5(url, CallbackMethod::Get), &fields);
        assert!(
            query(&request).contains(
                "&ts=1614265330&token=525a5B8e-512b-441A-a10B-72d218c370e5\
                &signature=918809ac0e5fcc1960c8875d9e9c8e80&signature_hmac="
            ),
            "{}",
            request.url
        );
        assert!(query_verifies(query(&request), "signature_hmac"));
        assert!(verifies(SECRET, &request, query(&request)));
    }
    let posted = sent(&with_md5("https://x.example/", CallbackMethod::Post), &fields);
    let body: serde_json::Value = serde_json::from_str(&posted.body.unwrap()).unwrap();
    assert_eq!(body["token"], "525a5B8e-512b-441A-a10B-72d218c370e5");
    assert_eq!(body["signature"], "918809ac0e5fcc1960c8875d9e9c8e80");
}

#[test]
fn a_post_sends_the_same_fields_as_json_to_the_unchanged_url() {
    let url = "https://x.example/cb?k=1&b=%20";
    let request = sent(&callback(url, CallbackMethod::Post), &fields());
    assert_eq!(request.url, url);
    assert_eq!(
        request.body.as_deref().unwrap(),
        "{\"user_id\":\"u@1\",\"value\":100.1234,\"payout\":0.5,\"currency\":\"Gold & Co\",\
        \"transaction_id\":\"tx-1\",\"offer_id\":\"o1\",\"goal_id\":\"g1\",\"app_id\":\"00000042\",\"c1\":\"a/b\",\
        \"c3\":\"\",\"country\":\"DE\",\"click_ts\":1614000000,\"conversion_ts\":1614265000,\"status\":\"approved\"}"
    );
    assert_eq!(header(&request, "content-type"), "application/json");
    assert!(verifies(SECRET, &request, request.body.as_deref().unwrap()));
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
    let request = sent(&callback("https://x.example/", CallbackMethod::Get), &reversal);
    for part in [
        "&value=-100.1234&",
        "&transaction_id=tx-2&",
        "&status=reversed&original_transaction_id=tx-1&ts=",
    ] {
        assert!(request.url.contains(part), "{part} in {}", request.url);
    }
}

/// The parameters of a query as a receiver decodes them.
fn read(query: &str) -> BTreeMap<String, String> {
    let pairs: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect();
    let read: BTreeMap<_, _> = pairs.iter().cloned().collect();
    assert_eq!(read.len(), pairs.len(), "a parameter is repeated: {query}");
    read
}

proptest! {
    #[test]
    fn any_value_reaches_a_receiver_of_a_query_unchanged(fields in strategies::fields(), macros: bool) {
        let url = if macros {
            let all: Vec<_> = TABLE.iter().map(|(name, _)| format!("my_{name}={{{name}}}")).collect();
            format!("https://x.example/p{{c1}}/s?{}", all.join("&"))
        } else {
            "https://x.example/?mine=%2b".to_owned()
        };
        let request = sent(&callback(&url, CallbackMethod::Get), &fields);
        // A URL parser must not change the signed query.
        let parsed = Url::parse(&request.url).unwrap();
        prop_assert_eq!(parsed.as_str(), &request.url);
        prop_assert_eq!(parsed.host_str(), Some("x.example"));
        let read = read(query(&request));
        for (name, get) in TABLE {
            let value = get(&fields).map(|value| value.text().into_owned());
            if macros {
                prop_assert_eq!(&read[&format!("my_{name}")], &value.unwrap_or_default());
            } else {
                prop_assert_eq!(read.get(name), value.as_ref());
            }
        }
    }

    #[test]
    fn any_value_reaches_a_receiver_of_json_unchanged(fields in strategies::fields()) {
        let request = sent(&callback("https://x.example/", CallbackMethod::Post), &fields);
        let body = request.body.unwrap();
        let body: BTreeMap<String, Box<serde_json::value::RawValue>> = serde_json::from_str(&body).unwrap();
        prop_assert_eq!(body.len(), fields.present().count());
        for (name, value) in fields.present() {
            let sent = body[name].get();
            match value {
                Value::Text(text) => prop_assert_eq!(serde_json::from_str::<String>(sent).unwrap(), text),
                Value::Decimal(_) | Value::Seconds(_) => prop_assert_eq!(sent, value.text()),
            }
        }
    }

    #[test]
    fn a_query_with_any_changed_character_does_not_verify(
        fields in strategies::fields(),
        md5: bool,
        place: Index,
        by in "[A-Za-z0-9&=%.-]",
    ) {
        let url = "https://x.example/?mine=1";
        let (callback, name) = if md5 {
            (with_md5(url, CallbackMethod::Get), "signature_hmac")
        } else {
            (callback(url, CallbackMethod::Get), "signature")
        };
        let request = sent(&callback, &fields);
        let query = query(&request);
        prop_assert!(query_verifies(query, name) && verifies(SECRET, &request, query));
        let at = place.index(query.len());
        let mut changed = query.to_owned();
        changed.replace_range(at..=at, &by);
        if changed != query {
            prop_assert!(!query_verifies(&changed, name), "{changed}");
            prop_assert!(!verifies(SECRET, &request, &changed), "{changed}");
        }
    }

    #[test]
    fn a_url_of_any_shape_is_refused_or_signed_as_it_is_sent(
        url in "https?://[a-z{]{1,4}[a-z{}%7BDuser_id/?&=#.'|^é]{0,30}",
        fields in strategies::fields(),
    ) {
        if let Ok(endpoint) = Endpoint::parse(&callback(&url, CallbackMethod::Get)) {
            let request = endpoint.request(&fields, NOW);
            let parsed = Url::parse(&request.url).unwrap();
            prop_assert_eq!(parsed.query(), Some(query(&request)));
            let written = Url::parse(&url).unwrap();
            prop_assert_eq!(parsed.origin(), written.origin());
            prop_assert!(query_verifies(query(&request), "signature"));
        }
    }
}

#[test]
fn secrets_are_masked_in_a_logged_answer() {
    let callback = Callback {
        previous_secret: Some(PREVIOUS.to_owned()),
        ..with_md5("https://p.example/cb", CallbackMethod::Get)
    };
    let endpoint = Endpoint::parse(&callback).unwrap();
    let key = |secret: &str| secret.strip_prefix("whsec_").unwrap().to_owned();
    let md5 = "fa072672-d432-11c4-885a-EB1CdEc4Bb13";
    for secret in [SECRET, PREVIOUS, md5, &key(SECRET), &key(PREVIOUS)] {
        let logged = endpoint.for_the_log(&format!("<p>{secret}</p> is not {secret}{secret}"));
        assert_eq!(logged, "<p>********</p> is not ****************");
    }
    for other in ["", "ok", "whsec_", "fa072672", "{\"error\":\"no such user\"}"] {
        assert_eq!(endpoint.for_the_log(other), other);
    }
}

#[test]
fn a_legacy_secret_equal_to_the_prefix_masks_only_the_prefix() {
    let mut callback = with_md5("https://p.example/cb", CallbackMethod::Get);
    callback.legacy_md5 = Some(LegacyMd5 {
        secret: "whsec_".to_owned(),
    });
    let endpoint = Endpoint::parse(&callback).unwrap();
    assert_eq!(endpoint.for_the_log("whsec_ is ok"), "******** is ok");
}

#[test]
fn debug_output_of_a_callback_has_no_secret() {
    let callback = Callback {
        previous_secret: Some(PREVIOUS.to_owned()),
        ..with_md5("https://p.example/cb", CallbackMethod::Get)
    };
    let endpoint = Endpoint::parse(&callback).unwrap();
    let logged = format!(
        "{endpoint:?} {endpoint:#?} {callback:?} {:?}",
        callback.legacy_md5
    );
    assert!(logged.contains("p.example"));
    for secret in [SECRET, PREVIOUS].map(|secret| secret.trim_start_matches("whsec_")) {
        assert!(!logged.contains(secret), "{logged}");
    }
    assert!(!logged.contains("fa072672"), "{logged}");
}

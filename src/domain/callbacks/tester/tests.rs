use super::*;
use crate::{
    callbacks::{
        settings::{Callback, LegacyMd5},
        signature::{
            Secret, legacy_md5, query_signature,
            receiver::{SECRET, verifies},
        },
    },
    model::money::{PerUsd, Rounding},
};

const PREVIOUS: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const MD5: &str = "fa072672/d432";
const NOW: i64 = 1_614_265_330;
const RANDOM: [u8; 32] = [7; 32];

fn callback(url: &str, method: CallbackMethod) -> Callback {
    Callback {
        url: url.to_owned(),
        method,
        secret: SECRET.to_owned(),
        previous_secret: Some(PREVIOUS.to_owned()),
        legacy_md5: Some(LegacyMd5 { secret: MD5.to_owned() }),
        events: None,
    }
}

fn test_fields() -> Fields {
    let currency =
        CurrencyRate { name: "Coins".into(), per_usd: PerUsd(100_500_000), decimals: 2, rounding: Rounding::Down };
    fields(AppId::parse("10000001").unwrap(), &currency, &RANDOM, NOW)
}

fn sent(callback: &Callback, sign_with: SignWith) -> (ShownRequest, Request) {
    let endpoint = Endpoint::parse(callback).unwrap();
    let fields = test_fields();
    let request = request(&endpoint, &fields, sign_with, &RANDOM, NOW);
    (ShownRequest::new(&endpoint, &request, &fields, NOW), request)
}

#[test]
fn a_test_is_marked_by_its_ids_and_a_header() {
    let fields = test_fields();
    assert_eq!(fields.transaction_id, format!("test-{}", "07".repeat(16)));
    assert_eq!((fields.user_id.as_str(), fields.offer_id.as_str()), (USER_ID, "test"));
    let (shown, request) = sent(&callback("https://x.example/cb", CallbackMethod::Post), SignWith::Both);
    assert!(request.headers.contains(&("webhook-test", "true".to_owned())));
    assert_eq!(shown.headers["webhook-test"], "true");
}

#[test]
fn the_signed_content_is_what_the_signatures_are_made_of() {
    for method in [CallbackMethod::Get, CallbackMethod::Post] {
        let (shown, request) = sent(&callback("https://x.example/cb", method), SignWith::Both);
        assert_eq!(shown.url, request.url);
        assert_eq!(shown.body, request.body);
        let signed = |signature: &str| {
            let found = shown.signed_content.iter().find(|signed| signed.signature == signature);
            found.map(|signed| signed.content.as_str())
        };
        let content = signed("webhook-signature").unwrap();
        let (id, rest) = content.split_once('.').unwrap();
        let (timestamp, payload) = rest.split_once('.').unwrap();
        assert_eq!(timestamp, NOW.to_string());
        for secret in [SECRET, PREVIOUS] {
            assert!(verifies(secret, id, NOW, payload, shown.headers["webhook-signature"].as_str().unwrap()));
        }
        match method {
            CallbackMethod::Get => {
                let hmac = query_signature(&Secret::parse(SECRET).unwrap(), signed("signature_hmac").unwrap());
                assert!(request.url.ends_with(&format!("&signature_hmac={hmac}")));
            }
            CallbackMethod::Post => assert_eq!(signed("signature_hmac"), None),
        }
        // The legacy signature's text contains its secret, which is masked.
        let id = &test_fields().transaction_id;
        assert_eq!(signed("signature"), Some(format!("{MASKED_SECRET}.{USER_ID}.125.{id}").as_str()));
        let md5 = legacy_md5(MD5, USER_ID, "125.62", id);
        assert!(format!("{request:?}").contains(&md5));
    }
}

#[test]
fn without_the_legacy_signature_a_get_signs_its_query_in_signature() {
    let without = Callback { legacy_md5: None, ..callback("https://x.example/cb?u={user_id}", CallbackMethod::Get) };
    let (shown, request) = sent(&without, SignWith::Both);
    let names: Vec<_> = shown.signed_content.iter().map(|signed| signed.signature).collect();
    assert_eq!(names, ["webhook-signature", "signature"]);
    let content = &shown.signed_content[1].content;
    assert_eq!(content, &format!("u={USER_ID}&ts={NOW}"));
    let hmac = query_signature(&Secret::parse(SECRET).unwrap(), content);
    assert!(request.url.ends_with(&format!("&signature={hmac}")));
}

#[test]
fn the_secrets_that_sign_are_those_that_the_test_names() {
    for method in [CallbackMethod::Get, CallbackMethod::Post] {
        let callback = callback("https://x.example/cb", method);
        let signatures = |sign_with| {
            let (shown, request) = sent(&callback, sign_with);
            let payload = shown.signed_content[0].content.splitn(3, '.').nth(2).unwrap().to_owned();
            let signature = shown.headers["webhook-signature"].as_str().unwrap().to_owned();
            let id = test_fields().transaction_id;
            let by = |secret| verifies(secret, &id, NOW, &payload, &signature);
            let has_md5 = format!("{request:?}").contains(&legacy_md5(MD5, USER_ID, "125.62", &id));
            (by(SECRET), by(PREVIOUS), has_md5)
        };
        assert_eq!(signatures(SignWith::Both), (true, true, true));
        assert_eq!(signatures(SignWith::Current), (true, false, true));
        assert_eq!(signatures(SignWith::Wrong), (false, false, false));
    }
}

#[test]
fn no_secret_is_shown_even_if_the_url_has_one() {
    let encoded = MD5.replace('/', "%2F");
    for secret in [SECRET, SECRET.trim_start_matches("whsec_"), PREVIOUS, MD5, &encoded] {
        for method in [CallbackMethod::Get, CallbackMethod::Post] {
            for sign_with in [SignWith::Both, SignWith::Current, SignWith::Wrong] {
                let (shown, request) = sent(&callback(&format!("https://x.example/cb?k={secret}"), method), sign_with);
                assert!(request.url.contains(secret));
                let shown = serde_json::to_string(&shown).unwrap();
                assert!(!shown.contains(secret), "{shown}");
                assert!(shown.contains(MASKED_SECRET), "{shown}");
            }
        }
    }
}

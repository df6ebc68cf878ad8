//! Tests that any values reach a receiver unchanged and signed.

use std::collections::BTreeMap;

use proptest::{prelude::*, sample::Index};

use super::*;
use crate::callbacks::{fields::strategies, signature::receiver::changed};

/// The parameters of a query as a receiver decodes them.
fn read(query: &str) -> BTreeMap<String, String> {
    let pairs: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
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
        let request = sent(&get(&url), &fields);
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
        let request = sent(&post("https://x.example/"), &fields);
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
        let plain = get("https://x.example/?mine=1");
        let (callback, name) = if md5 {
            (with_md5(plain, MD5_SECRET), "signature_hmac")
        } else {
            (plain, "signature")
        };
        let request = sent(&callback, &fields);
        expect_signed(&request, name);
        if let Some(changed) = changed(query(&request), place, &by) {
            prop_assert!(!query_verifies(&changed, name), "{changed}");
            prop_assert!(!verifies(SECRET, &request, &changed), "{changed}");
        }
    }

    #[test]
    fn a_url_of_any_shape_is_refused_or_signed_as_it_is_sent(
        url in "https?://[a-z{]{1,4}[a-z{}%7BDuser_id/?&=#.'|^é]{0,30}",
        fields in strategies::fields(),
    ) {
        if let Ok(endpoint) = Endpoint::parse(&get(&url)) {
            let request = endpoint.request(&fields, NOW);
            let parsed = Url::parse(&request.url).unwrap();
            prop_assert_eq!(parsed.query(), Some(query(&request)));
            let written = Url::parse(&url).unwrap();
            prop_assert_eq!(parsed.origin(), written.origin());
            prop_assert!(query_verifies(query(&request), "signature"));
        }
    }
}

//! The GET form of the offers request, and HTTP caching of pages.

use chrono::NaiveDateTime;
use serde_json::{Value, json};
use url::form_urlencoded::Serializer;

use super::{PATH, Served, filter, now_s};
use crate::harness::{ANDROID_APP, Answer, IOS_APP, WEB_APP};

const REFRESH_S: i64 = 300;

/// The GET address with the members of a POST's body as its query.
fn query(body: &Value) -> String {
    let mut query = Serializer::new(format!("{PATH}?"));
    for (name, value) in body.as_object().unwrap() {
        query.append_pair(name, &value.to_string());
    }
    query.finish()
}

impl Served {
    fn get(&self, app: &str, body: &Value, if_none_match: Option<&str>) -> Answer {
        let mut headers = vec![("App-Id", app), ("Pub-Key", self.pub_key.as_str())];
        headers.extend(if_none_match.map(|etags| ("If-None-Match", etags)));
        self.signpost.get(&query(body), &headers)
    }
}

fn header(answer: &Answer, name: &str) -> String {
    let value = answer.header(name);
    value.unwrap_or_else(|| panic!("no {name} in {answer:?}")).to_owned()
}

#[test]
fn a_get_returns_the_bytes_of_the_equivalent_post() {
    let served = Served::shared();
    let countries = filter("country", "any", &["DE", "us"]);
    for body in [
        json!({ "page": 1, "size": 20 }),
        json!({ "page": 2, "size": 7 }),
        json!({ "page": 99, "size": 1000 }),
        json!({ "page": 1, "size": 1000, "filt": [] }),
        json!({ "page": 1, "size": 1000, "filt": [countries] }),
        json!({ "page": 1, "size": 5, "filt": [filter("offer_type", "exact", &["CPC"]), countries] }),
        json!({ "page": 1, "size": 5, "filt": [filter("offer_id", "any", &["60231", "a b&c=d%+é"])] }),
    ] {
        for app in [ANDROID_APP, IOS_APP, WEB_APP] {
            let posted = served.list(app, &body).expect(200);
            let got = served.get(app, &body, None).expect(200);
            assert_eq!(posted.body, got.body, "{got:?}");
            for name in ["Content-Type", "ETag", "Last-Modified", "Vary"] {
                assert_eq!(posted.header(name), got.header(name), "{name}: {got:?}");
            }
        }
    }
}

#[test]
fn a_page_is_cacheable_until_the_next_rebuild() {
    let served = Served::shared();
    let body = json!({ "page": 1, "size": 20 });
    let before = now_s();
    let posted = served.list(ANDROID_APP, &body).expect(200);
    let etag = header(&posted, "ETag");
    let not_modified = served.get(ANDROID_APP, &body, Some(&etag)).expect(304);
    let after = now_s();
    for answer in [&posted, &not_modified] {
        let built_at = header(answer, "Last-Modified");
        let built_at = NaiveDateTime::parse_from_str(&built_at, "%a, %d %b %Y %H:%M:%S GMT");
        let built_at = built_at.unwrap().and_utc().timestamp();
        assert!(before - 600 <= built_at && built_at <= after, "{answer:?}");

        let value = header(answer, "Cache-Control");
        let max_age: i64 = value.strip_prefix("private, max-age=").unwrap().parse().unwrap();
        assert!((1..=REFRESH_S).contains(&max_age), "{answer:?}");
        let next_rebuild = (built_at / REFRESH_S + 1) * REFRESH_S;
        if next_rebuild > after + 1 {
            let left = next_rebuild - after - 1..=next_rebuild - before;
            assert!(left.contains(&max_age), "{left:?}: {answer:?}");
        }
        // A cache for several apps must keep their pages apart.
        let vary = header(answer, "Vary");
        assert!(vary.contains("App-Id") && vary.contains("Pub-Key"), "{answer:?}");
    }
    let refused = served.signpost.offers(ANDROID_APP, "", &body).expect(401);
    assert_eq!(refused.header("Cache-Control"), Some("no-store"));
    assert_eq!(refused.header("ETag"), None);
}

#[test]
fn an_unchanged_page_is_answered_304() {
    let mut served = Served::unlimited();
    let body = json!({ "page": 1, "size": 20 });
    let first = served.get(ANDROID_APP, &body, None).expect(200);
    let etag = header(&first, "ETag");
    assert!(etag.starts_with('"') && etag.ends_with('"') && etag.len() > 10, "{etag}");

    for listed in [
        etag.clone(),
        format!("W/{etag}"),
        format!("\"other\", {etag}"),
        format!("{etag},\"other\""),
        format!("W/\"other\" , W/{etag} , \"more\""),
        "*".into(),
    ] {
        let answer = served.get(ANDROID_APP, &body, Some(&listed)).expect(304);
        assert_eq!((answer.body.as_str(), answer.header("ETag")), ("", Some(etag.as_str())), "{answer:?}");
    }
    let bare = etag.trim_matches('"');
    for other in ["\"other\"", "", bare, &format!("\"{bare}x\""), "W/\"*\""] {
        let answer = served.get(ANDROID_APP, &body, Some(other)).expect(200);
        assert_eq!(answer.body, first.body);
    }
    // The ETag of one page does not match another page or another app.
    served.get(ANDROID_APP, &json!({ "page": 2, "size": 20 }), Some(&etag)).expect(200);
    served.get(IOS_APP, &body, Some(&etag)).expect(200);
    // A POST ignores `If-None-Match`, and wrong credentials are checked before it.
    let key = served.pub_key.as_str();
    let headers = [("App-Id", ANDROID_APP), ("Pub-Key", key), ("If-None-Match", etag.as_str())];
    let posted = served.signpost.send("POST", PATH, &headers, body.to_string().as_bytes());
    assert_eq!(posted.expect(200).body, first.body);
    let headers = [("App-Id", ANDROID_APP), ("Pub-Key", "wrong"), ("If-None-Match", "*")];
    served.signpost.get(&query(&body), &headers).expect_error(401, "invalid_credentials");

    // A rebuild with the same offers keeps the ETag; one with other offers changes it.
    served.signpost.refresh();
    served.get(ANDROID_APP, &body, Some(&etag)).expect(304);
    let last = served.ids(ANDROID_APP).pop().unwrap();
    served.change("offers", &last, &json!({ "active": false }));
    served.get(ANDROID_APP, &body, Some(&etag)).expect(304);
    served.signpost.refresh();
    let changed = served.get(ANDROID_APP, &body, Some(&etag)).expect(200);
    assert_ne!(header(&changed, "ETag"), etag);
    served.get(ANDROID_APP, &body, Some(&header(&changed, "ETag"))).expect(304);
}

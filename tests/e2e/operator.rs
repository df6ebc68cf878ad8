//! The operator's API over HTTP: resources, lists, credentials, health, metrics, hosts and methods.

mod alarms;
mod documents;
mod imports;
mod lists;

use serde_json::{Value, json};

use crate::harness::{Setup, Signpost, demo};
use origin::http::description::DESCRIPTION;

fn offer(goals: &Value) -> Value {
    json!({
        "advertiser_id": "northwind", "off_type": "CPI", "s_id": "com.example.game", "name": "A game",
        "lp_url": "https://play.google.com/store/apps/details?id=com.example.game",
        "ic_url": "https://cdn.example.com/icon.png", "desc": "Play it", "ctg": ["GAMING"], "os": "android",
        "geo_tgt": {"include": [], "exclude": []}, "goals": goals, "active": true
    })
}

fn goal(id: &str, payout_usd: f64) -> Value {
    json!({"id": id, "ttl": "Install", "instr": "1. Install", "payout_usd": payout_usd, "ord": 1, "gl_val": null})
}

fn app(publisher: &str) -> Value {
    json!({
        "publisher_id": publisher, "name": "An app", "platform": "android",
        "currency": {"name": "Coins", "per_usd": 1000, "decimals": 0, "rounding": "down"}
    })
}

/// A Signpost with one publisher and one advertiser.
fn small() -> Signpost {
    let signpost = Setup::new().start();
    signpost.put("publishers/acme", &json!({"name": "Acme", "approved": true}));
    signpost.put("advertisers/northwind", &json!({"name": "Northwind"}));
    signpost
}

#[test]
fn without_the_operators_token_every_call_is_answered_401() {
    let signpost = small();
    for authorization in ["", "Bearer ", "Bearer wrong", "local-operator-token", "Basic bG9jYWw6"] {
        for path in ["publishers/acme", "nowhere", "import", "metrics"] {
            let headers = [("Authorization", authorization)];
            let answer = signpost.get(&format!("/v1/operator/{path}"), &headers);
            answer.expect_error(401, "invalid_operator_token");
        }
    }
}

#[test]
fn every_resource_is_put_whole_and_read_back() {
    let signpost = small();
    let cases = [
        ("publishers/acme", "publisher_id", json!({"name": "Acme again", "approved": false})),
        ("apps/10000001", "app_id", app("acme")),
        ("advertisers/northwind", "advertiser_id", json!({"name": "Northwind again"})),
        ("offers/o-1", "offer_id", offer(&json!([goal("g-1", 1.25)]))),
    ];
    for (path, id_member, body) in cases {
        for _ in 0..2 {
            let put = signpost.put(path, &body).json();
            let read = signpost.operator("GET", path, None).expect(200).json();
            assert_eq!(put, read, "{path}");
            assert_eq!(read[id_member].as_str(), path.split('/').nth(1), "{path}");
            for (name, value) in body.as_object().unwrap() {
                assert_eq!(&read[name], value, "{path}: {name}");
            }
        }
        signpost.operator("GET", &format!("{path}0"), None).expect(404);
    }
}

#[test]
fn lists_are_paged() {
    let signpost = small();
    for n in 0..25 {
        signpost.put(&format!("publishers/p-{n:02}"), &json!({"name": format!("P {n}"), "approved": true}));
    }
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = signpost.operator("GET", &format!("publishers?limit=10{cursor}"), None).expect(200).json();
        let publishers = page["publishers"].as_array().unwrap();
        assert!(publishers.len() <= 10);
        seen.extend(publishers.iter().map(|publisher| publisher["publisher_id"].as_str().unwrap().to_owned()));
        match page["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen.len(), 26);
    assert!(seen.is_sorted());
    for limit in ["0", "1001", "x", "-1"] {
        signpost.operator("GET", &format!("offers?limit={limit}"), None).expect_error(400, "invalid_field");
    }
}

#[test]
fn a_pub_key_is_issued_shown_and_replaced() {
    let signpost = small();
    signpost.operator("GET", "publishers/acme/pub_key", None).expect_error(404, "not_found");
    signpost.operator("POST", "publishers/nobody/pub_key", None).expect_error(404, "not_found");
    let first = signpost.issue_pub_key("acme");
    assert!(first.len() == 32 && first.bytes().all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b)), "{first}");
    let second = signpost.issue_pub_key("acme");
    assert_ne!(first, second);
    let shown = signpost.operator("GET", "publishers/acme/pub_key", None).expect(200).json();
    assert_eq!(shown["pub_key"], second);
    signpost.restart();
    let shown = signpost.operator("GET", "publishers/acme/pub_key", None).expect(200).json();
    assert_eq!(shown["pub_key"], second);
}

#[test]
fn an_advertisers_two_newest_tokens_are_kept() {
    let signpost = small();
    let issued: Vec<_> =
        (0..3).map(|_| signpost.operator("POST", "advertisers/northwind/token", None).expect(201).json()).collect();
    let listed = || signpost.operator("GET", "advertisers/northwind", None).expect(200).json()["tokens"].clone();
    let ids: Vec<_> = listed().as_array().unwrap().iter().map(|token| token["token_id"].clone()).collect();
    assert_eq!(ids, [issued[1]["token_id"].clone(), issued[2]["token_id"].clone()]);
    assert!(!listed().to_string().contains(issued[2]["token"].as_str().unwrap()), "a token is shown once");
    let token = format!("advertisers/northwind/token/{}", issued[2]["token_id"].as_str().unwrap());
    signpost.operator("DELETE", &token, None).expect(204);
    signpost.operator("DELETE", &token, None).expect_error(404, "not_found");
    assert_eq!(listed().as_array().unwrap().len(), 1);
    signpost.operator("POST", "advertisers/nobody/token", None).expect_error(404, "not_found");
}

#[test]
fn methods_types_and_sizes_are_checked() {
    let signpost = small();
    let wrong = signpost.operator("DELETE", "publishers/acme", None).expect_error(405, "method_not_allowed");
    assert_eq!(wrong.header("Allow"), Some("GET, PUT"));
    signpost.operator("GET", "nowhere", None).expect_error(404, "not_found");
    let huge = json!({"name": "x".repeat(1 << 20), "approved": true});
    signpost.operator("PUT", "publishers/acme", Some(&huge)).expect_error(413, "payload_too_large");
    let headers = [("Authorization", "Bearer local-operator-token"), ("Content-Type", "text/plain")];
    signpost.send("PUT", "/v1/operator/publishers/acme", &headers, b"{}").expect_error(415, "unsupported_media_type");
    signpost.send("POST", "/v1/operator/import", &headers, b"{}").expect_error(415, "unsupported_media_type");
    let json = [("Authorization", "Bearer local-operator-token"), ("Content-Type", "application/json")];
    for broken in ["", "{", "[]", "null", "{\"name\":\"A\",\"approved\":true} x"] {
        let answer = signpost.send("PUT", "/v1/operator/publishers/acme", &json, broken.as_bytes());
        assert_eq!(answer.status, 400, "{broken:?}: {answer:?}");
    }
}

#[test]
fn health_and_metrics_show_the_served_catalog() {
    let signpost = Setup::new().start();
    signpost.get("/healthz", &[]).expect_unhealthy();
    signpost.put("publishers/acme", &json!({"name": "Acme", "approved": true}));
    let refreshed = signpost.refresh().json();
    let health = signpost.get("/healthz", &[]).expect(200).json();
    assert_eq!(health["snapshot_version"], refreshed["tracking_version"]);
    assert!(health["snapshot_age_s"].as_i64().unwrap() <= 2);
    let metrics = signpost.operator("GET", "metrics", None).expect(200);
    assert!(metrics.body.contains("signpost_catalog_resources{kind=\"publishers\"} 1\n"), "{metrics:?}");
    assert!(metrics.header("Content-Type").unwrap().starts_with("text/plain"));
}

#[test]
fn each_host_serves_its_own_interface() {
    let signpost = Setup::new()
        .var("TRACKING_HOST", "track.example.com")
        .var("OFFERS_HOST", "offers.example.com")
        .var("CONSOLE_URL", "")
        .var("OPERATOR_HOST", "127.0.0.1")
        .start();
    signpost.operator("GET", "publishers", None).expect(200);
    let tracking = [("Host", "track.example.com")];
    signpost.get("/v1/operator/publishers", &tracking).expect_error(404, "not_found");
    signpost.send("POST", "/v1/offer/api", &tracking, b"{}").expect_error(404, "not_found");
    signpost.get("/v2/tracking/click", &[]).expect_error(404, "not_found");
    for anywhere in ["127.0.0.1", "track.example.com", "of.nobody.example"] {
        signpost.get("/openapi.json", &[("Host", anywhere)]).expect(200);
    }
}

#[test]
fn the_openapi_document_is_served_as_json() {
    let signpost = demo();
    let served = signpost.get("/openapi.json", &[]).expect(200);
    assert!(served.body == DESCRIPTION, "another document");
    assert_eq!(served.json()["openapi"], "3.1.0");
    let head = signpost.send("HEAD", "/openapi.json", &[], b"").expect(200);
    for header in ["Content-Type", "Cache-Control"] {
        assert_eq!(head.header(header), served.header(header), "{head:?}");
    }
}

#[test]
fn an_unknown_method_is_answered_405() {
    let signpost = demo();
    for method in ["PROPFIND", "PURGE", "SEARCH"] {
        for path in ["/healthz", "/v2/tracking/click?rid=410271&app=10000001&user_id=u", "/v1/offer/api?page=1&size=1"]
        {
            let answer = signpost.raw().request(method, path.as_bytes());
            answer.expect_error(405, "method_not_allowed");
        }
    }
}

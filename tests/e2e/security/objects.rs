//! Calls about unknown ids: none creates an object.

use serde_json::json;

use crate::harness::Setup;
use origin::http::routes::routes;
use platform::http::router::{Method, RouteName};

/// Not even an object that refuses: guessed ids would fill the disk, and a restore would find objects without owners.
#[test]
fn a_call_about_an_unknown_resource_creates_no_object() {
    let (signpost, _) = Setup::new().start_with_fixtures();
    // Attention has a register, which its first report makes.
    signpost.operator("GET", "alarms", None).expect(200);
    let before = signpost.object_files();
    let facts = b"date,app_id,ad_type,country,impressions,clicks,revenue_micro_usd\n";
    let click_id = "A".repeat(40);
    let mut asked = 0;
    let routes = routes().filter(|route| route.name == RouteName::Operator && route.pattern.contains("{}"));
    for route in routes {
        let id = match route.pattern {
            path if path.contains("/apps/") => "78999999",
            path if path.contains("/objects/") => "ledgers",
            _ => "nobody",
        };
        let is_document = route.pattern.ends_with("s/{}");
        for second in ["2026-01-05", &click_id, "1"] {
            let path = route.pattern.replacen("{}", id, 1).replace("{}", second);
            let path = path.strip_prefix("/v1/operator/").expect("a path of the operator");
            for method in route.methods.iter().map(|allowed| allowed.method) {
                if is_document && method == Method::Put {
                    continue;
                }
                let body = match path.rsplit('/').next().unwrap_or_default() {
                    "report_keys" => r#"{"label": "backend"}"#,
                    "erase_user" => r#"{"user_id": "u-1"}"#,
                    "invites" => r#"{"name": "Mara", "role": "owner"}"#,
                    _ => "{}",
                };
                let (media_type, body) = if path.contains("/facts") {
                    ("text/csv", &facts[..])
                } else {
                    ("application/json", body.as_bytes())
                };
                let headers = [("Content-Type", media_type), ("Idempotency-Key", "a")];
                let answer = signpost.operate(method.as_str(), path, &headers, body);
                assert!((400..500).contains(&answer.status), "{method:?} {path}: {answer:?}");
                asked += 1;
            }
        }
    }
    assert!(asked > 90, "{asked}");
    let url = format!("https://x.example/v2/tracking/conversion?click_id={click_id}");
    for (path, body) in [
        ("search", json!({ "text": "nobody" })),
        ("search", json!({ "text": "78999999" })),
        ("search", json!({ "text": click_id })),
        ("search", json!({ "text": "u-1", "app_id": "78999999" })),
        ("publisher_figures", json!({ "publisher_ids": ["nobody"] })),
        ("offer_figures", json!({ "offer_ids": ["nobody"] })),
        ("postback_check", json!({ "url": url })),
    ] {
        signpost.operator("POST", path, Some(&body));
    }
    signpost.operator("GET", "reconcile?app=78999999&date=2026-01-05", None);
    let after = signpost.object_files();
    let made: Vec<_> = after.difference(&before).collect();
    assert!(made.is_empty(), "{made:?}");
}

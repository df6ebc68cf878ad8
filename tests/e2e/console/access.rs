//! Every call of the operator, made from the route table: with each role, from other sites, by other names of the host, and
//! without a session.

use origin::http::routes::{CatalogCall, Handler, OperatorCall, OutboxCall, ReplayCall, routes};
use serde_json::json;

use super::{Browser, HOST, ORIGIN, invite, signed_in};
use crate::harness::{Setup, demo};
use domain::accounts::role::Role;
use platform::http::router::RouteName;

/// An id for each variable segment, which nothing has.
const UNKNOWN: &str = "no-such-thing";

/// Calls with a body that only read.
const READS: [&str; 6] = [
    "/v1/operator/apps/{}/conversions",
    "/v1/operator/offer_figures",
    "/v1/operator/offers/{}/preview",
    "/v1/operator/postback_check",
    "/v1/operator/publisher_figures",
    "/v1/operator/search",
];

/// The matrix of the operator's roles, written out so that a mistake in the table of the code does not repeat itself here.
fn may(role: Role, method: &str, pattern: &str, call: OperatorCall) -> bool {
    let is_read = method == "GET" || READS.contains(&pattern);
    match (role, call) {
        (Role::Admin, _) => true,
        (_, OperatorCall::Catalog(CatalogCall::ReadPubKey)) => false,
        (_, OperatorCall::Outbox(OutboxCall::ReplayConversion) | OperatorCall::Replay(ReplayCall::Start)) => true,
        _ => is_read,
    }
}

/// Method, path, pattern and name of each call of the operator.
fn calls() -> Vec<(&'static str, String, &'static str, OperatorCall)> {
    let routes = routes().filter(|route| route.name == RouteName::Operator);
    let calls: Vec<_> = routes
        .flat_map(|route| {
            let path = route.pattern.replace("{}", UNKNOWN);
            let methods = route.methods.iter();
            methods.map(move |served| {
                let Handler::Operator(call, _) = served.handler else { panic!("{path} is no call of the operator") };
                (served.method.as_str(), path.clone(), route.pattern, call)
            })
        })
        .collect();
    assert!(calls.len() > 40, "{calls:?}");
    calls
}

#[test]
fn support_reads_and_sends_a_callback_again_and_an_admin_does_everything() {
    let signpost = demo();
    for role in [Role::Admin, Role::Support] {
        let browser = signed_in(&signpost, &format!("The {}", role.as_str()), role.as_str());
        for (method, path, pattern, called) in calls() {
            // They would change what other tests use.
            if matches!(called, OperatorCall::Catalog(CatalogCall::Import | CatalogCall::Refresh))
                && role == Role::Admin
            {
                continue;
            }
            let body = (method != "GET").then(|| json!({}));
            let answer = browser.send(method, &path, body.as_ref());
            // To a member, the calls that need the operator's token do not exist.
            if pattern.ends_with("/copy") {
                answer.expect_error(404, "not_found");
                continue;
            }
            let refused = answer.status == 403 && answer.code() == "role_forbids";
            assert_eq!(refused, !may(role, method, pattern, called), "{role:?} {method} {path}: {answer:?}");
            assert!(answer.status < 500, "{method} {path}: {answer:?}");
        }
    }
}

#[test]
fn without_a_session_or_a_token_nothing_is_told() {
    let signpost = demo();
    let stranger = Browser { signpost: &signpost, cookie: None };
    let mut forged = Browser { signpost: &signpost, cookie: None };
    forged.cookie = Some(format!("signpost_operator_8787=s_o_operator_{}_{}", "ab".repeat(16), "cd".repeat(16)));
    for (method, path, _, _) in calls() {
        for browser in [&stranger, &forged] {
            let body = (method != "GET").then(|| json!({}));
            let answer = browser.send(method, &path, body.as_ref());
            answer.expect_error(401, "invalid_operator_token");
        }
    }
    stranger.get("/v1/console/session").expect_error(401, "not_signed_in");
}

#[test]
fn a_publishers_session_does_not_open_the_operators_api() {
    let signpost = demo();
    let publisher = signpost.publisher("console-mistaken");
    let owner = crate::dashboard::signed_in(&signpost, &publisher, "owner");
    let browser = Browser { signpost: &signpost, cookie: owner.cookie.clone() };
    browser.get("/v1/operator/publishers").expect_error(401, "invalid_operator_token");
    browser.get("/v1/console/session").expect_error(401, "not_signed_in");
    // Nor does an invite of one site open the other.
    let console = invite(&signpost, "Ada", "support");
    let headers =
        [("Host", HOST), ("Sec-Fetch-Site", "same-origin"), ("Origin", ORIGIN), ("Content-Type", "application/json")];
    let body = json!({ "invite": console }).to_string();
    let answer = signpost.send("POST", "/v1/dashboard/sign_in", &headers, body.as_bytes());
    answer.expect_error(404, "unknown_invite");
}

#[test]
fn another_sites_page_reaches_nothing() {
    let signpost = demo();
    let browser = signed_in(&signpost, "The careful", "admin");
    let cookie = browser.cookie.as_deref().unwrap();
    let body = json!({ "name": "Taken over", "approved": true }).to_string();
    let path = "/v1/operator/publishers/console-cross-site";
    let json = ("Content-Type", "application/json");
    let (same, cookie) = (("Sec-Fetch-Site", "same-origin"), ("Cookie", cookie));
    for headers in [
        vec![("Host", HOST), json, cookie],
        vec![("Host", HOST), json, cookie, ("Sec-Fetch-Site", "cross-site"), ("Origin", "https://evil.example")],
        vec![("Host", HOST), json, cookie, same],
        vec![("Host", HOST), json, cookie, same, ("Origin", "https://evil.example")],
    ] {
        let answer = signpost.send("PUT", path, &headers, body.as_bytes());
        answer.expect_error(403, "cross_site_request");
    }
    let form = [("Host", HOST), cookie, same, ("Origin", ORIGIN), ("Content-Type", "text/plain")];
    let answer = signpost.send("PUT", path, &form, body.as_bytes());
    answer.expect_error(415, "unsupported_media_type");
    let elsewhere = [("Host", "127.0.0.1:8787"), json, cookie, same, ("Origin", ORIGIN)];
    let answer = signpost.send("PUT", path, &elsewhere, body.as_bytes());
    answer.expect_error(421, "misdirected_request");
    browser.get(path).expect_error(404, "not_found");
}

#[test]
fn a_local_session_of_the_console_ends_with_local_sign_in() {
    let mut signpost = Setup::new().start();
    let cookie = {
        let browser = signed_in(&signpost, "Ada", "admin");
        browser.get("/v1/console/session").expect(200);
        browser.cookie.clone()
    };
    signpost.restart_with("LOCAL_SIGN_IN", "");
    let browser = Browser { signpost: &signpost, cookie };
    browser.get("/v1/operator/publishers").expect_error(401, "not_signed_in");
}

#[test]
fn without_a_url_there_is_no_console() {
    let signpost = Setup::new().var("CONSOLE_URL", "").start();
    let body = json!({ "name": "Ada", "role": "admin" });
    let answer = signpost.operator("POST", "members/invites", Some(&body));
    answer.expect_error(409, "no_console");
    let browser = Browser { signpost: &signpost, cookie: None };
    browser.get("/console").expect_error(404, "not_found");
    browser.get("/v1/console/session").expect_error(404, "not_found");
}

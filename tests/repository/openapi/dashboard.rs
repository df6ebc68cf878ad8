//! `openapi-dashboard.yaml` has each call with the checks that it passes, and describes what a browser gets.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{operations, pattern, place, refusals::codes};
use crate::document::{dashboard_document, resolved, schema};
use domain::{
    accounts::{
        account::{Account, AccountKind},
        challenge,
        cookie::{Cookie, CookieSite},
        ids::{AccountId, MemberId},
        invite,
        role::Role,
        session, user_handle,
        webauthn::{self, RelyingParty, User},
    },
    model::{PublisherId, mac::MacKeys},
};
use origin::http::{
    handlers::{DashboardCall, Handler, MemberCall},
    routes::routes,
    site::{PublicCall, SiteCall},
};
use platform::http::router::{Interface, Method};

#[test]
fn each_call_of_the_dashboard_is_documented_with_the_checks_that_it_passes() {
    let document = dashboard_document();
    let roles = || Role::ALL.into_iter().filter(|role| role.kind() == AccountKind::Publisher);
    let operations = operations(&document);
    let mut seen = 0;
    for route in routes().filter(|route| route.interface == Interface::Dashboard) {
        for served in route.methods {
            let Handler::Dashboard(call) = served.handler else {
                panic!("{} is no call of the dashboard", route.pattern);
            };
            let (path, method, operation) = operations
                .iter()
                .find(|(path, method, _)| {
                    pattern(path) == route.pattern && method.to_uppercase() == served.method.as_str()
                })
                .unwrap();
            let id = &operation["operationId"];
            let place = place(path, method);
            let codes = |status: u16| {
                let place = format!("{place}/responses/{status}");
                document.pointer(&place).map(|_| codes(&document, &place))
            };
            for status in [404, 421, 500, 503] {
                assert!(codes(status).is_some(), "{id} has no {status}");
            }
            let (member, permission) = match call {
                DashboardCall::Site(SiteCall::Page | SiteCall::Asset) => {
                    assert_eq!((codes(401), codes(403)), (None, None), "{id}");
                    continue;
                }
                DashboardCall::Site(SiteCall::Public(_)) => (None, None),
                DashboardCall::Site(SiteCall::Account(_, permission)) => (None, permission),
                DashboardCall::Member(call, permission, _) => (Some(call), permission),
            };
            let has_session = !matches!(call, DashboardCall::Site(SiteCall::Public(_)));
            seen += 1;
            let mut forbidden = BTreeSet::from(["cross_site_request"]);
            let knows_account = !matches!(
                call,
                DashboardCall::Site(SiteCall::Public(PublicCall::SignOut | PublicCall::PasskeyRequest))
            );
            if knows_account {
                forbidden.insert("account_suspended");
            }
            if member == Some(MemberCall::CreateApp) {
                forbidden.insert("publisher_not_approved");
            }
            if let Some(permission) = permission {
                if roles().any(|role| !permission.is_granted_to(role)) {
                    forbidden.insert("role_forbids");
                }
                // Its handler asks for one where the app's clicks are signed.
                let is_of_handler = member == Some(MemberCall::MakeTrackingUrl);
                if permission.needs_fresh_passkey() || is_of_handler {
                    forbidden.insert("verify_first");
                }
            }
            let forbidden: BTreeSet<_> = forbidden.into_iter().map(str::to_owned).collect();
            assert_eq!(codes(403), Some(forbidden), "{id}");
            let asks_for_session = codes(401).is_some_and(|codes| codes.contains("not_signed_in"));
            assert_eq!(asks_for_session, has_session, "{id}");
            let needs_session = operation["security"] == json!([{ "Session": [] }]);
            assert_eq!(needs_session, has_session, "{id}");

            let is_bound = codes(409).is_some_and(|codes| codes.contains("account_switched"));
            assert_eq!(is_bound, has_session, "{id}");

            let is_write = served.method != Method::Get;
            assert_eq!(codes(415).is_some(), is_write, "{id}");
            let has_body = operation.get("requestBody").is_some();
            assert_eq!(codes(413).is_some(), has_body, "{id}");
            let mut headers = BTreeSet::new();
            for list in [&document["paths"][path]["parameters"], &operation["parameters"]] {
                for parameter in list.as_array().into_iter().flatten() {
                    let target = parameter["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
                    let parameter = target.map_or(parameter, |target| resolved(&document, target).1);
                    if parameter["in"] == "header" && parameter["required"] == true {
                        headers.insert(parameter["name"].as_str().unwrap());
                    }
                }
            }
            let mut sent = BTreeSet::from(["Sec-Fetch-Site"]);
            sent.extend(is_write.then_some("Origin"));
            sent.extend((is_write && has_session).then_some("X-Publisher"));
            sent.extend(match member {
                Some(MemberCall::CreateApp) => Some("Idempotency-Key"),
                Some(MemberCall::ChangeApp) => Some("If-Match"),
                _ => None,
            });
            assert_eq!(headers, sent, "{id}");
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn cookies_and_headers_for_browsers_match_the_dashboards_document() {
    let document = dashboard_document();
    let is_valid = |place: &str, instance: &Value| {
        let schema = schema(&document, &format!("/components/{place}"));
        schema.is_valid(instance)
    };
    let keys = MacKeys::parse("ACCOUNT_MAC", &"ab".repeat(32)).unwrap();
    let account = Account::Publisher(PublisherId::parse("lumen-arcade").unwrap());
    let session = session::issue(&keys, &account, [0xCD; 16]);
    let other = Account::Publisher(PublisherId::parse("hex-studio").unwrap());
    let sessions = format!("{session}.{}", session::issue(&keys, &other, [0xCD; 16]));
    let mark = "0123456789abcdef".repeat(2);
    for site in [CookieSite::Production, CookieSite::Local { port: 8787 }] {
        let of_session = Cookie::sessions(AccountKind::Publisher, site);
        let of_ceremony = Cookie::ceremony(AccountKind::Publisher, site);
        let cookies = [
            ("SessionCookie", of_session.set(&session).unwrap()),
            ("SessionCookie", of_session.set(&sessions).unwrap()),
            ("NoSession", of_session.clear()),
            ("CeremonyCookie", of_ceremony.set(&mark).unwrap()),
        ];
        for (name, cookie) in &cookies {
            for (other, _) in &cookies {
                let place = format!("headers/{other}/schema");
                assert_eq!(is_valid(&place, &json!(cookie)), name == other, "{other}: {cookie}");
            }
            let loose = cookie.replace("; HttpOnly", "");
            assert!(!is_valid(&format!("headers/{name}/schema"), &json!(loose)), "{name}");
        }
    }

    let invite = json!(invite::issue(&keys, &account, [0xCD; 16]));
    assert!(is_valid("schemas/InviteText", &invite));
    assert!(!is_valid("schemas/InviteText", &json!(session)), "a session is no invite");

    let party = RelyingParty::parse("Signpost", "http://localhost:8787").unwrap();
    let binding = [7; 32];
    let challenge = challenge::issue(
        &keys,
        challenge::CeremonyPurpose::Registration,
        Some(account.id()),
        &binding,
        1_795_000_000_000,
        [0xCD; 16],
    );
    let handle = user_handle::issue(&keys, AccountId([1; 12]), MemberId([2; 8]));
    let user = User { handle: &handle, name: "Ada Lovelace, lumen-arcade", display_name: "Ada Lovelace" };
    let creation = webauthn::creation_options(&party, user, challenge.as_bytes(), &[]);
    let request = webauthn::request_options(&party, challenge.as_bytes(), &[]);
    for (name, options) in [("CreationOptions", creation), ("RequestOptions", request)] {
        let place = format!("schemas/{name}");
        assert!(is_valid(&place, &options), "{name}: {options}");
        let members = options.as_object().unwrap();
        for member in members.keys() {
            let mut fewer = options.clone();
            fewer.as_object_mut().unwrap().remove(member);
            assert!(!is_valid(&place, &fewer), "{name} without {member}");
        }
        let mut more = options.clone();
        more["surplus"] = json!(1);
        assert!(!is_valid(&place, &more), "{name} with a member that is not known");
    }
}

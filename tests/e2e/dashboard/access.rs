//! Every route of the dashboard, made from the route table: with each role, from other sites, through proxies, by other
//! names of the host, and with other publishers' ids.

use origin::http::{
    handlers::{AlarmCall, DashboardCall, Handler, MemberCall},
    routes::routes,
    site::{AccountCall, SiteCall},
};
use serde_json::{Value, json};

use super::{
    Browser, HOST, ORIGIN, invite,
    passkeys::{add_passkey, join},
    signed_in,
};
use crate::harness::{Answer, Setup, Signpost, demo};
use domain::accounts::role::Role;

/// A path with an id for its variable segment, which no account has.
pub const UNKNOWN: &str = "0123456789abcdef";

/// Whether a call needs a passkey within the last 5 minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passkey {
    Any,
    Fresh,
}

const EVERYBODY: &[Role] = &[Role::Owner, Role::Developer, Role::Analyst, Role::UserSupport];
const NO_ANALYSTS: &[Role] = &[Role::Owner, Role::Developer, Role::UserSupport];
const DEVELOPERS: &[Role] = &[Role::Owner, Role::Developer];
const OWNERS: &[Role] = &[Role::Owner];

/// A call of a member: about its publisher, or about its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    Publisher(MemberCall),
    Account(AccountCall),
}

/// The matrix of a publisher's roles, written out so that a mistake in the table of the code does not repeat itself here:
/// the roles that may make a call, and the passkey that it needs.
fn access(call: Called) -> (&'static [Role], Passkey) {
    match call {
        Called::Publisher(call) => access_to_publisher(call),
        Called::Account(call) => access_to_account(call),
    }
}

fn access_to_account(call: AccountCall) -> (&'static [Role], Passkey) {
    use AccountCall::*;
    use Passkey::*;
    match call {
        ReadSession | VerifyRequest => (EVERYBODY, Any),
        Verify => (EVERYBODY, Any),
        ListMembers => (OWNERS, Any),
        Invite => (OWNERS, Fresh),
        WithdrawInvite => (OWNERS, Fresh),
        ChangeRole => (OWNERS, Fresh),
        RemoveMember => (OWNERS, Fresh),
        Recover => (OWNERS, Fresh),
        ListSessions => (EVERYBODY, Any),
        EndSession => (EVERYBODY, Fresh),
        ListPasskeys => (EVERYBODY, Any),
        PasskeyAddition => (EVERYBODY, Fresh),
        AddPasskey => (EVERYBODY, Fresh),
        RemovePasskey => (EVERYBODY, Fresh),
        ReadAudit => (DEVELOPERS, Any),
    }
}

fn access_to_publisher(call: MemberCall) -> (&'static [Role], Passkey) {
    use MemberCall::*;
    use Passkey::*;
    match call {
        Switch => (EVERYBODY, Any),
        Overview => (EVERYBODY, Any),
        Reports => (EVERYBODY, Any),
        Suggestions => (EVERYBODY, Any),
        ListDayChanges | ReadAppDay | ListPayments => (EVERYBODY, Any),
        CreateExport => (EVERYBODY, Any),
        ReadExport => (EVERYBODY, Any),
        ListReportKeys => (DEVELOPERS, Any),
        CreateReportKey => (DEVELOPERS, Fresh),
        RevokeReportKey => (DEVELOPERS, Fresh),
        ReadPubKey => (DEVELOPERS, Fresh),
        ReadPubKeyRequest => (DEVELOPERS, Any),
        RequestPubKey => (DEVELOPERS, Any),
        ListApps => (EVERYBODY, Any),
        ReadApp | PreviewCallback => (DEVELOPERS, Any),
        CreateApp | ChangeApp | ChangeSecret(_) | EnableCallback | TestCallback => (DEVELOPERS, Fresh),
        ReadActivity | ListRewards | ReadReward => (EVERYBODY, Any),
        ReplayReward => (NO_ANALYSTS, Any),
        ReadReplay | CancelReplay => (DEVELOPERS, Any),
        ReplayRewards => (DEVELOPERS, Fresh),
        User(_) => (OWNERS, Fresh),
        Alarms(AlarmCall::Read) => (DEVELOPERS, Any),
        Alarms(_) => (DEVELOPERS, Fresh),
        // A link that is signed needs a fresh passkey besides.
        ListOffers | MakeTrackingUrl => (DEVELOPERS, Any),
    }
}

/// Makes every call of a member as `role`, and compares what is refused with the matrix. `is_fresh` says whether the
/// browser's session has a passkey within the last 5 minutes.
fn check_access(browser: &Browser<'_>, role: Role, is_fresh: bool) {
    for (method, path, member_call) in member_calls() {
        let answer = call(browser, method, &path);
        let (roles, passkey) = access(member_call);
        let expected = if !roles.contains(&role) {
            Some("role_forbids")
        } else if passkey == Passkey::Fresh && !is_fresh {
            Some("verify_first")
        } else {
            None
        };
        let refused = (answer.status == 403).then(|| answer.code());
        assert_eq!(refused.as_deref(), expected, "{role:?} {method} {path}: {answer:?}");
        if expected.is_none() && path.contains(UNKNOWN) && ["DELETE", "GET"].contains(&method) {
            answer.expect_error(404, "not_found");
        }
    }
}

/// Every call of the interface: its method, its path, and what it is.
fn calls() -> Vec<(&'static str, String, DashboardCall)> {
    let routes = routes().flat_map(|route| {
        let methods = route.methods.iter();
        methods.filter_map(|served| match served.handler {
            Handler::Dashboard(DashboardCall::Site(SiteCall::Page | SiteCall::Asset)) => None,
            Handler::Dashboard(call) => Some((served.method.as_str(), route.pattern.replace("{}", UNKNOWN), call)),
            _ => None,
        })
    });
    routes.collect()
}

/// Every call of a member.
pub fn member_calls() -> Vec<(&'static str, String, Called)> {
    let members = calls().into_iter().filter_map(|(method, path, call)| match call {
        DashboardCall::Member(call, ..) => Some((method, path, Called::Publisher(call))),
        DashboardCall::Site(SiteCall::Account(call, _)) => Some((method, path, Called::Account(call))),
        DashboardCall::Site(_) => None,
    });
    let calls: Vec<_> = members.collect();
    assert!(calls.len() > 15, "{calls:?}");
    calls
}

/// Sends any body, since what is checked here comes before the body.
fn call(browser: &Browser<'_>, method: &str, path: &str) -> Answer {
    let body = (method != "GET").then(|| json!({}));
    browser.send(method, path, body.as_ref())
}

#[test]
fn a_role_is_checked_before_anything_else_and_an_unknown_id_is_not_found() {
    let signpost = demo();
    let publisher = signpost.publisher("dashboard-roles");
    for role in EVERYBODY {
        let browser = signed_in(&signpost, &publisher, role.as_str());
        check_access(&browser, *role, true);
    }
}

#[test]
fn a_passkey_of_5_minutes_ago_no_longer_opens_what_needs_a_fresh_one() {
    let signpost = Setup::new().var("LOCAL_SIGN_IN", "").start();
    let publisher = signpost.publisher("dashboard-stale");
    let joined = EVERYBODY.iter().zip(30..).map(|(role, seed)| {
        let (browser, _) = join(&signpost, &publisher, "Ada", role.as_str(), seed);
        (*role, browser.cookie)
    });
    let joined: Vec<_> = joined.collect();
    let check = |signpost: &Signpost, is_fresh: bool| {
        for (role, cookie) in &joined {
            let browser = Browser {
                signpost,
                site: "dashboard",
                cookie: cookie.clone(),
                publisher: Some("dashboard-stale".to_owned()),
            };
            check_access(&browser, *role, is_fresh);
        }
    };
    check(&signpost, true);
    let set_back = "UPDATE sessions SET verified_ms = verified_ms - 300000";
    signpost.restart_after(|| signpost.damage("signpost-accounts", set_back));
    check(&signpost, false);
}

#[test]
fn a_local_session_ends_with_local_sign_in() {
    let mut signpost = Setup::new().start();
    let publisher = signpost.publisher("dashboard-local");
    let mut browser = signed_in(&signpost, &publisher, "owner");
    browser.get("overview").expect(200);
    let (cookie, shown) = (browser.cookie.take(), browser.publisher.take());
    signpost.restart_with("LOCAL_SIGN_IN", "");
    let browser = Browser { signpost: &signpost, site: "dashboard", cookie, publisher: shown };
    for (method, path, _) in member_calls() {
        call(&browser, method, &path).expect_error(401, "not_signed_in");
    }
}

#[test]
fn without_a_session_every_call_is_refused() {
    let signpost = demo();
    let publisher = signpost.publisher("dashboard-strangers");
    let stranger = Browser::new(&signpost);
    let mut forged = Browser::new(&signpost);
    forged.cookie =
        Some(format!("signpost_publisher_8787=s_p_dashboard-strangers_{}_{}", "ab".repeat(16), "cd".repeat(16)));
    let mut owner = signed_in(&signpost, &publisher, "owner");
    for (method, path, _) in member_calls() {
        for browser in [&stranger, &forged] {
            call(browser, method, &path).expect_error(401, "not_signed_in");
        }
    }
    // A program's credentials beside the cookie: the cookie does not count.
    let cookie = owner.cookie.take().unwrap();
    let headers =
        [("Host", HOST), ("Sec-Fetch-Site", "same-origin"), ("Cookie", cookie.as_str()), ("Authorization", "Bearer x")];
    signpost.get("/v1/dashboard/overview", &headers).expect_error(401, "not_signed_in");
}

#[test]
fn another_site_a_proxy_and_another_host_are_refused() {
    let signpost = demo();
    let publisher = signpost.publisher("dashboard-sites");
    let owner = signed_in(&signpost, &publisher, "owner");
    let cookie = owner.cookie.as_deref().unwrap();
    let own = [
        ("Host", HOST),
        ("Sec-Fetch-Site", "same-origin"),
        ("Origin", ORIGIN),
        ("Content-Type", "application/json"),
        ("Cookie", cookie),
    ];
    let changed = |name: &'static str, value: Option<&'static str>| {
        let mut headers: Vec<_> = own.iter().copied().filter(|(known, _)| *known != name).collect();
        headers.extend(value.map(|value| (name, value)));
        headers
    };
    for (name, value, status, code) in [
        ("Sec-Fetch-Site", None, 403, "cross_site_request"),
        ("Sec-Fetch-Site", Some("cross-site"), 403, "cross_site_request"),
        ("Sec-Fetch-Site", Some("same-site"), 403, "cross_site_request"),
        ("Sec-Fetch-Site", Some("none"), 403, "cross_site_request"),
        ("Forwarded", Some("for=10.0.0.1"), 403, "cross_site_request"),
        ("X-Forwarded-For", Some("10.0.0.1"), 403, "cross_site_request"),
        ("X-Forwarded-Port", Some("443"), 403, "cross_site_request"),
        ("Via", Some("1.1 proxy"), 403, "cross_site_request"),
        ("CF-Ray", Some("1"), 403, "cross_site_request"),
        ("Host", Some("rebound.example"), 421, "misdirected_request"),
        ("Host", Some("localhost:8788"), 421, "misdirected_request"),
        ("Host", Some("127.0.0.1:8787"), 421, "misdirected_request"),
    ] {
        for (method, path, _) in calls() {
            signpost.send(method, &path, &changed(name, value), b"").expect_error(status, code);
        }
    }
    for (name, value, status, code) in [
        ("Origin", None, 403, "cross_site_request"),
        ("Origin", Some("https://evil.example"), 403, "cross_site_request"),
        ("Origin", Some("http://localhost"), 403, "cross_site_request"),
        ("Content-Type", Some("text/plain"), 415, "unsupported_media_type"),
        ("Content-Type", None, 415, "unsupported_media_type"),
    ] {
        for (method, path, _) in calls() {
            if method != "GET" {
                signpost.send(method, &path, &changed(name, value), b"{}").expect_error(status, code);
            }
        }
    }
}

#[test]
fn another_publishers_resources_are_answered_like_unknown_ones() {
    let signpost = demo();
    let (one, other) = (signpost.publisher("dashboard-one"), signpost.publisher("dashboard-other"));
    let their_app = signpost.unpublished_offer_wall("dashboard-other", "79109000", None);
    let mine = signed_in(&signpost, &one, "owner");
    let mut theirs = signed_in(&signpost, &other, "owner");
    add_passkey(&mut theirs, 20);
    let made = |path: &str, body: Value| theirs.post(path, &body).expect(201).json();
    let read = |path: &str| theirs.get(path).expect(200).json();
    let query = json!({
        "date_range": { "start_date": "2026-11-01", "end_date": "2026-11-02" },
        "dimensions": ["app"],
        "metrics": ["revenue"],
    });
    let app = json!({
        "publisher_id": "dashboard-other", "name": "Theirs", "platform": "ios",
        "currency": { "name": "Coins", "per_usd": 1 },
    });
    signpost.operator("PUT", "apps/90000001", Some(&app)).expect(200);
    let ids = [
        ("apps", json!("90000001")),
        ("report_keys", made("report_keys", json!({ "label": "theirs" }))["key_id"].clone()),
        ("invites", made("invites", json!({ "name": "Grace", "role": "analyst" }))["invite_id"].clone()),
        ("members", read("overview")["member"]["member_id"].clone()),
        ("sessions", read("sessions")["sessions"][0]["session_id"].clone()),
        ("passkeys", read("passkeys")["passkeys"][0]["passkey_id"].clone()),
        ("exports", made("exports", json!({ "query": query, "format": "csv" }))["export_id"].clone()),
        ("apps", json!(their_app.app)),
    ];
    for (method, path, _) in member_calls() {
        let Some((before, after)) = path.split_once(UNKNOWN) else {
            continue;
        };
        let id = ids.iter().find(|(resource, _)| before.ends_with(&format!("/{resource}/")));
        let (_, id) = id.unwrap_or_else(|| panic!("no id of another publisher for {path}"));
        let body = match (method, before.ends_with("/apps/")) {
            ("PATCH", true) => json!({ "name": "Mine" }),
            ("PATCH", false) => json!({ "role": "analyst" }),
            _ => json!({}),
        };
        let revision = [("If-Match", "\"1\"")];
        // As long as an id of this kind is.
        let unknown = if before.ends_with("/apps/") { "90000002" } else { UNKNOWN };
        let answers = [id.as_str().unwrap(), unknown].map(|id| {
            mine.send_with(method, &format!("{before}{id}{after}"), &revision, Some(&body))
                .expect_error(404, "not_found")
                .body
        });
        assert_eq!(answers[0], answers[1], "{method} {path}");
    }
    theirs.get("overview").expect(200);
    let keys = theirs.get("report_keys").expect(200).json();
    assert_eq!(keys["report_keys"].as_array().unwrap().len(), 1);
}

#[test]
fn the_tracking_host_does_not_reach_the_dashboard() {
    let signpost = Setup::new()
        .var("TRACKING_HOST", "track.example")
        .var("CONSOLE_URL", "")
        .var("OPERATOR_HOST", "127.0.0.1")
        .var("DASHBOARD_HOST", "dashboard.example")
        .var("DASHBOARD_URL", "https://dashboard.example")
        .start();
    for path in ["/dashboard", "/v1/dashboard/overview"] {
        let sent = [("Host", "track.example"), ("Sec-Fetch-Site", "same-origin")];
        signpost.get(path, &sent).expect_error(404, "not_found");
    }
    let sent = [("Host", "dashboard.example"), ("Sec-Fetch-Site", "same-origin")];
    signpost.get("/dashboard", &sent).expect(200);
    let publisher = signpost.publisher("dashboard-hosts");
    invite_at(&publisher, "https://dashboard.example");
}

/// An invite names the dashboard's own address.
fn invite_at(publisher: &crate::harness::Publisher<'_>, origin: &str) {
    let body = json!({ "name": "Ada", "role": "owner" });
    let made = publisher.operator("POST", "invites", Some(&body)).expect(201).json();
    assert!(made["url"].as_str().unwrap().starts_with(&format!("{origin}/dashboard#invite=")));
}

#[test]
fn only_the_operator_invites_to_a_publishers_account_and_only_to_one_that_exists() {
    let signpost = demo();
    let body = json!({ "name": "Ada", "role": "owner" });
    signpost.operator("POST", "publishers/dashboard-nobody/invites", Some(&body)).expect_error(404, "not_found");
    let publisher = signpost.publisher("dashboard-inviting");
    for body in [
        json!({ "name": "", "role": "owner" }),
        json!({ "name": "a\u{202e}b", "role": "owner" }),
        json!({ "name": "Ada", "role": "admin" }),
    ] {
        publisher.operator("POST", "invites", Some(&body)).expect_error(400, "invalid_field");
    }
    publisher
        .operator("POST", "invites", Some(&json!({ "name": "Ada", "role": "nobody" })))
        .expect_error(400, "invalid_field");
    invite(&publisher, "Ada", "analyst");
}

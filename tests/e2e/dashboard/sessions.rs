//! Invites and sessions: each invite signs in once, and a session ends where it should.

use serde_json::json;

use super::{Browser, invite, signed_in};
use crate::harness::{PUBLISHER, Setup, demo};

#[test]
fn an_invite_signs_in_once() {
    let signpost = demo();
    let publisher = signpost.publisher("dashboard-invite");
    let invite = invite(&publisher, "Ada", "owner");
    let mut browser = Browser::new(&signpost);
    let shown = browser.post("invite", &json!({ "invite": invite })).expect(200).json();
    assert_eq!(shown["publisher"]["publisher_id"], "dashboard-invite");
    assert_eq!((&shown["member_name"], &shown["role"]), (&json!("Ada"), &json!("owner")));
    assert_eq!(shown["local_sign_in"], true);
    browser.get("overview").expect_error(401, "not_signed_in");
    browser.sign_in(&invite);
    let overview = browser.get("overview").expect(200).json();
    assert_eq!(overview["member"]["name"], "Ada");
    assert_eq!(overview["publisher"]["approved"], true);

    browser.post("sign_in", &json!({ "invite": invite })).expect_error(409, "session_open");
    let other = Browser::new(&signpost);
    for path in ["sign_in", "invite"] {
        other.post(path, &json!({ "invite": invite })).expect_error(404, "unknown_invite");
        other.post(path, &json!({ "invite": format!("{invite}0") })).expect_error(404, "unknown_invite");
    }
}

#[test]
fn a_session_ends_at_the_sign_out_and_with_its_member() {
    let signpost = demo();
    let publisher = signpost.publisher("dashboard-session");
    let owner = signed_in(&signpost, &publisher, "owner");
    let analyst = signed_in(&signpost, &publisher, "analyst");
    let members = owner.get("members").expect(200).json();
    let members = members["members"].as_array().unwrap();
    let id_of = |role: &str| {
        let member = members.iter().find(|member| member["role"] == role).unwrap();
        member["member_id"].as_str().unwrap().to_owned()
    };
    analyst.get("overview").expect(200);
    let path = format!("/v1/dashboard/members/{}", id_of("analyst"));
    owner.send("DELETE", &path, None).expect(204);
    analyst.get("overview").expect_error(401, "not_signed_in");
    let own = format!("/v1/dashboard/members/{}", id_of("owner"));
    owner.send("DELETE", &own, None).expect_error(409, "last_owner");

    let answer = owner.post("sign_out", &json!({})).expect(204);
    assert!(answer.header("Set-Cookie").unwrap().contains("Max-Age=0"), "{answer:?}");
    owner.get("overview").expect_error(401, "not_signed_in");
    owner.post("sign_out", &json!({})).expect(204);
}

#[test]
fn sessions_survive_a_restart_and_the_audit_says_what_happened() {
    let (signpost, _) = Setup::new().start_with_fixtures();
    let publisher = signpost.existing_publisher(PUBLISHER);
    let owner = signed_in(&signpost, &publisher, "owner");
    signpost.restart();
    let created = owner.post("report_keys", &json!({ "label": "nightly" })).expect(201).json();
    let key_id = created["key_id"].as_str().unwrap();
    let keys = owner.get("report_keys").expect(200).json();
    assert_eq!(keys["report_keys"][0]["label"], "nightly");
    let overview = owner.get("overview").expect(200).json();
    let creator = json!({ "member_id": overview["member"]["member_id"], "name": "The owner" });
    assert_eq!(keys["report_keys"][0]["created_by"], creator);
    owner.send("DELETE", &format!("/v1/dashboard/report_keys/{key_id}"), None).expect(204);
    owner.send("DELETE", &format!("/v1/dashboard/report_keys/{key_id}"), None).expect_error(404, "not_found");
    let audit = owner.get("audit").expect(200).json();
    let entries = audit["entries"].as_array().unwrap();
    for action in ["report_key_created", "report_key_revoked"] {
        let entry = entries.iter().find(|entry| entry["action"] == action);
        let entry = entry.unwrap_or_else(|| panic!("no {action} in {audit}"));
        assert_eq!((&entry["by"], &entry["subject"]), (&json!("The owner"), &json!(key_id)));
    }
    let sessions = owner.get("sessions").expect(200).json();
    assert_eq!(sessions["sessions"][0]["is_current"], true);
}

#[test]
fn without_local_sign_in_an_invite_needs_a_passkey() {
    let signpost = Setup::new().var("LOCAL_SIGN_IN", "").start();
    let publisher = signpost.publisher("dashboard-passkey");
    let invite = invite(&publisher, "Ada", "owner");
    let browser = Browser::new(&signpost);
    let body = json!({ "invite": invite });
    let shown = browser.post("invite", &body).expect(200).json();
    assert_eq!(shown["local_sign_in"], false);
    browser.post("sign_in", &body).expect_error(404, "not_found");
    let options = browser.post("passkeys/creation", &body).expect(200).json();
    assert_eq!(options["options"]["rp"]["id"], "localhost");
}

#[test]
fn an_unsafe_local_sign_in_lets_nobody_in() {
    let signpost = Setup::new().var("DASHBOARD_URL", "http://localhost").start();
    let publisher = signpost.publisher("dashboard-unsafe");
    let body = json!({ "name": "Ada", "role": "owner" });
    let made = publisher.operator("POST", "invites", Some(&body)).expect(201).json();
    let headers = [
        ("Host", "localhost"),
        ("Sec-Fetch-Site", "same-origin"),
        ("Origin", "http://localhost"),
        ("Content-Type", "application/json"),
    ];
    let body = json!({ "invite": made["invite"] }).to_string();
    signpost.send("POST", "/v1/dashboard/sign_in", &headers, body.as_bytes()).expect_error(503, "sign_in_unavailable");
}

#[test]
fn a_publisher_whose_approval_is_taken_back_is_signed_out_at_once() {
    let signpost = demo();
    let publisher = signpost.publisher("dashboard-suspended");
    let owner = signed_in(&signpost, &publisher, "owner");
    let invite = invite(&publisher, "Bob", "analyst");
    owner.get("overview").expect(200);
    let approve = |approved: bool| {
        let document = json!({ "name": "Acme", "approved": approved });
        signpost.operator("PUT", "publishers/dashboard-suspended", Some(&document)).expect(200);
    };
    approve(false);
    for path in ["overview", "sessions", "members", "report_keys"] {
        let answer = owner.get(path);
        assert_eq!(answer.header("Link"), Some(r#"<mailto:support@example.com>; rel="help""#));
        answer.expect_error(403, "account_suspended");
    }
    let mut stranger = Browser::new(&signpost);
    for path in ["invite", "sign_in"] {
        stranger.post(path, &json!({ "invite": invite })).expect_error(403, "account_suspended");
        let unknown = json!({ "invite": format!("{invite}0") });
        stranger.post(path, &unknown).expect_error(404, "unknown_invite");
    }
    // The cookie that is left over does not keep its browser from signing in elsewhere.
    let other = signpost.publisher("dashboard-elsewhere");
    let mut elsewhere = Browser::new(&signpost);
    elsewhere.cookie.clone_from(&owner.cookie);
    elsewhere.sign_in(&super::invite(&other, "Ada", "owner"));

    approve(true);
    owner.get("overview").expect_error(401, "not_signed_in");
    stranger.sign_in(&invite);
    stranger.get("overview").expect(200);

    let line = r#"{"kind":"publisher","id":"dashboard-suspended","name":"Acme","approved":false}"#;
    let ndjson = [("Content-Type", "application/x-ndjson")];
    signpost.operate("POST", "import", &ndjson, line.as_bytes()).expect(200);
    stranger.get("overview").expect_error(403, "account_suspended");
}

#[test]
fn the_owner_of_a_publisher_without_approval_signs_in() {
    let signpost = demo();
    let document = json!({ "name": "New", "approved": false });
    for _ in 0..2 {
        signpost.operator("PUT", "publishers/dashboard-waiting", Some(&document)).expect(200);
    }
    let publisher = signpost.existing_publisher("dashboard-waiting");
    let owner = signed_in(&signpost, &publisher, "owner");
    let overview = owner.get("overview").expect(200).json();
    assert_eq!(overview["publisher"]["approved"], false);
}

//! Several accounts in one browser: one is the current one, and nothing that a page sends lands in another.

use serde_json::{Value, json};

use super::{
    Browser,
    access::{UNKNOWN, member_calls},
    invite, signed_in,
};
use crate::harness::{Publisher, Signpost, demo};

/// A browser that is signed in to the accounts of publishers, the last one being the current one.
fn signed_in_to<'s>(signpost: &'s Signpost, publishers: &[&Publisher<'_>]) -> Browser<'s> {
    let mut browser = Browser::new(signpost);
    for publisher in publishers {
        browser.sign_in(&invite(publisher, "Ada", "owner"));
    }
    browser
}

/// The publishers of a browser's accounts, the current one first.
#[track_caller]
fn accounts(browser: &Browser<'_>) -> Vec<String> {
    let overview = browser.get("overview").expect(200).json();
    let accounts = overview["accounts"].as_array().unwrap();
    assert_eq!(accounts[0]["publisher_id"], overview["publisher"]["publisher_id"]);
    assert_eq!(accounts[0]["name"], overview["publisher"]["name"]);
    let are_current: Vec<_> = accounts.iter().map(|account| &account["is_current"]).collect();
    assert!(are_current[0] == &json!(true) && are_current[1..].iter().all(|is| **is == json!(false)));
    let id = |account: &Value| account["publisher_id"].as_str().unwrap().to_owned();
    accounts.iter().map(id).collect()
}

#[test]
fn a_browser_changes_between_the_accounts_that_it_is_signed_in_to() {
    let signpost = demo();
    let (one, two) = (signpost.publisher("accounts-one"), signpost.publisher("accounts-two"));
    let mut browser = signed_in_to(&signpost, &[&one, &two]);
    assert_eq!(accounts(&browser), ["accounts-two", "accounts-one"]);
    browser.post("report_keys", &json!({ "label": "of two" })).expect(201);

    let to_one = json!({ "publisher_id": "accounts-one" });
    let answer = browser.post("switch", &to_one).expect(204);
    browser.keep_cookie(&answer);
    browser.publisher = Some("accounts-one".to_owned());
    assert_eq!(accounts(&browser), ["accounts-one", "accounts-two"]);
    let keys = browser.get("report_keys").expect(200).json();
    assert_eq!(keys["report_keys"], json!([]));

    for unknown in ["accounts-three", "no such/id", ""] {
        browser.post("switch", &json!({ "publisher_id": unknown })).expect_error(404, "not_found");
    }
    browser.post("switch", &json!({})).expect_error(400, "missing_field");
}

#[test]
fn a_pages_request_for_an_account_other_than_the_current_one_is_refused() {
    let signpost = demo();
    let (one, two) = (signpost.publisher("accounts-shown"), signpost.publisher("accounts-other"));
    let mut browser = signed_in_to(&signpost, &[&one, &two]);
    let label = json!({ "label": "misplaced" });
    for shown in [Some("accounts-shown"), Some("accounts-nobody"), Some(""), None] {
        browser.publisher = shown.map(str::to_owned);
        for (method, path, _) in member_calls() {
            let body = (method != "GET").then_some(&label);
            let answer = browser.send(method, &path, body);
            // A read that names no publisher reads the current account; the overview tells which one that is.
            if shown.is_none() && method == "GET" {
                answer.expect(if path.contains(UNKNOWN) { 404 } else { 200 });
            } else {
                answer.expect_error(409, "account_switched");
            }
        }
    }
    browser.publisher = Some("accounts-other".to_owned());
    let keys = browser.get("report_keys").expect(200).json();
    assert_eq!(keys["report_keys"], json!([]));
    assert_eq!(accounts(&browser), ["accounts-other", "accounts-shown"]);
}

#[test]
fn an_account_whose_session_has_ended_is_left_out() {
    let signpost = demo();
    let (one, two) = (signpost.publisher("accounts-ended"), signpost.publisher("accounts-live"));
    let owner = signed_in(&signpost, &one, "owner");
    let mut browser = Browser::new(&signpost);
    browser.sign_in(&invite(&one, "Bob", "analyst"));
    browser.sign_in(&invite(&two, "Bob", "analyst"));
    assert_eq!(accounts(&browser), ["accounts-live", "accounts-ended"]);

    let members = owner.get("members").expect(200).json();
    let members = members["members"].as_array().unwrap();
    let bob = members.iter().find(|member| member["name"] == "Bob").unwrap();
    let path = format!("/v1/dashboard/members/{}", bob["member_id"].as_str().unwrap());
    owner.send("DELETE", &path, None).expect(204);
    assert_eq!(accounts(&browser), ["accounts-live"]);
    browser.post("switch", &json!({ "publisher_id": "accounts-ended" })).expect_error(404, "not_found");

    // Its place is free for a new session of the account.
    browser.sign_in(&invite(&one, "Bob", "developer"));
    assert_eq!(accounts(&browser), ["accounts-ended", "accounts-live"]);
}

#[test]
fn where_the_current_session_has_ended_the_one_before_takes_its_place() {
    let signpost = demo();
    let (before, current) = (signpost.publisher("accounts-before"), signpost.publisher("accounts-suspended"));
    let mut browser = signed_in_to(&signpost, &[&before, &current]);
    let document = json!({ "name": "Acme", "approved": false });
    signpost.operator("PUT", "publishers/accounts-suspended", Some(&document)).expect(200);
    browser.publisher = Some("accounts-suspended".to_owned());
    browser.post("report_keys", &json!({ "label": "misplaced" })).expect_error(409, "account_switched");
    browser.publisher = Some("accounts-before".to_owned());
    assert_eq!(accounts(&browser), ["accounts-before"]);
    browser.post("switch", &json!({ "publisher_id": "accounts-suspended" })).expect_error(404, "not_found");
}

#[test]
fn an_export_stays_with_the_account_that_it_was_made_in() {
    let signpost = demo();
    let (one, two) = (signpost.publisher("accounts-export-one"), signpost.publisher("accounts-export-two"));
    let mut browser = signed_in_to(&signpost, &[&one, &two]);
    let query = json!({
        "date_range": { "start_date": "2026-11-01", "end_date": "2026-11-02" },
        "dimensions": ["app"],
        "metrics": ["revenue"],
    });
    let made = browser.post("exports", &json!({ "query": query, "format": "csv" }));
    let made = made.expect(201).json();
    let export = format!("exports/{}", made["export_id"].as_str().unwrap());
    for (publisher, status) in [("accounts-export-one", 404), ("accounts-export-two", 200)] {
        let answer = browser.post("switch", &json!({ "publisher_id": publisher })).expect(204);
        browser.keep_cookie(&answer);
        browser.publisher = Some(publisher.to_owned());
        browser.get(&export).expect(status);
    }
}

#[test]
fn an_invite_of_an_account_that_is_open_waits_until_it_is_left() {
    let signpost = demo();
    let (one, two) = (signpost.publisher("accounts-open"), signpost.publisher("accounts-top"));
    let mut browser = signed_in_to(&signpost, &[&one, &two]);
    let (again, top) = (invite(&one, "Eve", "owner"), invite(&two, "Eve", "owner"));
    for invite in [&again, &top] {
        browser.post("sign_in", &json!({ "invite": invite })).expect_error(409, "session_open");
    }
    let former = Browser {
        signpost: &signpost,
        site: "dashboard",
        cookie: browser.cookie.clone(),
        publisher: browser.publisher.clone(),
    };
    let answer = browser.post("sign_out", &json!({})).expect(204);
    assert!(answer.header("Set-Cookie").unwrap().contains("Max-Age=0"), "{answer:?}");
    former.get("overview").expect_error(401, "not_signed_in");
    browser.cookie = None;
    browser.sign_in(&again);
    assert_eq!(accounts(&browser), ["accounts-open"]);
    // All sessions have ended, not only the one that was the current one.
    former.post("sign_in", &json!({ "invite": top })).expect(204);
}

#[test]
fn a_fifth_account_ends_the_session_that_was_current_longest_ago() {
    let signpost = demo();
    let publishers: Vec<_> = (1..=5).map(|number| signpost.publisher(&format!("accounts-many-{number}"))).collect();
    let first = signed_in_to(&signpost, &[&publishers[0]]);
    let mut browser = Browser { signpost: &signpost, site: "dashboard", cookie: first.cookie.clone(), publisher: None };
    for publisher in &publishers[1..] {
        first.get("overview").expect(200);
        browser.sign_in(&invite(publisher, "Ada", "owner"));
    }
    assert_eq!(accounts(&browser), [5, 4, 3, 2].map(|number| format!("accounts-many-{number}")));
    first.get("overview").expect_error(401, "not_signed_in");
}

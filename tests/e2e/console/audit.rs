//! Each change that a member of the operator makes stands in the account's audit.

use serde_json::{Value, json};

use super::{Browser, signed_in};
use crate::{dashboard, harness::demo};

/// The newest entries of the audit that are this member's.
fn entries(browser: &Browser<'_>, by: &str) -> Vec<(String, Value, Value)> {
    let page = browser.get("/v1/console/audit?limit=200").expect(200).json();
    let entries = page["entries"].as_array().unwrap().iter();
    entries
        .filter(|entry| entry["by"] == by)
        .map(|entry| (entry["action"].as_str().unwrap().to_owned(), entry["subject"].clone(), entry["detail"].clone()))
        .collect()
}

#[test]
fn a_change_has_its_members_name_and_what_was_refused_leaves_none() {
    let signpost = demo();
    let browser = signed_in(&signpost, "Grace Hopper", "admin");
    let path = "/v1/operator/publishers/console-audited";
    let put = |body: &Value| browser.send("PUT", path, Some(body));
    put(&json!({ "name": "Audited", "approved": true })).expect(200);
    put(&json!({ "name": "Audited", "approved": 1 })).expect_error(400, "invalid_field");
    browser.get(path).expect(200);
    browser.post(&format!("{path}/report_keys"), &json!({ "label": "BI" })).expect(201);
    let line = r#"{"kind":"publisher","id":"console-imported","name":"Imported","approved":true}"#;
    let import = |query: &str| {
        let path = format!("/v1/operator/import{query}");
        browser.send_as("POST", &path, "application/x-ndjson", Some(line))
    };
    let checked = import("?dry_run=true").expect(200);
    let would = json!({ "would_import": 1, "new": 1, "changed": 0, "payouts": [] });
    assert_eq!(checked.json(), would);
    browser.get("/v1/operator/publishers/console-imported").expect_error(404, "not_found");
    assert_eq!(import("").expect(200).json(), json!({ "imported": 1 }));
    let audited = "console-audited";
    let facts =
        "app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue\n";
    let facts = format!("{facts}10000001,DE,p,t,d,1,10,9,8,1,0.5\n");
    let day = format!("{path}/facts/2026-11-03");
    browser.send_as("PUT", &day, "text/csv", Some(&facts)).expect(200);
    for query in ["?dry_run=true", ""] {
        let restate = format!("{path}/days/2026-01-03/restate{query}");
        browser.post(&restate, &json!({})).expect(200);
    }
    let days = browser.get(&format!("{path}/facts")).expect(200).json();
    assert_eq!(days["days"][0]["loaded"]["loaded_by"], "Grace Hopper");
    let keys = browser.get(&format!("{path}/report_keys")).expect(200).json();
    assert_eq!(keys["report_keys"][0]["created_by"]["name"], "Grace Hopper");
    put(&json!({ "name": "Audited", "approved": false })).expect(200);
    let key_id = keys["report_keys"][0]["key_id"].as_str().unwrap();
    let expected = [
        ("publisher_put", json!(audited), json!(r#"[["approved",true,false]]"#)),
        ("day_restated", json!(format!("{audited} 2026-01-03")), Value::Null),
        ("facts_replaced", json!(format!("{audited} 2026-11-03")), json!("1 rows")),
        ("imported", Value::Null, json!("1 line")),
        ("report_key_created", json!(audited), json!(format!("BI, {key_id}"))),
        ("publisher_put", json!(audited), json!("created")),
        ("member_joined", Value::Null, json!("admin")),
    ];
    let expected = expected.map(|(action, subject, detail)| (action.to_owned(), subject, detail));
    assert_eq!(entries(&browser, "Grace Hopper"), expected);
}

#[test]
fn the_audit_shows_changes_of_rewards_with_filter_reason_and_counts_but_no_user() {
    let signpost = demo();
    let wall = signpost.offer_wall("console-settled", "79000193", None);
    let browser = signed_in(&signpost, "Barbara Liskov", "admin");
    let app = format!("/v1/operator/apps/{}", wall.app);
    let paid = wall.pay("audited-user");
    wall.pay("audited-user-2");
    browser.post(&format!("{app}/conversions/{paid}/reverse"), &json!({ "reason": "chargeback" })).expect(200);
    let order = |filter: &Value, dry_run: bool| {
        let body = json!({ "filter": filter, "reason": "fraud ring", "dry_run": dry_run });
        browser.post(&format!("{app}/conversions/reverse"), &body).expect(200).json()
    };
    let mut filter = json!({ "status": "approved", "user_id": "audited-user-2" });
    filter["until"] = order(&filter, true)["until"].clone();
    assert_eq!(order(&filter, false)["settled"], 1);
    browser.post(&format!("{app}/erase_user"), &json!({ "user_id": "audited-user" })).expect(200);
    let entries = entries(&browser, "Barbara Liskov");
    let [erased, many, one, ..] = &entries[..] else { panic!("{entries:?}") };
    let app_only = ("user_erased".to_owned(), json!(wall.app), Value::Null);
    assert_eq!(erased, &app_only);
    assert_eq!(one, &("reward_reversed".to_owned(), json!(format!("{} {paid}", wall.app)), json!("chargeback")));
    let (action, subject, detail) = many;
    assert_eq!((action.as_str(), subject), ("rewards_reversed", &json!(wall.app)));
    let detail = detail.as_str().unwrap();
    assert!(
        detail.starts_with("1 of 1 with status approved, of one user, until 20") && detail.ends_with("Z: fraud ring"),
        "{detail}"
    );
    assert!(!format!("{entries:?}").contains("audited-user"));
}

#[test]
fn an_invite_of_a_member_ends_with_the_member() {
    let signpost = demo();
    let browser = signed_in(&signpost, "Mallory", "admin");
    let body = json!({ "name": "Mallory again", "role": "admin" });
    let invited = browser.post("/v1/operator/members/invites", &body).expect(201).json();
    assert_eq!(entries(&browser, "Mallory").len(), 2, "the invite and the join, once each");
    let other = signed_in(&signpost, "Trent", "admin");
    let members = other.get("/v1/console/members").expect(200).json();
    let member = |name: &str| {
        let mut members = members["members"].as_array().unwrap().iter();
        members.find(|member| member["name"] == name).unwrap()["member_id"].clone()
    };
    let path = format!("/v1/console/members/{}", member("Mallory").as_str().unwrap());
    other.send("DELETE", &path, Some(&json!({}))).expect(204);
    let mut back = Browser { signpost: &signpost, cookie: None };
    back.cookie = None;
    let refused = back.post("/v1/console/sign_in", &json!({ "invite": invited["invite"] }));
    assert_eq!(refused.status / 100, 4, "{refused:?}");
}

#[test]
fn an_invite_to_a_publisher_ends_when_its_sender_is_removed_recovered_or_demoted() {
    let signpost = demo();
    let publisher = signpost.publisher("console-invites");
    let other = signed_in(&signpost, "Trent", "admin");
    let dashboard = dashboard::Browser::new(&signpost);
    for (name, method, to, body) in [
        ("Mallory", "DELETE", "", json!({})),
        ("Mallet", "POST", "/recovery", json!({})),
        ("Malvin", "PATCH", "", json!({ "role": "support" })),
    ] {
        let sender = signed_in(&signpost, name, "admin");
        let path = format!("/v1/operator/publishers/{}/invites", publisher.id);
        let friend = json!({ "name": "A friend", "role": "owner" });
        let invited = sender.post(&path, &friend).expect(201).json();
        let invite = json!({ "invite": invited["invite"] });
        dashboard.post("invite", &invite).expect(200);
        let members = other.get("/v1/console/members").expect(200).json();
        let mut members = members["members"].as_array().unwrap().iter();
        let member = members.find(|member| member["name"] == name).unwrap();
        let path = format!("/v1/console/members/{}{to}", member["member_id"].as_str().unwrap());
        let ended = other.send(method, &path, Some(&body)).status;
        assert!((200..300).contains(&ended), "{name}: {ended}");
        for call in ["invite", "sign_in"] {
            dashboard.post(call, &invite).expect_error(404, "unknown_invite");
        }
    }
}

#[test]
fn two_who_change_one_document_do_not_undo_each_others_change() {
    let signpost = demo();
    let browser = signed_in(&signpost, "Edsger", "admin");
    let path = "/v1/operator/publishers/console-conditional";
    let put = |name: &str, condition: (&'static str, &str)| {
        let body = json!({ "name": name, "approved": true }).to_string();
        let headers = [
            ("Host", super::HOST),
            ("Sec-Fetch-Site", "same-origin"),
            ("Origin", super::ORIGIN),
            ("Content-Type", "application/json"),
            ("Cookie", browser.cookie.as_deref().unwrap()),
            condition,
        ];
        signpost.send("PUT", path, &headers, body.as_bytes())
    };
    put("First", ("If-None-Match", "*")).expect(200);
    put("Other", ("If-None-Match", "*")).expect_error(412, "precondition_failed");
    let read = browser.get(path).expect(200);
    let tag = read.header("ETag").unwrap().to_owned();
    let changed = put("Second", ("If-Match", &tag)).expect(200);
    assert_eq!(browser.get(path).expect(200).header("ETag"), changed.header("ETag"));
    put("Third", ("If-Match", &tag)).expect_error(412, "precondition_failed");
    put("Third", ("If-None-Match", "x")).expect_error(400, "invalid_field");
    assert_eq!(browser.get(path).expect(200).json()["name"], "Second");
}

#[test]
fn the_operator_sees_a_publishers_people_and_lets_one_back_in() {
    let signpost = demo();
    let publisher = signpost.publisher("console-people");
    crate::dashboard::signed_in(&signpost, &publisher, "owner");
    let browser = signed_in(&signpost, "Ada", "admin");
    let people = |rest: &str| format!("/v1/operator/publishers/console-people/{rest}");
    let members = browser.get(&people("members")).expect(200).json();
    assert_eq!(members["members"][0]["name"], "The owner");
    assert_eq!(members["members"][0]["is_self"], false);
    let id = members["members"][0]["member_id"].as_str().unwrap();
    let recovery = browser.post(&people(&format!("members/{id}/recovery")), &json!({})).expect(201).json();
    assert!(recovery["url"].as_str().unwrap().contains("/dashboard#invite="));
    let members = browser.get(&people("members")).expect(200).json();
    let open = members["invites"][0]["invite_id"].as_str().unwrap().to_owned();
    assert_eq!(members["invites"][0]["is_recovery"], true);
    browser.send("DELETE", &people(&format!("invites/{open}")), Some(&json!({}))).expect(204);
    let audit = browser.get(&people("audit")).expect(200).json();
    assert_eq!(audit["entries"][0]["action"], "invite_withdrawn");
    browser.get("/v1/operator/publishers/console-people/activity").expect(200);
}

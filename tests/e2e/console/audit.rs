//! Each change that a member of the operator makes stands in the account's audit.

use serde_json::{Value, json};

use super::{Browser, signed_in};
use crate::harness::demo;

/// The newest entries of the audit that are this member's.
fn entries(browser: &Browser<'_>, by: &str) -> Vec<(String, Value)> {
    let page = browser.get("/v1/console/audit?limit=200").expect(200).json();
    let entries = page["entries"].as_array().unwrap().iter();
    entries
        .filter(|entry| entry["by"] == by)
        .map(|entry| {
            (
                entry["action"].as_str().unwrap().to_owned(),
                entry["subject"].clone(),
            )
        })
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
    browser
        .post(&format!("{path}/report_keys"), &json!({ "label": "BI" }))
        .expect(201);
    let line = r#"{"kind":"publisher","id":"console-imported","name":"Imported","approved":true}"#;
    let import = |query: &str| {
        let path = format!("/v1/operator/import{query}");
        browser.send_as("POST", &path, "application/x-ndjson", Some(line))
    };
    let checked = import("?dry_run=true").expect(200);
    assert_eq!(checked.json(), json!({ "would_import": 1 }));
    browser
        .get("/v1/operator/publishers/console-imported")
        .expect_error(404, "not_found");
    assert_eq!(import("").expect(200).json(), json!({ "imported": 1 }));
    let audited = "console-audited";
    let facts = "app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue\n";
    let facts = format!("{facts}10000001,DE,p,t,d,1,10,9,8,1,0.5\n");
    let day = format!("{path}/facts/2026-11-03");
    browser.send_as("PUT", &day, "text/csv", Some(&facts)).expect(200);
    let days = browser.get(&format!("{path}/facts")).expect(200).json();
    assert_eq!(days["days"][0]["loaded"]["loaded_by"], "Grace Hopper");
    let keys = browser.get(&format!("{path}/report_keys")).expect(200).json();
    assert_eq!(keys["report_keys"][0]["created_by"]["name"], "Grace Hopper");
    let actions = entries(&browser, "Grace Hopper");
    assert_eq!(
        actions,
        [
            (
                "facts_replaced".to_owned(),
                format!("{audited} 2026-11-03").into()
            ),
            ("imported".to_owned(), Value::Null),
            ("report_key_created".to_owned(), audited.into()),
            ("publisher_put".to_owned(), audited.into()),
            ("member_joined".to_owned(), Value::Null),
        ]
    );
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
    let recovery = browser
        .post(&people(&format!("members/{id}/recovery")), &json!({}))
        .expect(201)
        .json();
    assert!(recovery["url"].as_str().unwrap().contains("/dashboard#invite="));
    let members = browser.get(&people("members")).expect(200).json();
    let open = members["invites"][0]["invite_id"].as_str().unwrap().to_owned();
    assert_eq!(members["invites"][0]["is_recovery"], true);
    browser
        .send("DELETE", &people(&format!("invites/{open}")), Some(&json!({})))
        .expect(204);
    let audit = browser.get(&people("audit")).expect(200).json();
    assert_eq!(audit["entries"][0]["action"], "invite_withdrawn");
    browser
        .get("/v1/operator/publishers/console-people/activity")
        .expect(200);
}

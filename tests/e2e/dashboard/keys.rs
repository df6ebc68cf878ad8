//! The request for a new Pub-Key: from the page to the operator and back.

use serde_json::{Value, json};

use super::signed_in;
use crate::harness::demo;

#[test]
fn a_new_pub_key_is_asked_for_in_the_dashboard_and_issued_by_the_operator() {
    let signpost = demo();
    let publisher = signpost.publisher("keys-request");
    let developer = signed_in(&signpost, &publisher, "developer");
    let owner = signed_in(&signpost, &publisher, "owner");
    let reason = json!({ "reason": " It was <b>published</b>. " });
    owner.post("pub_key/request", &reason).expect_error(409, "no_pub_key");
    let former = signpost.issue_pub_key("keys-request");
    let request = || developer.get("pub_key/request").expect(200).json()["request"].clone();
    assert_eq!(request(), Value::Null);

    for wrong in [json!(""), json!("a\u{202e}b"), json!("a".repeat(257)), json!(1), json!(null)] {
        developer.post("pub_key/request", &json!({ "reason": wrong })).expect_error(400, "invalid_field");
    }
    developer.post("pub_key/request", &json!({})).expect_error(400, "missing_field");
    assert_eq!(request(), Value::Null);

    let opened = developer.post("pub_key/request", &reason).expect(201).json();
    assert_eq!(opened["request"], request());
    assert_eq!(
        (&opened["request"]["requested_by"], &opened["request"]["reason"]),
        (&json!("The developer"), &json!("It was published."))
    );
    let again = owner.post("pub_key/request", &json!({ "reason": "Me too." }));
    assert_eq!(again.expect(200).json(), opened);
    let shown = owner.get("pub_key").expect(200).json();
    assert_eq!((&shown["pub_key"], &shown["request"]), (&json!(former), &opened["request"]));

    let listed = signpost.operator("GET", "pub_key_requests", None).expect(200).json();
    let listed = listed["requests"].as_array().unwrap();
    let own = listed.iter().find(|request| request["publisher_id"] == "keys-request");
    assert_eq!(own.unwrap()["reason"], "It was published.");
    let at_operator = publisher.operator("GET", "pub_key", None).expect(200).json();
    assert_eq!(at_operator["request"], opened["request"]);
    let audit = owner.get("audit").expect(200).json();
    let entries = audit["entries"].as_array().unwrap().iter();
    let rows: Vec<_> = entries.filter(|entry| entry["action"] == "pub_key_requested").collect();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((&rows[0]["by"], &rows[0]["detail"]), (&json!("The developer"), &json!("It was published.")));

    let new = signpost.issue_pub_key("keys-request");
    assert_ne!(new, former);
    assert_eq!(request(), Value::Null);
}

//! Recovery of a member: its invite is marked as one, and the owners are told.

use serde_json::json;

use super::{Browser, signed_in};
use crate::harness::demo;

#[test]
fn owners_see_a_recovery_in_the_overview_and_among_the_invites() {
    let signpost = demo();
    let publisher = signpost.publisher("dashboard-recovery");
    let owner = signed_in(&signpost, &publisher, "owner");
    let analyst = signed_in(&signpost, &publisher, "analyst");
    let developer = signed_in(&signpost, &publisher, "developer");
    let members = owner.get("members").expect(200).json();
    let members = members["members"].as_array().unwrap();
    let found = members.iter().find(|member| member["role"] == "analyst").unwrap();
    let id = found["member_id"].as_str().unwrap();
    let invite = |name: &str| json!({ "name": name, "role": "analyst" });
    owner.post("invites", &invite("Bob")).expect(201);
    let made = owner.post(&format!("members/{id}/recovery"), &json!({})).expect(201).json();

    analyst.get("overview").expect_error(401, "not_signed_in");
    let notices = |browser: &Browser<'_>| browser.get("overview").expect(200).json()["notices"].clone();
    let shown = notices(&owner);
    assert_eq!(shown.as_array().unwrap().len(), 1, "{shown}");
    assert_eq!(
        (&shown[0]["kind"], &shown[0]["member_name"], &shown[0]["by"]),
        (&json!("recovery"), &json!("The analyst"), &json!("The owner"))
    );
    assert_eq!(notices(&developer), json!([]));
    let invites = owner.get("members").expect(200).json()["invites"].clone();
    let mut marks: Vec<_> = invites
        .as_array()
        .unwrap()
        .iter()
        .map(|invite| (invite["name"].as_str().unwrap(), invite["is_recovery"] == true))
        .collect();
    marks.sort_unstable();
    assert_eq!(marks, [("Bob", false), ("The analyst", true)]);

    let mut back = Browser::new(&signpost);
    back.sign_in(made["invite"].as_str().unwrap());
    assert_eq!(back.get("overview").expect(200).json()["member"]["name"], "The analyst");
    assert_eq!(notices(&owner).as_array().unwrap().len(), 1, "it stays for 7 days");
    let audit = owner.get("audit").expect(200).json();
    let entries = audit["entries"].as_array().unwrap();
    let issued = entries.iter().find(|entry| entry["action"] == "recovery_issued").unwrap();
    assert_eq!(issued["subject_id"], id);
    assert!(issued["actor_id"].is_string() && issued["actor_id"] != id);
}

#[test]
fn members_invite_30_people_an_hour() {
    let signpost = demo();
    let publisher = signpost.publisher("dashboard-rates");
    let owner = signed_in(&signpost, &publisher, "owner");
    let body = json!({ "name": "Bob", "role": "analyst" });
    for _ in 0..30 {
        owner.post("invites", &body).expect(201);
    }
    let refused = owner.post("invites", &body);
    let wait_s: u32 = refused.header("Retry-After").unwrap().parse().unwrap();
    assert!((3_000..=3_601).contains(&wait_s), "{wait_s}");
    refused.expect_error(429, "rate_limit_exceeded");
    publisher.operator("POST", "invites", Some(&body)).expect(201);
}

//! Lists under conditions: their entries, and which conditions are refused.

use serde_json::{Value, json};

use crate::harness::{Signpost, demo};

fn ids(signpost: &Signpost, list: &str, query: &str) -> Vec<String> {
    let page = signpost.operator("GET", &format!("{list}?{query}"), None).expect(200).json();
    assert_eq!(page["cursor"], Value::Null, "{page}");
    let id = format!("{}_id", list.trim_end_matches('s'));
    let items = page[list].as_array().unwrap().iter();
    items.map(|item| item[&id].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_list_has_exactly_the_resources_that_meet_its_conditions() {
    let signpost = demo();
    signpost.publisher("list-waits");
    let body = json!({ "name": "List Löwe", "approved": false });
    signpost.operator("PUT", "publishers/list-waits", Some(&body)).expect(200);
    let wall = signpost.offer_wall("list-offers", "79000195", None);
    wall.put_offer(&json!({ "name": "List of Wishes", "active": false }));

    assert_eq!(ids(&signpost, "offers", "q=LIST%20of"), ["list-offers"]);
    assert_eq!(ids(&signpost, "offers", &format!("q={}", wall.goal("1"))), ["list-offers"]);
    assert_eq!(ids(&signpost, "offers", "advertiser_id=list-offers&state=off"), ["list-offers"]);
    assert_eq!(ids(&signpost, "offers", "advertiser_id=list-offers&state=active"), [""; 0]);
    assert_eq!(ids(&signpost, "advertisers", "q=list-off"), ["list-offers"]);
    assert_eq!(ids(&signpost, "apps", "q=79000195"), ["79000195"]);
    assert_eq!(ids(&signpost, "publishers", "q=L%C3%96WE&approved=false"), ["list-waits"]);
    assert_eq!(ids(&signpost, "publishers", "q=l%C3%B6we&approved=true"), [""; 0]);
}

#[test]
fn pages_under_conditions_follow_each_other_and_none_but_the_last_is_empty() {
    let signpost = demo();
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = signpost.operator("GET", &format!("offers?off_type=CPE&limit=3{cursor}"), None).expect(200).json();
        let offers = page["offers"].as_array().unwrap().clone();
        assert!(offers.iter().all(|offer| offer["off_type"] == "CPE"), "{page}");
        found.extend(offers.iter().map(|offer| offer["offer_id"].clone()));
        let Some(next) = page["cursor"].as_str() else {
            break;
        };
        assert!((1..=3).contains(&offers.len()), "{page}");
        cursor = format!("&cursor={next}");
    }
    assert!(found.len() > 6, "{found:?}");
    let mut sorted = found.clone();
    sorted.sort_by_key(|id| id.as_str().unwrap().to_owned());
    sorted.dedup();
    assert_eq!(found, sorted);
}

#[test]
fn an_invalid_condition_of_a_list_is_refused() {
    let signpost = demo();
    let long = format!("offers?q={}", "x".repeat(201));
    for path in [
        "offers?q=",
        &long,
        "offers?state=on",
        "offers?off_type=cpe",
        "offers?advertiser_id=a.b",
        "apps?publisher_id=",
        "publishers?approved=yes",
        "publishers?sort=revenue",
    ] {
        signpost.operator("GET", path, None).expect_error(400, "invalid_field");
    }
    signpost.operator("GET", "publishers?sort=name&cursor=nobody", None).expect_error(404, "not_found");
}

#[test]
fn only_existing_publishers_have_figures() {
    let signpost = demo();
    let body = json!({ "publisher_ids": ["lumen-arcade", "nobody-at-all"] });
    let figures = signpost.operator("POST", "publisher_figures", Some(&body)).expect(200).json();
    let known: Vec<_> = figures["figures"].as_object().unwrap().keys().collect();
    assert_eq!(known, ["lumen-arcade"]);
}

#[test]
fn an_approval_of_many_that_were_refused_names_their_reason() {
    let signpost = demo();
    let wall = signpost.offer_wall("list-refused", "79000196", None);
    wall.pay("list-user");
    let path = format!("apps/{}/conversions/approve", wall.app);
    let settle = |filter: Value| {
        let body = json!({ "filter": filter, "reason": "checked", "dry_run": true });
        signpost.operator("POST", &path, Some(&body))
    };
    settle(json!({ "status": "refused" })).expect_error(400, "invalid_field");
    let counted = settle(json!({ "status": "refused", "reason": "already_rewarded" })).expect(200);
    assert_eq!(counted.json()["count"], 0);
    settle(json!({ "status": "held" })).expect(200);
}

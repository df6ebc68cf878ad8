//! Isolation of publishers in reports: no other publisher's query and no forged key reads a publisher's facts.

use serde_json::json;

use crate::{
    harness::{Publisher, Signpost, demo, with},
    reports::{csv, query},
};

/// Two publishers with apps of the same name. Each has a fact of its own app and one of an app that neither registered.
fn two_publishers<'s>(signpost: &'s Signpost, ids: [&str; 2], apps: [&str; 3]) -> [Publisher<'s>; 2] {
    let [first_app, second_app, shared] = apps;
    let publishers = ids.map(|id| signpost.publisher(id));
    for (publisher, app, clicks) in [(&publishers[0], first_app, 111), (&publishers[1], second_app, 222)] {
        signpost.put(
            &format!("apps/{app}"),
            &json!({
                "publisher_id": publisher.id, "name": "Twins", "platform": "ios",
                "currency": {"name": "Coins", "per_usd": 1000, "decimals": 0, "rounding": "down"}
            }),
        );
        let facts = csv(&[
            &format!("2026-01-05,{app},,DE,p,t,d,s,0,0,0,{clicks},0"),
            &format!("2026-01-05,{shared},,DE,p,t,d,s,0,0,0,{},0", clicks * 1_000),
        ]);
        publisher.put_facts("2026-01-05", &facts).expect(200);
    }
    publishers
}

#[test]
fn a_report_contains_only_the_publishers_own_facts_whatever_its_filters() {
    let signpost = demo();
    let apps = ["72000001", "72000002", "72000003"];
    let [first, second] = two_publishers(&signpost, ["twin-a", "twin-b"], apps);
    let by_app = query(&["app"], &["clicks"]);
    for (publisher, own, own_clicks) in [(&first, apps[0], 111), (&second, apps[1], 222)] {
        assert_eq!(
            json!(publisher.rows(&by_app)),
            json!([
                {"app_id": apps[2], "app": {"name": "unknown"}, "clicks": own_clicks * 1_000},
                {"app_id": own, "app": {"name": "Twins"}, "clicks": own_clicks},
            ])
        );
    }
    let filtered = |app: &str| json!({"filters": [{"dimension": "app", "values": [app]}]});
    first.report(&with(by_app.clone(), &filtered(apps[1]))).expect(204);
    second.report(&with(by_app.clone(), &filtered(apps[0]))).expect(204);
    // With both apps in the filter, a publisher gets only its own.
    let both = json!({"filters": [{"dimension": "app", "values": [apps[0], apps[1]]}]});
    assert_eq!(
        json!(first.rows(&with(by_app.clone(), &both))),
        json!([{"app_id": apps[0], "app": {"name": "Twins"}, "clicks": 111}])
    );

    // Facts uploaded for another publisher's app belong to the uploader, and do not reveal the app's name.
    let fact = csv(&[&format!("2026-01-06,{},,DE,p,t,d,s,0,0,0,5,0", apps[0])]);
    second.add_facts("another's", &fact).expect(200);
    let of_the_other = with(by_app.clone(), &filtered(apps[0]));
    assert_eq!(
        json!(second.rows(&of_the_other)),
        json!([{"app_id": apps[0], "app": {"name": "unknown"}, "clicks": 5}])
    );
    assert_eq!(json!(first.rows(&of_the_other)), json!([{"app_id": apps[0], "app": {"name": "Twins"}, "clicks": 111}]));
    // An Idempotency-Key used by one publisher is unused for another.
    let answer = first.add_facts("another's", &fact).expect(200).json();
    assert_eq!(answer, json!({"rows": 1, "duplicate": false}));
    assert_eq!(second.days().len(), 2);
}

#[test]
fn a_key_that_was_not_issued_reads_nothing() {
    let signpost = demo();
    let apps = ["72000011", "72000012", "72000013"];
    let [first, second] = two_publishers(&signpost, ["guess-a", "guess-b"], apps);
    let key = first.create_key("own").api_key;
    let other = second.create_key("other").api_key;
    let parts: Vec<&str> = key.split('_').collect();
    let other_parts: Vec<&str> = other.split('_').collect();
    let ["sk", "guess-a", random, mac] = parts[..] else {
        panic!("{key} is not sk_<publisher>_<random>_<mac>");
    };
    let mut guesses = vec![
        // The publisher, the random part or the MAC of another key.
        format!("sk_guess-b_{random}_{mac}"),
        format!("sk_guess-b_{random}_{}", other_parts[3]),
        format!("sk_guess-b_{}_{mac}", other_parts[2]),
        format!("sk_guess-a_{}_{}", other_parts[2], other_parts[3]),
        format!("sk_nobody_{random}_{mac}"),
        format!("sk__{random}_{mac}"),
        format!("sk_guess-a%20_{random}_{mac}"),
        format!("sk_guess-a_{random}"),
        format!("sk_guess-a_{random}_"),
        format!("sk_guess-a_{}_{}", "0".repeat(random.len()), "0".repeat(mac.len())),
        key.to_uppercase(),
        format!("SK_guess-a_{random}_{mac}"),
        format!("sk_Guess-A_{random}_{mac}"),
        format!("sk_guess-a_{}_{mac}", random.to_uppercase()),
        format!("sk_guess-a_{random}_{}", mac.to_uppercase()),
        format!("{key}0"),
        format!("{key}_0"),
        format!("Bearer {key}"),
        format!("{key},{other}"),
        "x".repeat(8_000),
    ];
    guesses.extend((1..key.len()).step_by(7).map(|length| key[..length].to_owned()));
    let body = query(&["app"], &["clicks"]).to_string();
    for guess in guesses {
        // A key whose hex digits have no letters is the same in another case.
        if guess == key {
            continue;
        }
        signpost.report_with(&guess, body.as_bytes()).expect_error(401, "invalid_api_key");
    }
    // The guesses did not count against the key's rate, and it reads only its own publisher.
    let answer = signpost.report_with(&key, body.as_bytes()).expect(200);
    assert!(answer.body.contains(apps[0]) && !answer.body.contains(apps[1]), "{answer:?}");
}

#[test]
fn a_key_can_be_revoked_only_under_its_own_publisher() {
    let signpost = demo();
    let apps = ["72000021", "72000022", "72000023"];
    let [first, second] = two_publishers(&signpost, ["ended-a", "ended-b"], apps);
    let key = first.create_key("own");
    let path = format!("report_keys/{}", key.id);
    second.operator("DELETE", &path, None).expect_error(404, "not_found");
    let listed = second.operator("GET", "report_keys", None).expect(200).body;
    assert!(!listed.contains(&key.id), "{listed}");
    let body = query(&["app"], &["clicks"]).to_string();
    signpost.report_with(&key.api_key, body.as_bytes()).expect(200);
}

//! Isolation of tenants: ids that differ only in case or spelling, foreign cursors, transaction ids, tokens and goals,
//! and information that answers could leak.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    harness::{Answer, demo, encoded, expect_accepted, now_ms, seal},
    reports::{csv, query},
};
use domain::model::{AppId, OfferId, PublisherId};

/// Publisher ids that an operator could choose and that are easy to confuse.
const NEAR: [&str; 8] = ["acme", "Acme", "ACME", "acme-", "-acme", "acme-0", "acme0", "ledger-acme"];

#[test]
fn every_id_has_an_object_of_its_own() {
    let ledgers: BTreeSet<_> = NEAR.map(|id| contract::ledger::object_name(&PublisherId::parse(id).unwrap())).into();
    assert_eq!(ledgers.len(), NEAR.len());
    // The object's name is the prefix and the id, so that no two ids share one.
    for id in NEAR {
        let name = contract::ledger::object_name(&PublisherId::parse(id).unwrap());
        assert_eq!(name.strip_prefix("ledger-"), Some(id));
    }
    let apps = ["00000000", "00000001", "10000000", "01000000", "99999999"];
    let outboxes: BTreeSet<_> = apps
        .into_iter()
        .flat_map(|app| (0..=u8::MAX).map(move |number| (AppId::parse(app).unwrap(), number)))
        .map(|(app, number)| contract::outbox::OutboxShard { app, number }.object_name())
        .collect();
    assert_eq!(outboxes.len(), apps.len() * 256);
    // Offers share 64 counters objects, and clicks share 256. The objects separate them by key.
    let shards: BTreeSet<_> =
        (0..2_000).map(|n| contract::counters::object_name(&OfferId::parse(&n.to_string()).unwrap())).collect();
    assert_eq!(shards.len(), 64);
    let shards: BTreeSet<_> =
        (0..5_000_u32).map(|n| contract::clicks::object_name(&[&n.to_be_bytes()[..], &[7; 8]].concat())).collect();
    assert_eq!(shards.len(), 256);
    // Ambiguous spellings of ids are refused.
    for text in ["acme_x", "acme/x", "acme x", "acme%2d", "acm\u{e9}", "\u{430}cme", "acme\u{0}", "\u{ff41}cme", ""] {
        assert!(PublisherId::parse(text).is_none(), "{text}");
    }
    for text in ["1000000", "0x000001", "+1000000", "1000000\u{661}", "\u{ff11}0000000", "10000000 "] {
        assert!(AppId::parse(text).is_none(), "{text}");
    }
}

#[test]
fn publishers_with_ids_that_differ_only_in_case_share_nothing() {
    let signpost = demo();
    let ids = ["trust-case", "Trust-Case"];
    let publishers = ids.map(|id| signpost.publisher(id));
    for (publisher, clicks) in publishers.iter().zip([11, 22]) {
        let fact = csv(&[&format!("2026-01-05,78060401,,DE,p,t,d,s,0,0,0,{clicks},0")]);
        publisher.put_facts("2026-01-05", &fact).expect(200);
    }
    let keys = publishers.each_ref().map(|publisher| publisher.create_key("a"));
    let ask = |key: &str| signpost.report_with(key, query(&["date"], &["clicks"]).to_string().as_bytes());
    // A key with the other publisher's id in it.
    ask(&keys[0].api_key.replace(ids[0], ids[1])).expect_error(401, "invalid_api_key");
    ask(&keys[1].api_key.replace(ids[1], ids[0])).expect_error(401, "invalid_api_key");
    // Revocation under the other's id, and under other spellings of its own.
    for id in [ids[1], "TRUST-CASE", "%74rust-case", "trust%2Dcase"] {
        let path = format!("publishers/{id}/report_keys/{}", keys[0].id);
        signpost.operator("DELETE", &path, None).expect_error(404, "not_found");
    }
    let path = format!("publishers/{}/report_keys/{}", ids[0], keys[0].id.to_uppercase());
    if keys[0].id != keys[0].id.to_uppercase() {
        signpost.operator("DELETE", &path, None).expect_error(404, "not_found");
    }
    for (key, clicks) in keys.iter().zip([11, 22]) {
        let rows = ask(&key.api_key).expect(200).json();
        assert_eq!(rows["rows"], json!([{"date": "2026-01-05", "clicks": clicks}]));
    }

    // The same for apps and Pub-Keys.
    let walls = [("Trust-Wall", "78060402"), ("trust-wall", "78060403")]
        .map(|(id, app)| signpost.unpublished_offer_wall(id, app, None));
    let keys = walls.each_ref().map(|wall| signpost.issue_pub_key(&wall.id));
    signpost.refresh();
    let offers = |app: &str, key: &str| signpost.offers(app, key, &json!({"page": 1, "size": 1}));
    offers(&walls[0].app, &keys[1]).expect_error(401, "invalid_credentials");
    offers(&walls[1].app, &keys[0]).expect_error(401, "invalid_credentials");
    // The same for advertisers, offers and goals.
    let [upper, lower] = &walls;
    let query = format!("click_id={}&token={}", upper.click_id("u-1"), lower.token);
    signpost.convert(&query).expect_error(401, "invalid_token");
    // In the other's letters a goal is the offer's own.
    let id = expect_accepted(
        upper.convert(&upper.click_id("u-1"), &format!("&goal={}", lower.goal("2"))),
        "approved",
        false,
    );
    assert_eq!(upper.entry(&id)["goal_id"], upper.goal("2"));
    assert_eq!(lower.entries("").len(), 0);
    // Other spellings of an id are unknown, and refused in a PUT.
    for id in ["%54rust-Wall", "Trust-Wall%00", "Tru\u{17f}t-Wall"] {
        let answer = signpost.operator("GET", &format!("publishers/{}", id.replace('\u{17f}', "%C5%BF")), None);
        answer.expect_error(404, "not_found");
        let put = signpost.operator(
            "PUT",
            &format!("publishers/{}", id.replace('\u{17f}', "%C5%BF")),
            Some(&json!({"name": "x", "approved": true})),
        );
        put.expect_error(400, "invalid_field");
    }
}

#[test]
fn a_cursor_of_one_list_reveals_nothing_of_another() {
    let signpost = demo();
    let (rich, poor) = (
        signpost.unpublished_offer_wall("trust-rich", "78060411", None),
        signpost.unpublished_offer_wall("trust-poor", "78060412", None),
    );
    for n in 0..4 {
        rich.pay(&format!("rich-{n}"));
    }
    poor.pay("poor-0");
    let page = rich.operator("GET", "conversions?limit=1", None).expect(200).json();
    let cursor = page["cursor"].as_str().expect("a cursor").to_owned();
    // With any cursor, an app's log has only its own entries.
    for cursor in [cursor.as_str(), "1", "2", "4503599627370495", "99"] {
        let page = poor.operator("GET", &format!("conversions?cursor={cursor}"), None);
        let page = page.expect(200).json();
        for entry in page["conversions"].as_array().unwrap() {
            assert_eq!(entry["user_id"], "poor-0", "{page}");
        }
    }
    for cursor in ["-1", "0", "9007199254740993", "1e3", "1 OR 1=1", "'; DROP TABLE entries", "\u{661}", "0x1"] {
        let path = format!("conversions?cursor={}", encoded(cursor));
        poor.operator("GET", &path, None).expect_error(400, "invalid_field");
    }
    // Days of facts.
    let [many, one] = ["trust-days-a", "trust-days-b"].map(|id| signpost.publisher(id));
    for day in ["2026-01-05", "2026-01-06", "2026-01-07"] {
        many.put_facts(day, &csv(&[&format!("{day},78060413,,DE,p,t,d,s,1,1,1,9,0.5")])).expect(200);
    }
    one.put_facts("2026-01-02", &csv(&["2026-01-02,78060414,,DE,p,t,d,s,1,1,1,4,0.5"])).expect(200);
    let page = many.operator("GET", "facts?limit=1", None).expect(200).json();
    let cursor = page["cursor"].as_str().expect("a cursor");
    let page = one.operator("GET", &format!("facts?cursor={cursor}"), None).expect(200).json();
    let days: Vec<_> = page["days"].as_array().unwrap().iter().map(|day| day["loaded"]["clicks"].clone()).collect();
    assert_eq!(days, [json!(4)], "{page}");
}

/// The parts of an answer that a client sees.
fn parts(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    (answer.status, answer.headers(), answer.body.clone())
}

#[test]
fn an_advertiser_can_read_and_change_nothing_of_another_on_the_same_app() {
    let signpost = demo();
    let own = signpost.unpublished_offer_wall("trust-adv-a", "78060421", None);
    let other = signpost.unpublished_offer_wall("trust-adv-b", "78060422", None);
    signpost.refresh();
    let keys = crate::clicks::keys();
    // Clicks of both advertisers' offers on one app.
    let click_of_other = |user: &str| {
        let mut click = own.click(user, now_ms());
        click.offer = other.id.as_str().into();
        click.goal = other.goal("1").into();
        click.offer_terms = other.click(user, now_ms()).offer_terms;
        seal(&keys, &click)
    };
    // A `txn` belongs to its advertiser, and reveals nothing about another's.
    expect_accepted(own.convert(&own.click_id("u-1"), "&txn=order-1"), "approved", false);
    let theirs = click_of_other("u-2");
    expect_accepted(other.convert(&theirs, "&txn=order-1"), "approved", false);
    own.convert(&own.click_id("u-3"), "&txn=order-1").expect_error(409, "duplicate_txn");
    // Answers do not reveal whether another's click was paid, its goals' names or its `txn` values.
    let mut answers = Vec::new();
    for click in [theirs.clone(), click_of_other("u-4")] {
        for more in
            ["", "&goal=level_10", "&goal=gone", "&txn=order-1", "&txn=order-2", "&status=reversed", "&status=rejected"]
        {
            answers.push(own.convert(&click, more));
        }
    }
    for answer in &answers {
        assert_eq!(parts(answer), parts(&answers[0]), "{answer:?}");
    }
    answers.remove(0).expect_error(401, "invalid_token");
    // The transaction id of another's reward is useless in a postback.
    let logged = own.entries("");
    let id = logged.iter().find(|entry| entry["user_id"] == "u-2").expect("their reward")["transaction_id"].clone();
    let id = id.as_str().unwrap();
    assert_eq!(own.entry(id)["status"], "approved", "nothing was taken back");
    let as_click = format!("transaction_id={id}&token={}", own.token);
    signpost.convert(&as_click).expect_error(400, "invalid_click_id");
    // A goal of the other's offer, named on one's own click.
    for goal in [other.goal("1"), other.goal("3"), other.id.clone()] {
        own.convert(&own.click_id("u-5"), &format!("&goal={goal}")).expect_error(400, "unknown_goal");
    }
}

#[test]
fn an_app_cannot_change_its_publisher_and_a_blocked_offer_looks_unknown() {
    let signpost = demo();
    let own = signpost.unpublished_offer_wall("trust-pub-a", "78060431", None);
    let other = signpost.unpublished_offer_wall("trust-pub-b", "78060432", None);
    own.try_put_app(&json!({"publisher_id": other.id})).expect_error(400, "invalid_field");
    let line = |kind: &str, id: &str, document: &Value| {
        let mut line = document.clone();
        line["kind"] = json!(kind);
        line["id"] = json!(id);
        line.to_string()
    };
    let app = signpost.operator("GET", &format!("apps/{}", own.app), None).expect(200).json();
    let mut moved = app.clone();
    moved["publisher_id"] = json!(other.id);
    moved.as_object_mut().unwrap().remove("app_id");
    signpost.import(&line("app", &own.app, &moved)).expect_error(400, "invalid_import");
    assert_eq!(signpost.operator("GET", &format!("apps/{}", own.app), None).expect(200).json(), app);
    // An offer cannot take another's goal. The error names its owner, since only the operator reads it.
    let stolen = json!([{"id": other.goal("1"), "ttl": "t", "instr": "i", "payout_usd": 1, "ord": 1}]);
    let offer = json!({
        "advertiser_id": own.id, "off_type": "CPI", "s_id": "x", "name": "x", "lp_url": "https://adv.example/", "desc": "x",
        "ic_url": "https://adv.example/i.png", "ctg": ["GAMING"], "os": "web", "active": true, "goals": stolen,
        "geo_tgt": {"include": [], "exclude": []}
    });
    let answer = signpost.operator("PUT", &format!("offers/{}", own.id), Some(&offer));
    let text = answer.expect_error(400, "invalid_field").json()["error"].to_string();
    assert!(text.contains("goals[0].id") && text.contains(&other.id), "{text}");

    // For an app, an offer that it blocks looks like an unknown one, also when filtered by id.
    own.put_app(&json!({"blocked_offers": [other.id]}));
    let key = signpost.issue_pub_key(&own.id);
    signpost.refresh();
    let listed = |id: &str| {
        let filter = json!([{"dim": "offer_id", "match": {"type": "exact", "value": [id]}}]);
        let body = json!({"page": 1, "size": 10, "filt": filter});
        signpost.offers(&own.app, &key, &body).expect(200)
    };
    let (blocked, unknown) = (listed(&other.id), listed("no-such-offer"));
    assert_eq!((blocked.body.as_str(), blocked.header("ETag")), (unknown.body.as_str(), unknown.header("ETag")));
    assert_eq!(blocked.json(), json!({"offers": [], "total": 0}));
    assert_eq!(listed(&own.id).json()["total"], 1);
}

#[test]
fn facts_and_reports_of_one_publisher_show_in_no_header_of_another() {
    let signpost = demo();
    let [own, other] = ["trust-headers-a", "trust-headers-b"].map(|id| signpost.publisher(id));
    for publisher in [&own, &other] {
        let fact = csv(&["2026-01-05,78060441,,DE,p,t,d,s,1,1,1,7,0.5"]);
        publisher.put_facts("2026-01-05", &fact).expect(200);
    }
    let report_query = query(&["app"], &["clicks"]);
    let comparable = |answer: &Answer| {
        let headers: Vec<_> = answer.headers().into_iter().filter(|(name, _)| name != "ratelimit").collect();
        (answer.status, headers, answer.body.clone())
    };
    let before = own.report(&report_query).expect(200);
    assert!(before.header("X-Data-Through").is_some() && before.header("X-Total-Count") == Some("1"), "{before:?}");
    // The other publisher has more apps, later days and other names, and a key beyond its rate.
    let rows = csv(&[
        "2026-03-01,78060441,Their name,DE,p,t,d,s,1,1,1,5,0.5",
        "2026-03-01,78060442,Another,FR,p,t,d,s,1,1,1,5,0.5",
    ]);
    other.put_facts("2026-03-01", &rows).expect(200);
    let key = other.create_key("busy").api_key;
    let theirs = [(); 2].map(|()| signpost.report_with(&key, report_query.to_string().as_bytes()));
    assert_eq!(theirs[0].status, 200, "{:?}", theirs[0]);
    assert_eq!(theirs[0].header("X-Total-Count"), Some("2"));
    assert_ne!(theirs[0].header("X-Data-Through"), before.header("X-Data-Through"));

    let after = own.report(&report_query).expect(200);
    assert_eq!(comparable(&after), comparable(&before));
    // A key is refused before the query is checked, and the error names no publisher.
    let headers = [("X-Api-Key", "sk_trust-headers-a_0_0"), ("Content-Type", "application/json")];
    let answer = signpost.report(&headers, b"{}").expect_error(401, "invalid_api_key");
    assert!(!answer.body.contains("trust-headers"), "{answer:?}");
}

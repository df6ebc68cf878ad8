//! Documents of the operator: validation, goals, update times, imports, callback secrets and fallback URLs.

use serde_json::{Value, json};

use super::{app, goal, offer, small};

#[test]
fn an_invalid_document_is_refused_and_its_field_is_named() {
    let signpost = small();
    let good = offer(&json!([goal("g-1", 1.0)]));
    let with = |member: &str, value: Value| {
        let mut changed = good.clone();
        changed[member] = value;
        changed
    };
    let cases = [
        (with("advertiser_id", json!("nobody")), "invalid_field", "advertiser_id"),
        (with("off_type", json!("CPX")), "invalid_field", "off_type"),
        (with("colour", json!("red")), "unknown_field", "colour"),
        (with("active", json!("yes")), "invalid_field", "active"),
        (with("goals", json!([])), "invalid_field", "goals"),
        (with("goals", json!([goal("g-1", 1.0), goal("g-1", 1.0)])), "invalid_field", "goals[1].id"),
        (with("goals", json!([goal("g-1", 0.000_000_1)])), "invalid_field", "goals[0].payout_usd"),
        (with("goals", json!([goal("g-1", -1.0)])), "invalid_field", "goals[0].payout_usd"),
        (with("geo_tgt", json!({"include": ["UK"], "exclude": []})), "invalid_field", "geo_tgt.include[0]"),
        (with("target_url", json!("https://{user_id}.example.com/")), "invalid_field", "target_url"),
        (with("target_url", json!("https://example.com/?x={nonsense}")), "invalid_field", "target_url"),
        (with("lp_url", json!("javascript:alert(1)")), "invalid_field", "lp_url"),
        (with("starts_at", json!(1_u64 << 60)), "invalid_field", "starts_at"),
        (with("ends_at", json!(-1)), "invalid_field", "ends_at"),
        (with("click_cap", json!({"dur": "DAILY", "lim": 4_294_967_295_u32})), "invalid_field", "click_cap.lim"),
        (with("name", json!("a\u{0}b")), "invalid_field", "name"),
        (with("ic_url", json!("https://x.example/\nSet-Cookie: a=b")), "invalid_field", "ic_url"),
        (with("click_id_max", json!(49)), "invalid_field", "click_id_max"),
        (with("click_cap", json!({"dur": "WEEKLY", "lim": 1})), "invalid_field", "click_cap.dur"),
        (with("conversion_window_days", json!(91)), "invalid_field", "conversion_window_days"),
    ];
    for (body, code, field) in cases {
        let answer = signpost.operator("PUT", "offers/o-1", Some(&body)).expect_error(400, code);
        assert!(answer.json()["error"].as_str().unwrap().contains(field), "{field}: {answer:?}");
    }
    let mut missing = good.clone();
    missing.as_object_mut().unwrap().remove("name");
    signpost.operator("PUT", "offers/o-1", Some(&missing)).expect_error(400, "missing_field");
    signpost.operator("GET", "offers/o-1", None).expect_error(404, "not_found");
    for array in [json!(["Acme", true]), json!([])] {
        signpost.operator("PUT", "publishers/beta", Some(&array)).expect_error(400, "invalid_json");
    }
    signpost.operator("PUT", "offers/o_1", Some(&good)).expect_error(400, "invalid_field");
    signpost.operator("PUT", "apps/1234567", Some(&app("acme"))).expect_error(400, "invalid_field");
    signpost.operator("PUT", "apps/10000001", Some(&app("nobody"))).expect_error(400, "invalid_field");
}

#[test]
fn a_goal_stays_with_its_offer_and_is_retired_when_it_is_left_out() {
    let signpost = small();
    signpost.put("offers/o-1", &offer(&json!([goal("g-1", 1.0), goal("g-2", 2.0)])));
    let taken = signpost.operator("PUT", "offers/o-2", Some(&offer(&json!([goal("g-2", 1.0)]))));
    let taken = taken.expect_error(400, "invalid_field");
    assert!(
        taken.body.contains("goals[0].id") && taken.body.contains("g-2") && taken.body.contains("o-1"),
        "{taken:?}"
    );

    signpost.put("offers/o-1", &offer(&json!([goal("g-1", 1.0)])));
    let read = signpost.operator("GET", "offers/o-1", None).expect(200).json();
    assert_eq!(read["retired_goals"], json!(["g-2"]));
    signpost.operator("PUT", "offers/o-2", Some(&offer(&json!([goal("g-2", 1.0)])))).expect_error(400, "invalid_field");
    signpost.put("offers/o-1", &offer(&json!([goal("g-1", 1.0), goal("g-2", 3.0)])));
    assert_eq!(signpost.operator("GET", "offers/o-1", None).expect(200).json()["retired_goals"], Value::Null);
}

#[test]
fn a_repeated_put_does_not_move_the_offers_update_time() {
    let signpost = small();
    let body = offer(&json!([goal("g-1", 1.0)]));
    let first = signpost.put("offers/o-1", &body).json()["updated_at"].as_i64().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    assert_eq!(signpost.put("offers/o-1", &body).json()["updated_at"], first);
    let changed = signpost.put("offers/o-1", &offer(&json!([goal("g-1", 1.5)])));
    assert!(changed.json()["updated_at"].as_i64().unwrap() > first);
}

#[test]
fn an_import_is_all_or_nothing() {
    let signpost = small();
    let line = |kind: &str, id: &str, mut body: Value| {
        body["kind"] = json!(kind);
        body["id"] = json!(id);
        body.to_string() + "\n"
    };
    // A line may refer to a later one.
    let good = line("offer", "o-1", offer(&json!([goal("g-1", 1.0)])))
        + "\n"
        + &line("app", "10000001", app("beta"))
        + &line("publisher", "beta", json!({"name": "Beta", "approved": true}));
    assert_eq!(signpost.import(&good).expect(200).json(), json!({"imported": 3}));
    signpost.operator("GET", "apps/10000001", None).expect(200);

    let bad = line("publisher", "gamma", json!({"name": "Gamma", "approved": true}))
        + "not json\n"
        + &line("offer", "o-2", offer(&json!([])))
        + &line("planet", "x", json!({}));
    let answer = signpost.import(&bad).expect_error(400, "invalid_import").json();
    let lines: Vec<_> = answer["lines"].as_array().unwrap().iter().map(|line| line["line"].as_i64().unwrap()).collect();
    assert_eq!(lines, [2, 3, 4]);
    assert!(answer["lines"][1]["message"].as_str().unwrap().contains("goals"), "{answer}");

    // Every line is valid by itself, but one refers to an unknown publisher.
    let dangling = line("publisher", "gamma", json!({"name": "Gamma", "approved": true}))
        + &line("app", "10000002", app("nobody"));
    let answer = signpost.import(&dangling).expect_error(400, "invalid_import").json();
    assert_eq!(answer["lines"][0]["line"], 2);
    signpost.operator("GET", "publishers/gamma", None).expect_error(404, "not_found");
    assert_eq!(signpost.import("").expect(200).json(), json!({"imported": 0}));
}

#[test]
fn callback_secrets_are_accepted_and_never_shown() {
    let signpost = small();
    let mut body = app("acme");
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    body["callback"] = json!({"url": "https://acme.example.com/cb", "method": "GET", "secret": secret});
    let shown = signpost.put("apps/10000001", &body);
    assert!(!shown.body.contains("MfKQ9r8"), "{shown:?}");
    assert_eq!(shown.json()["callback"]["url"], "https://acme.example.com/cb");
    // The mask keeps a stored secret, and is refused where none is stored.
    body["callback"]["secret"] = shown.json()["callback"]["secret"].clone();
    signpost.put("apps/10000001", &body);
    signpost.operator("PUT", "apps/10000002", Some(&body)).expect_error(400, "invalid_field");
}

#[test]
fn a_fallback_url_is_encoded_for_the_location_header() {
    let signpost = small();
    let mut body = app("acme");
    body["fallback_url"] = json!("https://x.example/\nSet-Cookie: a=b");
    signpost.operator("PUT", "apps/10000001", Some(&body)).expect_error(400, "invalid_field");
    body["fallback_url"] = json!("https://例え.example/日本");
    signpost.put("apps/10000001", &body);
    let mut paused = offer(&json!([goal("g-1", 1.0)]));
    paused["active"] = json!(false);
    signpost.put("offers/o-1", &paused);
    signpost.refresh();
    let answer = signpost.click("rid=g-1&app=10000001&user_id=u", "DE").expect(302);
    assert_eq!(answer.location(), "https://xn--r8jz45g.example/%E6%97%A5%E6%9C%AC", "{answer:?}");
}

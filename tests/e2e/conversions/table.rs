//! The table of states over HTTP: every event in every state (docs/DECISIONS.md, "Conversions"); and the operator's
//! actions and lists.

use serde_json::json;

use crate::harness::{Answer, OfferWall, Receiver, demo, eventually, expect_accepted, now_ms, states};
use domain::model::time::DAY_MS;

const EVENTS: [&str; 7] = ["approved", "pending", "rejected", "reversed", "approve", "reject", "reverse"];

/// A conversion of a test: its click, and its transaction id once it is known.
struct Case {
    click: String,
    id: Option<String>,
}

impl Case {
    /// A click of yesterday, or of now, which is too fast.
    fn new(wall: &OfferWall<'_>, user: &str, is_fast: bool) -> Self {
        let clicked_at_ms = if is_fast { now_ms() } else { now_ms() - DAY_MS };
        let click = wall.click_id_at(user, clicked_at_ms);
        Self { click, id: None }
    }

    fn send(&mut self, wall: &OfferWall<'_>, event: &str, more: &str) -> Answer {
        if EVENTS[..4].contains(&event) {
            return wall.convert(&self.click, &format!("&status={event}{more}"));
        }
        // The id of no conversion, of the first outbox.
        let unknown = "00000000-0000-8000-8000-000000000000";
        let id = self.id.as_deref().unwrap_or(unknown);
        settle(wall, id, event, &json!({"reason": "by hand"}))
    }
}

fn settle(wall: &OfferWall<'_>, id: &str, action: &str, body: &serde_json::Value) -> Answer {
    wall.operator("POST", &format!("conversions/{id}/{action}"), Some(body))
}

/// A conversion in a state.
fn in_state(wall: &OfferWall<'_>, state: &str, user: &str) -> Case {
    let mut case = Case::new(wall, user, state == "held");
    let mut expect = |event: &str, status: &str| {
        let answer = case.send(wall, event, "");
        case.id = Some(expect_accepted(answer, status, false));
    };
    match state {
        "none" => {}
        "refused" => {
            let taken = format!("&txn={user}");
            Case::new(wall, &format!("{user}-other"), false).send(wall, "approved", &taken).expect(200);
            case.send(wall, "approved", &taken).expect_error(409, "duplicate_txn");
            let refused = wall.entries("status=refused&reason=duplicate_txn&limit=1000");
            let own = refused.iter().find(|entry| entry["user_id"] == user).unwrap();
            case.id = own["transaction_id"].as_str().map(str::to_owned);
        }
        "held" => expect("approved", "pending"),
        "reversed" => {
            expect("approved", "approved");
            expect("reversed", "reversed");
        }
        "tombstone" => expect("reversed", "reversed"),
        status => expect(status, status),
    }
    case
}

#[test]
fn every_event_in_every_state_is_answered_as_the_table_says() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-table", "79000116", None);
    wall.put_offer(&json!({"min_seconds_to_convert": 3_600}));
    signpost.refresh();
    // The answer of a cell: a status of the first time, `same` for a repeat, or the code of a refusal.
    let table = [
        ("none", "approved pending rejected reversed not_found not_found not_found"),
        ("refused", "approved pending rejected reversed approved rejected wrong_state"),
        ("pending", "approved same rejected rejected approved rejected wrong_state"),
        ("held", "same same rejected rejected approved rejected wrong_state"),
        ("approved", "same same reversed reversed same wrong_state reversed"),
        ("rejected", "same same same same wrong_state same wrong_state"),
        ("reversed", "same same same same wrong_state wrong_state same"),
        ("tombstone", "same same same same wrong_state wrong_state wrong_state"),
    ];
    for (state, cells) in table {
        for (event, expected) in EVENTS.into_iter().zip(cells.split(' ')) {
            let user = format!("{state}-{event}");
            let mut case = in_state(&wall, state, &user);
            let answer = case.send(&wall, event, "");
            match expected {
                "not_found" => drop(answer.expect_error(404, "not_found")),
                "wrong_state" => drop(answer.expect_error(409, "wrong_state")),
                "same" => {
                    let told = match state {
                        "held" => "pending",
                        "tombstone" => "reversed",
                        state => state,
                    };
                    assert_eq!(case.id, Some(expect_accepted(answer, told, true)), "{user}");
                }
                status => {
                    let id = expect_accepted(answer, status, false);
                    assert!(case.id.is_none_or(|known| known == id), "{user}");
                    assert_eq!(states(&wall.entry(&id)).0, status, "{user}");
                }
            }
        }
    }
}

#[test]
fn the_operator_settles_what_is_held_or_was_refused_with_a_reason() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("conv-settle", "79000117", Some(&receiver));
    wall.put_offer(&json!({"min_seconds_to_convert": 3_600, "once_per": "user",
        "conversion_cap": {"dur": "DAILY", "lim": 1}}));
    wall.put_app(&json!({"max_rewards_per_user_day": 1,
        "callback": crate::harness::callback(&format!("{}/cb", receiver.base()), "GET")}));
    signpost.refresh();
    let yesterday = |user: &str| wall.click_id_at(user, now_ms() - DAY_MS);
    let approved = expect_accepted(wall.convert(&yesterday("ann"), "&goal=purchase"), "approved", false);
    // One is too fast, and one more for the same user is too many on a day.
    let fast = expect_accepted(wall.convert(&wall.click_id("bob"), ""), "pending", false);
    let many = expect_accepted(wall.convert(&yesterday("ann"), ""), "pending", false);
    wall.convert(&yesterday("cid"), "").expect_error(409, "conversion_capped");
    let listed = |query: &str| {
        let entries = wall.entries(query);
        let ids = entries.iter().map(|entry| entry["transaction_id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(listed("status=held&reason=too_fast"), std::slice::from_ref(&fast));
    assert_eq!(listed("status=held&reason=too_many_today"), std::slice::from_ref(&many));
    let capped = listed("reason=conversion_capped").pop().unwrap();
    assert_eq!(wall.entry(&capped)["code"], "conversion_capped");

    // Both that are held are paid although the cap is spent, and their publisher is told why.
    for (id, reason) in [(&fast, "a real player"), (&many, "a birthday")] {
        for repeat in [false, true] {
            let answer = settle(&wall, id, "approve", &json!({ "reason": reason }));
            assert_eq!(expect_accepted(answer, "approved", repeat), **id);
        }
        eventually(&"delivered".to_owned(), || wall.state(id));
        let told = receiver
            .received()
            .into_iter()
            .find(|callback| callback.parameter("transaction_id").as_ref() == Some(id))
            .unwrap();
        assert_eq!(told.parameter("reason").as_deref(), Some(reason));
        assert_eq!(wall.entry(id)["reason"], reason);
    }
    // To approve a conversion, the operator must name every reason against it other than the one it is held for.
    wall.convert(&yesterday("cid"), "&goal=purchase&status=pending").expect(200);
    let second = listed("status=pending").pop().unwrap();
    settle(&wall, &capped, "approve", &json!({"reason": "late"})).expect(200);
    let refused = settle(&wall, &second, "approve", &json!({"reason": "late"}));
    refused.expect_error(409, "too_many_today");
    let despite = json!({"reason": "late", "despite": ["too_many_today"]});
    settle(&wall, &second, "approve", &despite).expect(200);
    // Taken back by the operator.
    let reversed = settle(&wall, &approved, "reverse", &json!({"reason": "fraud"}));
    assert_eq!(expect_accepted(reversed, "reversed", false), approved);

    for (body, field) in [
        (json!({}), "reason"),
        (json!({"reason": ""}), "reason"),
        (json!({"reason": "é".repeat(201)}), "reason"),
        (json!({"reason": "a\nb"}), "reason"),
        (json!({"reason": "a", "despite": ["capped"]}), "capped"),
        (json!({"reason": "a", "more": 1}), "more"),
    ] {
        let refused = settle(&wall, &approved, "approve", &body);
        assert_eq!(refused.status, 400, "{body} {refused:?}");
        assert!(refused.json()["error"].as_str().unwrap().contains(field), "{refused:?}");
    }
}

#[test]
fn of_24_clicks_at_once_one_is_paid_and_after_a_reversal_another() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-once", "79000118", None);
    wall.put_offer(&json!({"once_per": "user"}));
    signpost.refresh();
    let clicks: Vec<_> = (0..25).map(|_| wall.click_id("ann")).collect();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let sent: Vec<_> = clicks[..24].iter().map(|click| scope.spawn(|| wall.convert(click, ""))).collect();
        sent.into_iter().map(|answer| answer.join().unwrap()).collect()
    });
    let (paid, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!((paid.len(), refused.len()), (1, 23));
    for answer in refused {
        answer.expect_error(409, "already_rewarded");
    }
    assert_eq!(wall.entries("reason=already_rewarded&limit=100").len(), 23);
    let id = paid[0].json()["transaction_id"].as_str().unwrap().to_owned();
    // The user's erasure does not give the goal back, and a reversal does.
    wall.erase("ann");
    wall.convert(&clicks[24], "").expect_error(409, "already_rewarded");
    let of_paid = clicks[..24].iter().find(|click| wall.convert(click, "").status == 200).unwrap();
    assert_eq!(expect_accepted(wall.convert(of_paid, "&status=reversed"), "reversed", false), id);
    expect_accepted(wall.convert(&clicks[24], ""), "approved", false);
}

#[test]
fn many_conversions_are_settled_at_once_after_they_were_counted() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-many", "79000119", None);
    wall.put_offer(&json!({"min_seconds_to_convert": 3_600}));
    signpost.refresh();
    for user in wall.users().iter().chain(&["more".to_owned()]) {
        wall.convert(&wall.click_id(user), "").expect(200);
    }
    let settle =
        |action: &str, body: serde_json::Value| wall.operator("POST", &format!("conversions/{action}"), Some(&body));
    let filter = json!({"status": "held", "reason": "too_fast"});
    let missing = settle("approve", json!({"filter": filter, "reason": "r"}));
    let missing = missing.expect_error(400, "invalid_field").json();
    assert!(missing["error"].as_str().unwrap().starts_with("filter.until: "), "{missing}");
    let counted = settle("approve", json!({"filter": filter, "reason": "r", "dry_run": true})).expect(200).json();
    assert_eq!(counted["count"], 9);
    let held = wall.entries("status=held");
    assert_eq!(held.len(), 9);
    let promised = held.iter().map(|entry| entry["promised_payout"].as_f64());
    assert_eq!(promised.sum::<Option<f64>>(), counted["payout"].as_f64());
    // Later conversions are left alone.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let late = wall.convert(&wall.click_id("late"), "").expect(200).json();
    let mut filter = filter;
    filter["until"] = counted["until"].clone();
    let settled = settle("approve", json!({"filter": filter, "reason": "all are real"})).expect(200).json();
    assert_eq!(
        settled,
        json!({
            "count": 9, "payout": counted["payout"], "settled": 9, "settled_payout": counted["payout"], "refused": {},
            "until": filter["until"], "next": null,
        })
    );
    let approved = wall.entries("status=approved&reason=all%20are%20real");
    assert_eq!(approved.len(), 9);
    assert!(approved[0]["promised_payout"].is_null());
    let payouts = approved.iter().map(|entry| entry["payout"].as_f64());
    assert_eq!(payouts.sum::<Option<f64>>(), counted["payout"].as_f64());
    assert_eq!(wall.entries("status=held")[0]["transaction_id"], late["transaction_id"]);
}

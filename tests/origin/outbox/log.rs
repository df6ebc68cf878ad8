//! The log as the operator reads it: what an entry says in each of its states, and the list, page by page.

use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::json as j;

use super::*;

const STATUSES: [&str; 5] = ["approved", "pending", "rejected", "reversed", "refused"];
const STATES: [&str; 5] = ["waiting", "delivered", "dead", "no_endpoint", "refused"];
const NOW_S: i64 = NOW / SECOND_MS;

/// What every entry of click 1 says, with these members more or instead.
fn click_1(members: Json) -> Json {
    let mut entry = j!({
        "transaction_id": reward_id(1), "user_id": "user-1", "offer_id": "o-1", "goal_id": "g-1",
        "click_ts": NOW_S - 86_400, "conversion_ts": NOW_S, "attempts": [],
    });
    entry
        .as_object_mut()
        .unwrap()
        .extend(members.as_object().unwrap().clone());
    entry
}

#[test]
fn what_is_not_paid_has_neither_amounts_nor_a_callback() {
    let cases = [
        (Status::Pending, "pending"),
        (Status::Rejected, "rejected"),
        (Status::Reversed, "reversed"),
    ];
    for (status, shown) in cases {
        let (db, world) = (outbox(), World::new());
        convert(&db, &world, &conversion(1).says(status)).unwrap();
        assert_eq!(entries(&db), [click_1(j!({ "status": shown, "state": null }))]);
    }
}

#[test]
fn a_refused_conversion_says_why() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(2).txn("t")).unwrap();
    convert(&db, &world, &conversion(1).txn("t")).unwrap_err();
    let refused = |refusal: &str| {
        let members = j!({ "status": "refused", "state": "refused", "refusal": refusal, "txn": "t" });
        click_1(members)
    };
    assert_eq!(entry(&db, &reward_id(1)), refused("duplicate_txn"));
    let (db, world) = (outbox(), World::capped(0));
    convert(&db, &world, &conversion(1).txn("t")).unwrap_err();
    assert_eq!(entry(&db, &reward_id(1)), refused("conversion_capped"));
    let (db, world) = (outbox(), World::new());
    world.change(|offer| offer.conversion_window_days = 0);
    convert(&db, &world, &conversion(1).txn("t")).unwrap_err();
    assert_eq!(entry(&db, &reward_id(1)), refused("conversion_window_closed"));
}

#[test]
fn a_reward_says_how_its_callback_stands() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1).txn("t")).unwrap();
    let paid = |members: Json| {
        let mut entry = click_1(j!({ "status": "approved", "txn": "t", "payout": 0.75, "value": 75 }));
        entry
            .as_object_mut()
            .unwrap()
            .extend(members.as_object().unwrap().clone());
        entry
    };
    let shown = || entry(&db, &reward_id(1));
    assert_eq!(shown(), paid(j!({ "state": "waiting", "next_try_ts": NOW_S })));
    learn(&db, NOW, &settings(2, false));
    assert_eq!(shown(), paid(j!({ "state": "no_endpoint" })));
    learn(&db, NOW, &settings(3, true));

    let tried = claim(&db, NOW + 1_500).remove(0);
    let unanswered = Attempt {
        at_ms: NOW + 1_500,
        took_ms: 10_000,
        http_status: None,
        body: String::new(),
        error: Some("no whole answer within 10000 ms".into()),
    };
    let failed = judge(&Schedule::default(), 1, &Outcome::Failed, NOW + 11_500, u32::MAX);
    sent::conclude(&db, NOW + 11_500, &tried, &unanswered, &failed).unwrap();
    let first = j!({
        "at": NOW_S + 1, "ms": 10_000, "http_status": null, "body": "", "error": "no whole answer within 10000 ms",
    });
    let waits = j!({ "state": "waiting", "next_try_ts": NOW_S + 17, "attempts": [first] });
    assert_eq!(shown(), paid(waits));

    let tried = claim(&db, NOW + 20_000).remove(0);
    answer(&db, NOW + 20_000, &tried, 204);
    let second = j!({ "at": NOW_S + 20, "ms": 120, "http_status": 204, "body": "answer 204" });
    assert_eq!(
        shown(),
        paid(j!({ "state": "delivered", "attempts": [first, second] }))
    );

    outbox::operating::replay(&db, NOW + 30_000, &reward_id(1)).unwrap();
    let tried = claim(&db, NOW + 30_000).remove(0);
    abort(&db, NOW + 30_000, &tried);
    let third = j!({ "at": NOW_S + 30, "ms": 120, "http_status": 400, "body": "answer 400" });
    assert_eq!(
        shown(),
        paid(j!({ "state": "dead", "attempts": [first, second, third] }))
    );
    outbox::erasing::erase(&db, "user-1").unwrap();
    assert!(shown()["user_id"].is_null() && shown().as_object().unwrap().contains_key("user_id"));
}

#[test]
fn a_reversal_has_an_entry_of_its_own() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1).txn("t")).unwrap();
    send_all(&db, NOW, 200);
    world.pass(DAY_MS);
    let back = conversion(1).txn("back").says(Status::Reversed);
    convert(&db, &world, &back).unwrap();
    let [reversal, reward] = entries(&db).try_into().unwrap();
    assert_eq!(
        reversal,
        click_1(j!({
            "transaction_id": reversal_id(1), "original_transaction_id": reward_id(1), "txn": "back",
            "conversion_ts": NOW_S + 86_400, "payout": -0.75, "value": -75, "status": "reversed",
            "state": "waiting", "next_try_ts": NOW_S + 86_400,
        }))
    );
    assert_eq!(
        (&reward["status"], &reward["state"]),
        (&j!("reversed"), &j!("delivered"))
    );
    assert_eq!((&reward["payout"], &reward["value"]), (&j!(0.75), &j!(75)));
    assert_eq!(reversal, entry(&db, &reversal_id(1)));
    assert!(reward.get("original_transaction_id").is_none());
}

#[test]
fn a_reversal_that_waits_for_its_reward_has_no_next_try() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    convert(&db, &world, &conversion(1).says(Status::Reversed)).unwrap();
    let shown = entry(&db, &reversal_id(1));
    assert_eq!(
        (&shown["state"], shown.get("next_try_ts")),
        (&j!("waiting"), None)
    );
}

#[test]
fn amounts_are_shown_digit_by_digit() {
    let (db, world) = (outbox(), World::new());
    world.change(|offer| offer.goals[1].payout_micro_usd = 123_456_789_012);
    world.terms.borrow_mut().currency = CurrencyRate {
        name: "Grains".into(),
        per_usd: PerUsd(987_654_321_123_457),
        decimals: 6,
        rounding: Default::default(),
    };
    convert(&db, &world, &conversion(1)).unwrap();
    convert(&db, &world, &conversion(1).says(Status::Reversed)).unwrap();
    // A double holds some 16 digits of them.
    let amounts = r#""payout":123456.789012,"value":121932631139728.725653,"#;
    let reward = written::get(&db, &reward_id(1)).unwrap().body;
    assert!(reward.contains(amounts), "{reward}");
    let list = written::list(&db, None, None, 10, None).unwrap().body;
    let negative = amounts.replace(":1", ":-1");
    assert!(list.contains(amounts) && list.contains(&negative), "{list}");
}

#[test]
fn an_entry_that_there_is_not_is_not_found() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    for id in [
        "",
        "nothing",
        &reward_id(2),
        &reversal_id(1),
        &reward_id(1).to_uppercase(),
    ] {
        let refused = refusal(written::get(&db, id));
        assert_eq!((refused.status, refused.code), (404, "not_found"), "{id}");
    }
}

#[test]
fn a_filter_or_a_cursor_that_is_none_is_refused() {
    let db = outbox();
    let list = |status, state, cursor| refusal(written::list(&db, status, state, 100, cursor));
    for other in ["", "Approved", "waiting", "0"] {
        let refused = list(Some(other), None, None);
        assert_eq!((refused.status, refused.code), (400, "invalid_field"));
        assert!(refused.message.starts_with("status: "));
    }
    for other in ["", "Dead", "approved", "0"] {
        let refused = list(None, Some(other), None);
        assert_eq!((refused.status, refused.code), (400, "invalid_field"));
        assert!(refused.message.starts_with("state: "));
    }
    for other in [
        "",
        "0",
        "-1",
        "1.5",
        "x",
        "4503599627370496",
        "99999999999999999999",
    ] {
        // Also where the filters alone say that there is nothing.
        for (status, state) in [
            (None, None),
            (Some("pending"), Some("refused")),
            (None, Some("no_endpoint")),
        ] {
            let refused = list(status, state, Some(other));
            assert_eq!((refused.status, refused.code), (400, "invalid_field"), "{other}");
            assert!(refused.message.starts_with("cursor: "));
        }
    }
}

/// What happens to one of a few clicks.
#[derive(Clone, Debug)]
enum Event {
    Postback {
        click: u8,
        status: Status,
        capped: bool,
    },
    /// All that is due is sent; the endpoint answers this, or refuses for good.
    Sent {
        status: u16,
    },
    Aborted,
}

fn event() -> impl Strategy<Value = Event> {
    let postback = (1..6_u8, select(Status::ALL.as_slice()), any::<bool>());
    prop_oneof![
        5 => postback.prop_map(|(click, status, capped)| Event::Postback { click, status, capped }),
        1 => select(vec![200, 500]).prop_map(|status| Event::Sent { status }),
        1 => Just(Event::Aborted),
    ]
}

fn happens(db: &Sqlite, world: &World, event: &Event) {
    world.pass(DAY_MS);
    let now_ms = world.now_ms.get();
    match event {
        Event::Postback {
            click,
            status,
            capped,
        } => {
            world.cap(capped.then_some(0));
            let _ = convert(db, world, &conversion(*click).says(*status));
        }
        Event::Sent { status } => {
            for tried in claim(db, now_ms) {
                answer(db, now_ms, &tried, *status);
            }
        }
        Event::Aborted => {
            for tried in claim(db, now_ms) {
                abort(db, now_ms, &tried);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn pages_of_any_size_are_the_whole_list_in_its_order_and_filters_only_leave_out(
        events in vec(event(), 0..25),
        has_callback in any::<bool>(),
        status in option::of(select(STATUSES.as_slice())),
        state in option::of(select(STATES.as_slice())),
        limit in 1..6_u32,
    ) {
        let (db, world) = (outbox(), World::new());
        world.change(|offer| offer.conversion_window_days = 90);
        for event in &events {
            happens(&db, &world, event);
        }
        learn(&db, world.now_ms.get(), &settings(99, has_callback));

        let all = entries(&db);
        let order: Vec<_> = dump(&db, "entries").iter().rev().map(|row| row.text(1).unwrap().to_owned()).collect();
        prop_assert!(all.iter().map(|entry| entry["transaction_id"].as_str().unwrap()).eq(&order));
        let expected: Vec<_> = all
            .into_iter()
            .filter(|entry| status.is_none_or(|status| entry["status"] == status))
            .filter(|entry| state.is_none_or(|state| entry["state"] == state))
            .collect();

        let (mut found, mut cursor) = (vec![], None::<String>);
        loop {
            let page = json(written::list(&db, status, state, limit, cursor.as_deref()).unwrap());
            let shown = page["conversions"].as_array().unwrap();
            prop_assert!(shown.len() <= limit as usize);
            found.extend(shown.iter().cloned());
            match page["cursor"].as_str() {
                Some(next) => {
                    prop_assert_eq!(shown.len(), limit as usize);
                    cursor = Some(next.to_owned());
                }
                None => break,
            }
        }
        prop_assert_eq!(found, expected);
    }
}

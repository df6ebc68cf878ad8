//! The conversion log as the operator reads it: entries in each state, and the list page by page.

use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::json as j;

use super::*;
use origin::objects::outbox::log::{Filter, WALK};
use platform::http_call::NoAnswer;

const STATUSES: [&str; 5] = ["approved", "pending", "rejected", "reversed", "refused"];
const STATES: [&str; 5] = ["waiting", "delivered", "dead", "no_endpoint", "refused"];
const NOW_S: i64 = NOW / SECOND_MS;

/// The members of every entry of click 1, with these added or replaced.
fn click_1(members: Json) -> Json {
    let mut entry = j!({
        "transaction_id": reward_id(1), "user_id": "user-1", "offer_id": "o-1", "goal_id": "g-1",
        "click_ts": NOW_S - 86_400, "conversion_ts": NOW_S, "attempts": [],
    });
    entry.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    entry
}

#[test]
fn an_unpaid_conversion_has_no_amounts_and_no_callback() {
    let cases = [
        // Its approval is still to come.
        (Status::Pending, j!({ "status": "pending", "state": null, "promised_payout": 0.75 })),
        (Status::Rejected, j!({ "status": "rejected", "state": null })),
        (Status::Reversed, j!({ "status": "reversed", "state": null })),
    ];
    for (status, shown) in cases {
        let (db, world) = (outbox(), World::new());
        convert(&db, &world, &conversion(1).status(status)).unwrap();
        assert_eq!(entries(&db), [click_1(shown)]);
    }
}

#[test]
fn a_refused_conversion_shows_its_error() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(2).txn("t")).unwrap();
    convert(&db, &world, &conversion(1).txn("t")).unwrap_err();
    let refused = |refusal: &str| {
        let members = j!({ "status": "refused", "state": "refused", "code": refusal, "txn": "t" });
        click_1(members)
    };
    assert_eq!(entry(&db, &reward_id(1)), refused("duplicate_txn"));
    let (db, world) = (outbox(), World::capped(0));
    convert(&db, &world, &conversion(1).txn("t")).unwrap_err();
    assert_eq!(entry(&db, &reward_id(1)), refused("conversion_capped"));
    let (db, world) = (outbox(), World::new());
    world.first(|offer| offer.conversion_window_days = 0);
    convert(&db, &world, &conversion(1).txn("t")).unwrap_err();
    assert_eq!(entry(&db, &reward_id(1)), refused("conversion_window_closed"));
}

#[test]
fn a_reward_shows_the_state_of_its_callback() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1).txn("t")).unwrap();
    let paid = |members: Json| {
        let mut entry = click_1(j!({ "status": "approved", "txn": "t", "payout": 0.75, "value": 75 }));
        entry.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        entry
    };
    let shown = || entry(&db, &reward_id(1));
    assert_eq!(shown(), paid(j!({ "state": "waiting", "next_try_ts": NOW_S })));
    apply_settings(&db, NOW, &settings(2, false));
    assert_eq!(shown(), paid(j!({ "state": "no_endpoint" })));
    apply_settings(&db, NOW, &settings(3, true));

    let callback = claim(&db, NOW + 1_500).remove(0);
    let unanswered = HttpCall {
        at_ms: NOW + 1_500,
        took_ms: 10_000,
        outcome: Err(NoAnswer::new("timeout", "no whole answer within 10000 ms")),
    };
    let failed = judge(&Schedule::default(), 1, &Outcome::Failed, NOW + 11_500, u32::MAX);
    attempts::conclude(&db, NOW + 11_500, &callback, &unanswered, &failed).unwrap();
    let first = j!({
        "at": NOW_S + 1, "ms": 10_000, "http_status": null, "body": "", "error": "no whole answer within 10000 ms",
    });
    let waits = j!({ "state": "waiting", "next_try_ts": NOW_S + 17, "attempts": [first] });
    assert_eq!(shown(), paid(waits));

    let callback = claim(&db, NOW + 20_000).remove(0);
    answer(&db, NOW + 20_000, &callback, 204);
    let second = j!({ "at": NOW_S + 20, "ms": 120, "http_status": 204, "body": "answer 204" });
    assert_eq!(shown(), paid(j!({ "state": "delivered", "attempts": [first, second] })));

    outbox::callbacks::replay::replay(&db, NOW + 30_000, &reward_id(1), CLAIM_MS).unwrap();
    let callback = claim(&db, NOW + 30_000).remove(0);
    abort(&db, NOW + 30_000, &callback);
    let third = j!({ "at": NOW_S + 30, "ms": 120, "http_status": 400, "body": "answer 400" });
    assert_eq!(shown(), paid(j!({ "state": "dead", "attempts": [first, second, third] })));
    outbox::erasure::erase(&db, NOW, shard(), "user-1").unwrap();
    assert!(shown()["user_id"].is_null() && shown().as_object().unwrap().contains_key("user_id"));
}

#[test]
fn a_reversal_has_its_own_entry() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1).txn("t")).unwrap();
    send_all(&db, NOW, 200);
    world.pass(DAY_MS);
    let back = conversion(1).txn("back").status(Status::Reversed);
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
    assert_eq!((&reward["status"], &reward["state"]), (&j!("reversed"), &j!("delivered")));
    assert_eq!((&reward["payout"], &reward["value"]), (&j!(0.75), &j!(75)));
    assert_eq!(reversal, entry(&db, &reversal_id(1)));
    assert!(reward.get("original_transaction_id").is_none());
}

#[test]
fn a_reversal_behind_its_reward_has_no_next_try() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    let shown = entry(&db, &reversal_id(1));
    assert_eq!((&shown["state"], shown.get("next_try_ts")), (&j!("waiting"), None));
}

#[test]
fn amounts_are_shown_exactly() {
    let (db, world) = (outbox(), World::new());
    world.first(|offer| offer.goals[0].payout_micro_usd = 123_456_789_012);
    let currency = CurrencyRate {
        name: "Grains".into(),
        per_usd: PerUsd(987_654_321_123_457),
        decimals: 6,
        rounding: Default::default(),
    };
    world.catalog.borrow_mut().first_app(|app| app.currency = currency);
    convert(&db, &world, &conversion(1)).unwrap();
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    // A double would hold only about 16 digits of these amounts.
    let amounts = r#""payout":123456.789012,"value":121932631139728.725653,"#;
    let reward = written::get(&db, &reward_id(1)).unwrap().body;
    assert!(reward.contains(amounts), "{reward}");
    let page = written::list(&db, &list(None, None, 10, None), WALK).unwrap();
    let list = serde_json::to_string(&page).unwrap();
    let negative = amounts.replace(":1", ":-1");
    assert!(list.contains(amounts) && list.contains(&negative), "{list}");
}

#[test]
fn an_unknown_entry_is_not_found() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    for id in ["", "nothing", &reward_id(2), &reversal_id(1), &reward_id(1).to_uppercase()] {
        let refused = refusal(written::get(&db, id));
        assert_eq!((refused.status, refused.code), (404, "not_found"), "{id}");
    }
}

#[test]
fn an_invalid_filter_is_refused() {
    let db = outbox();
    let refused = |status, state| {
        let refused = refusal(written::list(&db, &list(status, state, 100, None), WALK));
        assert_eq!(Filter::parse(status, state), Err(refused.clone()));
        (refused.status, refused.code, refused.message)
    };
    for other in ["", "Approved", "waiting", "0"] {
        let (status, code, message) = refused(Some(other), None);
        assert_eq!((status, code), (400, "invalid_field"));
        assert!(message.starts_with("status: "));
    }
    for other in ["", "Dead", "approved", "0"] {
        let (status, code, message) = refused(None, Some(other));
        assert_eq!((status, code), (400, "invalid_field"));
        assert!(message.starts_with("state: "));
    }
}

/// An event of one of a few clicks.
#[derive(Clone, Debug)]
enum Event {
    Postback {
        click: u8,
        status: Status,
        capped: bool,
    },
    /// All due callbacks are sent, and the endpoint answers this status or aborts them.
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
        Event::Postback { click, status, capped } => {
            world.cap(capped.then_some(0));
            let _ = convert(db, world, &conversion(*click).status(*status));
        }
        Event::Sent { status } => {
            for callback in claim(db, now_ms) {
                answer(db, now_ms, &callback, *status);
            }
        }
        Event::Aborted => {
            for callback in claim(db, now_ms) {
                abort(db, now_ms, &callback);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn pages_of_any_size_add_up_to_the_filtered_list(
        events in vec(event(), 0..25),
        has_callback in any::<bool>(),
        status in option::of(select(STATUSES.as_slice())),
        state in option::of(select(STATES.as_slice())),
        limit in 1..6_u32,
        walk in prop_oneof![1..8_i64, Just(WALK)],
    ) {
        let (db, world) = (outbox(), World::new());
        world.first(|offer| offer.conversion_window_days = 90);
        for event in &events {
            happens(&db, &world, event);
        }
        apply_settings(&db, world.now_ms.get(), &settings(99, has_callback));

        let all = entries(&db);
        let order: Vec<_> = dump(&db, "entries").iter().rev().map(|row| row.text(1).unwrap().to_owned()).collect();
        prop_assert!(all.iter().map(|entry| entry["transaction_id"].as_str().unwrap()).eq(&order));
        let expected: Vec<_> = all
            .into_iter()
            .filter(|entry| status.is_none_or(|status| entry["status"] == status))
            .filter(|entry| state.is_none_or(|state| entry["state"] == state))
            .collect();

        let pages = pages(&db, status, state, limit, walk);
        prop_assert!(pages.iter().all(|page| page.len() <= limit as usize));
        // A page that is not full has walked the maximal number of rows.
        let short = pages.iter().filter(|page| page.len() < limit as usize).count();
        prop_assert!(short as i64 <= order.len() as i64 / walk + 1, "{} of {}", short, pages.len());
        prop_assert_eq!(pages.concat(), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn large_entries_shorten_pages_but_the_list_is_complete(
        lengths in vec(0..60_000_i64, 1..4),
        limit in select([1, 7, 49, 50, 51, 119, 120, 1_000].as_slice()),
    ) {
        let (db, _) = with_rewards(1);
        fill(&db, 120);
        let longest = usize::try_from(*lengths.iter().max().unwrap()).unwrap();
        let lengths = j!(lengths).to_string();
        let sql = "INSERT INTO attempts (entry, at_ms, ms, http_status, body)
            SELECT entry, 0, 0, 500, printf('%.*c', value, 'x') FROM entries
            JOIN json_each(?1) ON key = entry % json_array_length(?1)";
        db.execute(sql, params![lengths]).unwrap();
        let pages = pages(&db, None, None, limit, WALK);
        let text = |page: &[Json]| -> usize {
            page.iter().map(|entry| entry["attempts"][0]["body"].as_str().unwrap().len()).sum()
        };
        for page in &pages {
            prop_assert!(page.len() <= limit as usize);
            prop_assert!(text(page) < MAX_TEXT + 50 * longest);
        }
        let (_, before) = pages.split_last().unwrap();
        for page in before {
            prop_assert!(page.len() == limit as usize || text(page) >= MAX_TEXT);
        }
        let shown: Vec<_> = pages.concat().iter().map(|entry| entry["transaction_id"].clone()).collect();
        let order: Vec<_> = dump(&db, "entries").iter().rev().map(|row| j!(row.text(1).unwrap())).collect();
        prop_assert_eq!(shown, order);
    }
}

#[test]
fn the_only_match_of_a_long_log_is_found_by_following_cursors() {
    let refused: (Option<&str>, Option<&str>) = (Some("refused"), None);
    for (filters, first, other) in [
        (refused, None, Status::Pending),
        ((None, Some("refused")), None, Status::Pending),
        ((None, Some("delivered")), Some(200), Status::Pending),
        ((Some("approved"), Some("waiting")), Some(500), Status::Rejected),
        ((Some("approved"), None), Some(200), Status::Reversed),
    ] {
        let (db, world) = (outbox(), World::new());
        world.cap(first.is_none().then_some(0));
        let _ = convert(&db, &world, &conversion(1));
        send_all(&db, NOW, first.unwrap_or(200));
        convert(&db, &world, &conversion(2).status(other)).unwrap();
        fill(&db, 50_000);
        let pages = pages(&db, filters.0, filters.1, 100, WALK);
        let lengths: Vec<_> = pages.iter().map(Vec::len).collect();
        assert_eq!(lengths, [0, 0, 1], "{filters:?}");
        assert_eq!(pages[2][0]["transaction_id"], reward_id(1));
    }
    // A dead callback is found at once.
    let (db, _) = with_rewards(1);
    abort(&db, NOW, &claim(&db, NOW)[0]);
    fill(&db, 2);
    db.execute("UPDATE entries SET delivery = 1 WHERE entry > (SELECT MIN(entry) FROM entries)", &[]).unwrap();
    fill(&db, 50_000);
    assert_eq!(pages(&db, None, Some("dead"), 100, WALK), [[entry(&db, &reward_id(1))]]);
}

#[test]
fn pages_of_a_growing_log_show_it_as_of_the_first_page() {
    let (db, world) = with_rewards(3);
    let (_, end) = page(&db, None, None, 2, None);
    convert(&db, &world, &conversion(4)).unwrap();
    let rest = page(&db, None, None, 2, end);
    assert_eq!(rest, (vec![entry(&db, &reward_id(1))], None));
    // A place beyond the end starts at the beginning.
    let beyond = page(&db, None, None, 4, Some(1 << 53));
    assert_eq!(beyond, (entries(&db), None));
}

#[test]
fn an_entrys_number_has_the_time_and_the_shard_and_is_never_used_twice() {
    let (db, world) = (outbox(), World::new());
    for n in 1..=40 {
        convert(&db, &world, &conversion(n)).unwrap();
    }
    // A clock that was set back.
    world.pass(-DAY_MS);
    convert(&db, &world, &conversion(41)).unwrap();
    world.pass(DAY_MS + 5);
    convert(&db, &world, &conversion(42)).unwrap();
    let numbers: Vec<_> = dump(&db, "entries").iter().map(|row| row.integer(0).unwrap()).collect();
    assert_eq!(numbers[0], NOW * 1_024 + i64::from(shard().number));
    assert!(numbers.iter().all(|number| number % 64 == i64::from(shard().number)));
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    assert_eq!(numbers[41], (NOW + 5) * 1_024 + i64::from(shard().number));
}

#[test]
fn a_users_entries_are_listed_alone_page_by_page() {
    let (db, world) = with_rewards(5);
    convert(&db, &world, &conversion(3).status(Status::Reversed)).unwrap();
    let of_user = |user: &str, status: Option<&str>, before| {
        let list = List { user_id: Some(user.to_owned()), ..list(status, None, 1, before) };
        // Its index serves it, however few entries a page may examine.
        shown(&written::list(&db, &list, 1).unwrap())
    };
    let user = entries(&db)[0]["user_id"].as_str().unwrap().to_owned();
    let all: Vec<_> = entries(&db).into_iter().filter(|entry| entry["user_id"] == user.as_str()).collect();
    let (mut listed, mut before) = (Vec::new(), None);
    loop {
        let (page, end) = of_user(&user, None, before);
        listed.extend(page);
        before = end;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(listed, all);
    assert!(of_user("nobody", None, None).0.is_empty());
    assert!(of_user(&user, Some("held"), None).0.is_empty());
}

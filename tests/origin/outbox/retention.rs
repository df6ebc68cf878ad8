//! Erasure of a user, retention of attempts and identifiers, and the rows that are kept.

use proptest::prelude::*;
use serde_json::json as j;

use super::*;
use domain::model::time::{HOUR_MS, UtcDay};
use origin::outbox::{
    replay::replay,
    retention::{due_ms, erase, sweep},
};

/// All rows as text.
fn dump_all(db: &Sqlite) -> String {
    let tables = ["entries", "attempts", "conversions", "reservations", "traffic"];
    tables.map(|table| format!("{:?}", dump(db, table))).concat()
}

fn fields(db: &Sqlite, id: &str) -> Json {
    let sql = "SELECT fields FROM entries WHERE transaction_id = ?";
    let row = db.query_first(sql, params![id]).unwrap().unwrap();
    serde_json::from_str(row.text(0).unwrap()).unwrap()
}

/// Rewards of clicks 1 and 2 (one user) and 3 (another user), all delivered.
fn delivered() -> (Sqlite, World) {
    let (db, world) = (outbox(), World::new());
    for (n, user) in [(1, "ann"), (2, "ann"), (3, "bob")] {
        convert(&db, &world, &conversion(n).user(user)).unwrap();
    }
    send_all(&db, NOW, 200);
    (db, world)
}

#[test]
fn erasure_removes_every_identifier_of_one_user_only() {
    let (db, _) = delivered();
    let of_bob = entry(&db, &reward_id(3));
    assert_eq!(
        json(erase(&db, "ann").unwrap()),
        j!({ "erased": 2, "waiting": 0 })
    );
    assert!(!dump_all(&db).contains("ann"));
    for n in [1, 2] {
        let said = fields(&db, &reward_id(n));
        for gone in ["user_id", "gaid", "idfa", "c1", "c5"] {
            assert_eq!(said.get(gone), None, "{gone}");
        }
        assert_eq!((&said["payout"], &said["country"]), (&j!("0.75"), &j!("DE")));
        let shown = entry(&db, &reward_id(n));
        assert!(shown["user_id"].is_null());
        assert_eq!((&shown["state"], &shown["payout"]), (&j!("delivered"), &j!(0.75)));
        assert_eq!(shown["attempts"][0]["body"], "");
        assert_eq!(shown["attempts"][0]["http_status"], 200);
    }
    assert_eq!(entry(&db, &reward_id(3)), of_bob);
    assert_eq!(
        json(erase(&db, "ann").unwrap()),
        j!({ "erased": 0, "waiting": 0 })
    );
    assert_eq!(
        json(erase(&db, "nobody").unwrap()),
        j!({ "erased": 0, "waiting": 0 })
    );
}

#[test]
fn an_erased_conversion_is_not_paid_or_sent_again() {
    let (db, world) = delivered();
    erase(&db, "ann").unwrap();
    assert_eq!(
        send(&db, &world, &conversion(1).user("ann")),
        Ok(("approved", true))
    );
    assert!(!dump_all(&db).contains("ann"));
    let refused = refusal(replay(&db, NOW, &reward_id(1), CLAIM_MS));
    assert_eq!((refused.status, refused.code), (409, "erased"));
    let many = r#"{"since":0,"state":"delivered"}"#;
    let replayed = replay_many(&db, NOW + 1, many).unwrap();
    assert_eq!(replayed, 1);
    assert_eq!(ids(&claim(&db, NOW + 1)), [reward_id(3)]);
}

#[test]
fn a_waiting_callback_keeps_its_user_until_it_ends() {
    type End = fn(&Sqlite, i64, &ClaimedCallback);
    let ends: [End; 2] = [|db, at, callback| answer(db, at, callback, 200), abort];
    for end in ends {
        let (db, world) = (outbox(), World::new());
        convert(&db, &world, &conversion(1).user("ann")).unwrap();
        convert(&db, &world, &conversion(2).user("ann").status(Status::Pending)).unwrap();
        answer(&db, NOW, &claim(&db, NOW)[0], 500);
        assert_eq!(
            json(erase(&db, "ann").unwrap()),
            j!({ "erased": 1, "waiting": 1 })
        );
        assert!(entry(&db, &reward_id(2))["user_id"].is_null());
        assert_eq!(entry(&db, &reward_id(1))["attempts"][0]["body"], "answer 500");
        // A waiting callback may also be replayed, and the end of another user's callback changes nothing.
        replay(&db, NOW + DAY_MS, &reward_id(1), CLAIM_MS).unwrap();
        let callback = claim(&db, NOW + DAY_MS).remove(0);
        assert_eq!(
            (callback.fields.user_id.as_str(), callback.fields.c1.as_deref()),
            ("ann", Some("c-one"))
        );
        answer(&db, NOW + DAY_MS, &callback, 500);
        assert!(dump_all(&db).contains("ann"));
        let callback = claim(&db, NOW + 2 * DAY_MS).remove(0);
        end(&db, NOW + 2 * DAY_MS, &callback);
        assert!(!dump_all(&db).contains("ann"));
        let shown = entry(&db, &reward_id(1));
        assert_eq!(shown["attempts"].as_array().unwrap().len(), 3);
        assert!(
            shown["attempts"]
                .as_array()
                .unwrap()
                .iter()
                .all(|attempt| attempt["body"] == "")
        );
        assert_eq!(refusal(replay(&db, NOW, &reward_id(1), CLAIM_MS)).code, "erased");
    }
}

#[test]
fn a_conversion_that_changes_after_erasure_is_erased_again() {
    let (db, world) = (outbox(), World::new());
    let postback = |n: u8, status| conversion(n).user("ann").status(status);
    for n in 1..=3 {
        convert(&db, &world, &postback(n, Status::Pending)).unwrap();
    }
    convert(&db, &world, &postback(4, Status::Approved)).unwrap();
    send_all(&db, NOW, 200);
    assert_eq!(
        json(erase(&db, "ann").unwrap()),
        j!({ "erased": 4, "waiting": 0 })
    );
    // 1 is rejected, 2 stays pending, 3 is paid and 4 reversed. The callbacks of 3 and 4 need the user id.
    convert(&db, &world, &postback(1, Status::Rejected)).unwrap();
    convert(&db, &world, &postback(2, Status::Pending).goal("install")).unwrap();
    assert!(!dump_all(&db).contains("ann"));
    convert(&db, &world, &postback(3, Status::Approved)).unwrap();
    convert(&db, &world, &postback(4, Status::Reversed)).unwrap();
    let callbacks = claim(&db, NOW);
    assert_eq!(ids(&callbacks), [reward_id(3), reversal_id(4)]);
    assert!(callbacks.iter().all(|callback| callback.fields.user_id == "ann"));
    for callback in &callbacks {
        answer(&db, NOW, callback, 200);
    }
    assert!(!dump_all(&db).contains("ann"));
}

#[test]
fn a_reversal_is_exact_although_its_reward_was_erased() {
    let (db, world) = delivered();
    erase(&db, "ann").unwrap();
    world.change(|offer| offer.goals[0].payout_micro_usd = 1);
    convert(&db, &world, &conversion(1).user("ann").status(Status::Reversed)).unwrap();
    let shown = entry(&db, &reversal_id(1));
    assert_eq!((&shown["payout"], &shown["value"]), (&j!(-0.75), &j!(-75)));
}

/// Sweeps a whole night.
fn night(db: &Sqlite, now_ms: i64) {
    for step in 0.. {
        assert!(step < 100, "the sweep does not end");
        match sweep(db, now_ms).unwrap() {
            Some(next) if next == now_ms + SECOND_MS => {}
            next => return assert_eq!(next, due_ms(db, now_ms).unwrap()),
        }
    }
}

#[test]
fn attempts_are_kept_ninety_days() {
    let (db, world) = delivered();
    world.pass(DAY_MS);
    replay(&db, NOW + DAY_MS, &reward_id(1), CLAIM_MS).unwrap();
    send_all(&db, NOW + DAY_MS, 200);
    let attempts = || dump(&db, "attempts").len();
    night(&db, NOW + 90 * DAY_MS);
    assert_eq!(attempts(), 4);
    night(&db, NOW + 91 * DAY_MS);
    assert_eq!(attempts(), 1);
    let kept = entry(&db, &reward_id(1))["attempts"][0]["at"].clone();
    assert_eq!(kept, (NOW + DAY_MS) / SECOND_MS);
    night(&db, NOW + 92 * DAY_MS);
    assert_eq!(attempts(), 0);
    assert_eq!(entry(&db, &reward_id(1))["state"], "delivered");
}

#[test]
fn a_sweep_runs_each_night_while_rows_exist() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(due_ms(&db, NOW), Ok(None));
    assert_eq!(sweep(&db, NOW), Ok(None));
    convert(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    let next = UtcDay::of_ms(NOW).minus(-1).start_ms() + HOUR_MS;
    assert_eq!(due_ms(&db, NOW), Ok(Some(next)));
    assert_eq!(sweep(&db, next), Ok(Some(next + DAY_MS)));
    assert_eq!(sweep(&db, next + HOUR_MS), Ok(Some(next + DAY_MS)));
}

fn rows(db: &Sqlite, table: &str) -> i64 {
    let sql = format!("SELECT COUNT(*) FROM {table}");
    db.query_first(&sql, &[]).unwrap().unwrap().integer(0).unwrap()
}

/// The bytes of the pages that hold rows.
fn bytes(db: &Sqlite) -> i64 {
    let row = db.query_first("SELECT SUM(pgsize) FROM dbstat", &[]).unwrap();
    row.unwrap().integer(0).unwrap()
}

/// Sends the sums of conversions to nowhere, as if they were confirmed.
fn confirm_sums(db: &Sqlite) {
    db.execute("DELETE FROM traffic", &[]).unwrap();
}

/// A year of an outbox: what it answers, what is left, and what that weighs. The answers are to copies of the postbacks of
/// day 0, whose clicks are a day older.
#[test]
fn a_conversion_is_walked_from_its_first_day_to_its_last() {
    let (db, world) = (outbox(), World::new());
    let empty = bytes(&db);
    let many: u16 = 3_000;
    let approved = |n: u16| Conversion {
        nonce: Bytes([&n.to_be_bytes()[..], &[7; 10]].concat()),
        ..conversion(1)
    };
    for n in 0..many {
        convert(&db, &world, &approved(n).txn(&format!("t-{n}"))).unwrap();
        send_all(&db, NOW, 200);
    }
    let pending = conversion(2).status(Status::Pending);
    convert(&db, &world, &pending).unwrap();
    let late_reversal = conversion(3);
    convert(&db, &world, &late_reversal).unwrap();
    send_all(&db, NOW, 200);
    let waits = conversion(4);
    convert(&db, &world, &waits).unwrap();
    confirm_sums(&db);
    let full = bytes(&db) - empty;
    let per_conversion = full / i64::from(many);
    assert!(
        (600..1_400).contains(&per_conversion),
        "{per_conversion} bytes a conversion"
    );

    let at = |day: i64| world.now_ms.set(NOW + day * DAY_MS);
    let state = |n: u8| {
        let shown = entry(&db, &reward_id(n));
        shown["status"].as_str().unwrap().to_owned()
    };
    let closed = Err("conversion_window_closed");
    for day in [1, 90, 300] {
        at(day);
        night(&db, world.now_ms.get());
        assert_eq!(
            send(&db, &world, &approved(0).txn("t-0")),
            Ok(("approved", true)),
            "day {day}"
        );
        assert_eq!(
            send(&db, &world, &conversion(5).txn("t-0").status(Status::Rejected)),
            if day == 1 {
                Ok(("rejected", false))
            } else {
                Ok(("rejected", true))
            }
        );
        assert_eq!(rows(&db, "entries"), i64::from(many) + 4);
    }
    // The day before no postback is taken any more, a reward is taken back.
    at(398);
    let reversed = late_reversal.clone().status(Status::Reversed);
    assert_eq!(send(&db, &world, &reversed), Ok(("reversed", false)));
    send_all(&db, NOW + 398 * DAY_MS, 200);
    confirm_sums(&db);
    replay(&db, world.now_ms.get(), &reward_id(4), CLAIM_MS).unwrap();
    at(400);
    night(&db, world.now_ms.get());
    for postback in [approved(0), pending.clone(), reversed.clone(), conversion(9)] {
        assert_eq!(send(&db, &world, &postback), closed);
    }
    assert_eq!(rows(&db, "entries"), i64::from(many) + 5);
    assert_eq!((state(2).as_str(), state(3).as_str()), ("pending", "reversed"));
    // A night later what is pending has ended, and everything is still there.
    at(401);
    night(&db, world.now_ms.get());
    assert_eq!(state(2), "rejected");
    assert_eq!(rows(&db, "entries"), i64::from(many) + 5);
    // Then it leaves, but for the callback that waits and the reward that was taken back late.
    at(402);
    night(&db, world.now_ms.get());
    let left: Vec<_> = entries(&db)
        .iter()
        .map(|entry| entry["transaction_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        left,
        [
            reversal_id(3),
            id_of(5, "g-1", Movement::Reward),
            reward_id(4),
            reward_id(3)
        ]
    );
    assert_eq!(
        (rows(&db, "conversions"), rows(&db, "attempts"), rows(&db, "txns")),
        (3, 2, 0)
    );
    let rest = bytes(&db) - empty;
    assert!(rest < full / 20, "{rest} of {full} bytes are left");
    // What waits leaves a night after it was delivered, the reversal in its turn with its reward.
    at(500);
    send_all(&db, NOW + 500 * DAY_MS, 200);
    night(&db, world.now_ms.get());
    assert_eq!(rows(&db, "entries"), 2);
    at(800);
    night(&db, world.now_ms.get());
    assert_eq!(
        [
            rows(&db, "entries"),
            rows(&db, "conversions"),
            rows(&db, "attempts")
        ],
        [0; 3]
    );
    assert_eq!(due_ms(&db, world.now_ms.get()), Ok(None));
    println!("{per_conversion} bytes a conversion");
}

#[test]
fn rows_stay_while_their_sums_wait() {
    let (db, _) = delivered();
    night(&db, NOW + 402 * DAY_MS);
    assert_eq!(rows(&db, "entries"), 3);
    confirm_sums(&db);
    night(&db, NOW + 403 * DAY_MS);
    assert_eq!(rows(&db, "entries"), 0);
}

#[test]
fn terms_that_no_click_can_need_leave() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    world.change(|offer| offer.goals[0].payout_micro_usd = 5);
    world
        .catalog
        .borrow_mut()
        .change_app(|app| app.currency.name = "Gems".into());
    convert(&db, &world, &conversion(2).under_current(&world)).unwrap();
    assert_eq!(rows(&db, "terms"), 4);
    night(&db, NOW + 401 * DAY_MS);
    assert_eq!(rows(&db, "terms"), 4);
    night(&db, NOW + 402 * DAY_MS);
    assert_eq!(rows(&db, "terms"), 2, "those in force stay");
}

/// Adds copies of the first entry.
fn fill(db: &Sqlite, more: u32) {
    let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
        INSERT INTO entries (entry, transaction_id, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, user_id, fields)
        SELECT entry + n, 'more-' || CAST(n AS INTEGER), nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, user_id, fields
          FROM n, (SELECT * FROM entries LIMIT 1)";
    db.execute(sql, params![more]).unwrap();
}

#[test]
fn a_sweep_takes_many_rows_in_steps() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    send_all(&db, NOW, 200);
    confirm_sums(&db);
    fill(&db, 12_000);
    let later = NOW + 402 * DAY_MS;
    let mut left = vec![];
    loop {
        let next = sweep(&db, later).unwrap();
        left.push(rows(&db, "entries"));
        if next != Some(later + SECOND_MS) {
            break;
        }
    }
    assert_eq!(left, [7_001, 2_001, 0, 0]);
}

/// An event of a user's only conversion.
#[derive(Clone, Copy, Debug)]
enum Event {
    Says(Status),
    Sent(u16),
    Erased,
    Swept,
    Replayed,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn after_erasure_only_waiting_callbacks_hold_the_user(
        events in proptest::collection::vec(
            prop_oneof![
                proptest::sample::select(Status::ALL.as_slice()).prop_map(Event::Says),
                proptest::sample::select(vec![200_u16, 400, 500]).prop_map(Event::Sent),
                Just(Event::Erased),
                Just(Event::Swept),
                Just(Event::Replayed),
            ],
            1..14,
        ),
    ) {
        let (db, world) = (outbox(), World::new());
        world.first(|offer| offer.conversion_window_days = 90);
        // The entries that existed at the erasure, and the reversals of their rewards.
        let mut erased = std::collections::BTreeSet::new();
        for event in events {
            world.pass(HOUR_MS);
            let now_ms = world.now_ms.get();
            match event {
                Event::Says(status) => {
                    convert(&db, &world, &conversion(1).status(status)).unwrap();
                }
                Event::Sent(status) => {
                    for callback in claim(&db, now_ms) {
                        if status == 400 {
                            abort(&db, now_ms, &callback);
                        } else {
                            answer(&db, now_ms, &callback, status);
                        }
                    }
                }
                Event::Erased => {
                    erase(&db, "user-1").unwrap();
                    for entry in entries(&db) {
                        erased.insert(entry["transaction_id"].as_str().unwrap().to_owned());
                    }
                }
                Event::Swept => {
                    sweep(&db, now_ms).unwrap();
                }
                Event::Replayed => {
                    for id in [reward_id(1), reversal_id(1)] {
                        let _ = replay(&db, now_ms, &id, CLAIM_MS);
                    }
                }
            }
            for entry in entries(&db) {
                let id = entry["transaction_id"].as_str().unwrap();
                let original = entry.get("original_transaction_id").and_then(Json::as_str);
                let forgets = erased.contains(id) || original.is_some_and(|original| erased.contains(original));
                let named = !entry["user_id"].is_null();
                let waits = entry["state"] == "waiting";
                prop_assert_eq!(named, waits || !forgets, "{}", entry);
                prop_assert_eq!(fields(&db, id).get("user_id").is_some(), named);
            }
        }
    }
}

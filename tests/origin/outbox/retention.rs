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

#[test]
fn attempts_are_kept_ninety_days() {
    let (db, world) = delivered();
    world.pass(DAY_MS);
    replay(&db, NOW + DAY_MS, &reward_id(1), CLAIM_MS).unwrap();
    send_all(&db, NOW + DAY_MS, 200);
    let attempts = || dump(&db, "attempts").len();
    sweep(&db, NOW + 90 * DAY_MS).unwrap();
    assert_eq!(attempts(), 4);
    sweep(&db, NOW + 90 * DAY_MS + 1).unwrap();
    assert_eq!(attempts(), 1);
    assert_eq!(
        entry(&db, &reward_id(1))["attempts"][0]["at"],
        (NOW + DAY_MS) / SECOND_MS
    );
    sweep(&db, NOW + 91 * DAY_MS + 1).unwrap();
    assert_eq!(attempts(), 0);
    assert_eq!(entry(&db, &reward_id(1))["state"], "delivered");
}

#[test]
fn identifiers_are_kept_400_days_or_until_their_callback_ends() {
    let (db, world) = delivered();
    convert(&db, &world, &conversion(4).user("cyd").status(Status::Pending)).unwrap();
    convert(&db, &world, &conversion(5).user("dan")).unwrap();
    world.pass(DAY_MS);
    convert(&db, &world, &conversion(6).user("eve")).unwrap();
    sweep(&db, NOW + 400 * DAY_MS).unwrap();
    assert!(
        ["ann", "bob", "cyd", "dan", "eve"]
            .iter()
            .all(|user| dump_all(&db).contains(user))
    );
    sweep(&db, NOW + 400 * DAY_MS + 1).unwrap();
    let left: Vec<_> = ["ann", "bob", "cyd", "dan", "eve"]
        .into_iter()
        .filter(|user| dump_all(&db).contains(user))
        .collect();
    assert_eq!(left, ["dan", "eve"]);
    assert_eq!(refusal(replay(&db, NOW, &reward_id(1), CLAIM_MS)).code, "erased");
    // The waiting entry is sent unchanged and erased afterwards; the younger one keeps its own date.
    let late = NOW + 400 * DAY_MS + 2;
    let callbacks = claim(&db, late);
    assert_eq!(ids(&callbacks), [reward_id(5), reward_id(6)]);
    assert_eq!(callbacks[0].fields.user_id, "dan");
    callbacks
        .iter()
        .for_each(|callback| answer(&db, late, callback, 200));
    assert!(!dump_all(&db).contains("dan") && dump_all(&db).contains("eve"));
    sweep(&db, NOW + 401 * DAY_MS + 1).unwrap();
    assert!(!dump_all(&db).contains("eve"));
    // The rows that prevent a second payment stay.
    assert_eq!(
        send(&db, &world, &conversion(1).user("ann")),
        Ok(("approved", true))
    );
    assert_eq!(dump(&db, "conversions").len(), 6);
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
    assert_eq!(sweep(&db, next - 1), Ok(Some(next)));
}

/// Adds copies of the first entry, each with an attempt, all of one time.
fn fill(db: &Sqlite, more: u32) {
    db.execute(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
        INSERT INTO entries (entry, transaction_id, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, user_id, fields)
        SELECT entry + n, 'more-' || CAST(n AS INTEGER), nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, user_id, fields
          FROM n, (SELECT * FROM entries LIMIT 1)",
        params![more],
    )
    .unwrap();
    db.execute(
        "INSERT INTO attempts (entry, at_ms, ms, http_status, body)
        SELECT entry, at_ms, 1, 200, 'user-1' FROM entries WHERE transaction_id LIKE 'more-%'",
        &[],
    )
    .unwrap();
}

fn counts(db: &Sqlite) -> (i64, i64) {
    let sql =
        "SELECT (SELECT COUNT(*) FROM entries WHERE user_id IS NOT NULL), (SELECT COUNT(*) FROM attempts)";
    let row = db.query_first(sql, &[]).unwrap().unwrap();
    (row.integer(0).unwrap(), row.integer(1).unwrap())
}

#[test]
fn a_sweep_deletes_all_old_rows_in_steps() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    send_all(&db, NOW, 200);
    fill(&db, 12_000);
    world.now_ms.set(NOW + 300 * DAY_MS);
    let mut young = conversion(2);
    young.click.clicked_at_ms = world.now_ms.get();
    convert(&db, &world, &young).unwrap();
    let later = NOW + 401 * DAY_MS;
    let mut left = vec![];
    loop {
        let next = sweep(&db, later).unwrap();
        left.push(counts(&db));
        if next != Some(later + SECOND_MS) {
            assert_eq!(next, due_ms(&db, later).unwrap());
            break;
        }
    }
    assert_eq!(left, [(7_002, 7_001), (2_002, 2_001), (1, 0)]);
    // The next night continues where this one ended.
    assert_eq!(
        sweep(&db, later + DAY_MS).unwrap(),
        due_ms(&db, later + DAY_MS).unwrap()
    );
    assert_eq!(counts(&db), (1, 0));
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

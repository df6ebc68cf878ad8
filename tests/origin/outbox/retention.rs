//! What is forgotten: a user at the operator's word, attempts and identifiers by their age; and what is not.

use proptest::prelude::*;
use serde_json::json as j;

use super::*;
use domain::model::time::{HOUR_MS, UtcDay};
use origin::outbox::{
    replay::replay,
    retention::{due_ms, erase, sweep},
};

/// All that the tables hold, as text.
fn held(db: &Sqlite) -> String {
    let tables = ["entries", "attempts", "conversions", "reservations", "traffic"];
    tables.map(|table| format!("{:?}", dump(db, table))).concat()
}

fn fields(db: &Sqlite, id: &str) -> Json {
    let sql = "SELECT fields FROM entries WHERE transaction_id = ?";
    let row = db.query_first(sql, params![id]).unwrap().unwrap();
    serde_json::from_str(row.text(0).unwrap()).unwrap()
}

/// Rewards of clicks 1, 2 (of one user) and 3 (of another), all delivered.
fn delivered() -> (Sqlite, World) {
    let (db, world) = (outbox(), World::new());
    for (n, user) in [(1, "ann"), (2, "ann"), (3, "bob")] {
        convert(&db, &world, &conversion(n).of(user)).unwrap();
    }
    send_all(&db, NOW, 200);
    (db, world)
}

#[test]
fn a_user_is_forgotten_with_all_that_names_it_and_no_other() {
    let (db, _) = delivered();
    let of_bob = entry(&db, &reward_id(3));
    assert_eq!(
        json(erase(&db, "ann").unwrap()),
        j!({ "erased": 2, "waiting": 0 })
    );
    assert!(!held(&db).contains("ann"));
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
fn what_was_erased_is_still_paid_once_and_not_sent_again() {
    let (db, world) = delivered();
    erase(&db, "ann").unwrap();
    assert_eq!(
        told(&db, &world, &conversion(1).of("ann")),
        Ok(("approved", true))
    );
    assert!(!held(&db).contains("ann"));
    let refused = refusal(replay(&db, NOW, &reward_id(1), UNDER_WAY_MS));
    assert_eq!((refused.status, refused.code), (409, "erased"));
    let many = r#"{"since":0,"state":"delivered"}"#;
    let replayed = replay_many(&db, NOW + 1, many).unwrap();
    assert_eq!(json(replayed), j!({ "replayed": 1 }));
    assert_eq!(ids(&claim(&db, NOW + 1)), [reward_id(3)]);
}

#[test]
fn a_callback_that_waits_keeps_its_user_until_it_has_ended() {
    type End = fn(&Sqlite, i64, &Try);
    let ends: [End; 2] = [|db, at, tried| answer(db, at, tried, 200), abort];
    for end in ends {
        let (db, world) = (outbox(), World::new());
        convert(&db, &world, &conversion(1).of("ann")).unwrap();
        convert(&db, &world, &conversion(2).of("ann").says(Status::Pending)).unwrap();
        answer(&db, NOW, &claim(&db, NOW)[0], 500);
        assert_eq!(
            json(erase(&db, "ann").unwrap()),
            j!({ "erased": 1, "waiting": 1 })
        );
        assert!(entry(&db, &reward_id(2))["user_id"].is_null());
        assert_eq!(entry(&db, &reward_id(1))["attempts"][0]["body"], "answer 500");
        // It may be replayed, too, and another user's end does not end it.
        replay(&db, NOW + DAY_MS, &reward_id(1), UNDER_WAY_MS).unwrap();
        let tried = claim(&db, NOW + DAY_MS).remove(0);
        assert_eq!(
            (tried.fields.user_id.as_str(), tried.fields.c1.as_deref()),
            ("ann", Some("c-one"))
        );
        answer(&db, NOW + DAY_MS, &tried, 500);
        assert!(held(&db).contains("ann"));
        let tried = claim(&db, NOW + 2 * DAY_MS).remove(0);
        end(&db, NOW + 2 * DAY_MS, &tried);
        assert!(!held(&db).contains("ann"));
        let shown = entry(&db, &reward_id(1));
        assert_eq!(shown["attempts"].as_array().unwrap().len(), 3);
        assert!(
            shown["attempts"]
                .as_array()
                .unwrap()
                .iter()
                .all(|attempt| attempt["body"] == "")
        );
        assert_eq!(
            refusal(replay(&db, NOW, &reward_id(1), UNDER_WAY_MS)).code,
            "erased"
        );
    }
}

#[test]
fn a_conversion_of_a_forgotten_user_that_changes_is_forgotten_again() {
    let (db, world) = (outbox(), World::new());
    let says = |n: u8, status| conversion(n).of("ann").says(status);
    for n in 1..=3 {
        convert(&db, &world, &says(n, Status::Pending)).unwrap();
    }
    convert(&db, &world, &says(4, Status::Approved)).unwrap();
    send_all(&db, NOW, 200);
    assert_eq!(
        json(erase(&db, "ann").unwrap()),
        j!({ "erased": 4, "waiting": 0 })
    );
    // One comes to nothing, one stays as it is, one is paid and one taken back: these two cannot be told without it.
    convert(&db, &world, &says(1, Status::Rejected)).unwrap();
    convert(&db, &world, &says(2, Status::Pending).goal("install")).unwrap();
    assert!(!held(&db).contains("ann"));
    convert(&db, &world, &says(3, Status::Approved)).unwrap();
    convert(&db, &world, &says(4, Status::Reversed)).unwrap();
    let tries = claim(&db, NOW);
    assert_eq!(ids(&tries), [reward_id(3), reversal_id(4)]);
    assert!(tries.iter().all(|tried| tried.fields.user_id == "ann"));
    for tried in &tries {
        answer(&db, NOW, tried, 200);
    }
    assert!(!held(&db).contains("ann"));
}

#[test]
fn a_reversal_is_exact_although_its_reward_was_erased() {
    let (db, world) = delivered();
    erase(&db, "ann").unwrap();
    world.change(|offer| offer.goals[1].payout_micro_usd = 1);
    convert(&db, &world, &conversion(1).of("ann").says(Status::Reversed)).unwrap();
    let shown = entry(&db, &reversal_id(1));
    assert_eq!((&shown["payout"], &shown["value"]), (&j!(-0.75), &j!(-75)));
}

#[test]
fn attempts_are_kept_ninety_days() {
    let (db, world) = delivered();
    world.pass(DAY_MS);
    replay(&db, NOW + DAY_MS, &reward_id(1), UNDER_WAY_MS).unwrap();
    send_all(&db, NOW + DAY_MS, 200);
    let kept = || dump(&db, "attempts").len();
    sweep(&db, NOW + 90 * DAY_MS).unwrap();
    assert_eq!(kept(), 4);
    sweep(&db, NOW + 90 * DAY_MS + 1).unwrap();
    assert_eq!(kept(), 1);
    assert_eq!(
        entry(&db, &reward_id(1))["attempts"][0]["at"],
        (NOW + DAY_MS) / SECOND_MS
    );
    sweep(&db, NOW + 91 * DAY_MS + 1).unwrap();
    assert_eq!(kept(), 0);
    assert_eq!(entry(&db, &reward_id(1))["state"], "delivered");
}

#[test]
fn identifiers_are_kept_four_hundred_days_and_longer_only_by_what_waits() {
    let (db, world) = delivered();
    convert(&db, &world, &conversion(4).of("cyd").says(Status::Pending)).unwrap();
    convert(&db, &world, &conversion(5).of("dan")).unwrap();
    world.pass(DAY_MS);
    convert(&db, &world, &conversion(6).of("eve")).unwrap();
    sweep(&db, NOW + 400 * DAY_MS).unwrap();
    assert!(
        ["ann", "bob", "cyd", "dan", "eve"]
            .iter()
            .all(|user| held(&db).contains(user))
    );
    sweep(&db, NOW + 400 * DAY_MS + 1).unwrap();
    let left: Vec<_> = ["ann", "bob", "cyd", "dan", "eve"]
        .into_iter()
        .filter(|user| held(&db).contains(user))
        .collect();
    assert_eq!(left, ["dan", "eve"]);
    assert_eq!(
        refusal(replay(&db, NOW, &reward_id(1), UNDER_WAY_MS)).code,
        "erased"
    );
    // The one that waits goes out as it is, and is forgotten then; the younger one stays for its day.
    let late = NOW + 400 * DAY_MS + 2;
    let tries = claim(&db, late);
    assert_eq!(ids(&tries), [reward_id(5), reward_id(6)]);
    assert_eq!(tries[0].fields.user_id, "dan");
    tries.iter().for_each(|tried| answer(&db, late, tried, 200));
    assert!(!held(&db).contains("dan") && held(&db).contains("eve"));
    sweep(&db, NOW + 401 * DAY_MS + 1).unwrap();
    assert!(!held(&db).contains("eve"));
    // What keeps them from being paid again stays.
    assert_eq!(
        told(&db, &world, &conversion(1).of("ann")),
        Ok(("approved", true))
    );
    assert_eq!(dump(&db, "conversions").len(), 6);
}

#[test]
fn a_sweep_comes_each_night_while_anything_is_kept() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(due_ms(&db, NOW), Ok(None));
    assert_eq!(sweep(&db, NOW), Ok(None));
    convert(&db, &world, &conversion(1).says(Status::Pending)).unwrap();
    let next = UtcDay::of_ms(NOW).minus(-1).start_ms() + HOUR_MS;
    assert_eq!(due_ms(&db, NOW), Ok(Some(next)));
    assert_eq!(sweep(&db, next), Ok(Some(next + DAY_MS)));
    assert_eq!(sweep(&db, next - 1), Ok(Some(next)));
}

/// So many more entries like the first, each with an attempt, all of one time.
fn fill(db: &Sqlite, more: u32) {
    db.execute(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
        INSERT INTO entries (transaction_id, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, user_id, fields)
        SELECT 'more-' || CAST(n AS INTEGER), nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, user_id, fields
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
fn a_sweep_goes_in_steps_until_nothing_old_is_left() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    send_all(&db, NOW, 200);
    fill(&db, 12_000);
    world.now_ms.set(NOW + 300 * DAY_MS);
    world.change(|offer| offer.conversion_window_days = 90);
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
    // The next night begins where this one ended.
    assert_eq!(
        sweep(&db, later + DAY_MS).unwrap(),
        due_ms(&db, later + DAY_MS).unwrap()
    );
    assert_eq!(counts(&db), (1, 0));
}

/// What happens to a user's one conversion, in some order.
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
    fn once_a_user_was_erased_only_what_waits_names_it(
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
        world.change(|offer| offer.conversion_window_days = 90);
        // Of the entries, those that were there when the user was erased, and the reversals of their rewards.
        let mut erased = std::collections::BTreeSet::new();
        for event in events {
            world.pass(HOUR_MS);
            let now_ms = world.now_ms.get();
            match event {
                Event::Says(status) => {
                    convert(&db, &world, &conversion(1).says(status)).unwrap();
                }
                Event::Sent(status) => {
                    for tried in claim(&db, now_ms) {
                        if status == 400 {
                            abort(&db, now_ms, &tried);
                        } else {
                            answer(&db, now_ms, &tried, status);
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
                        let _ = replay(&db, now_ms, &id, UNDER_WAY_MS);
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

//! Erasure of a user, and of what is written about the user later.

use proptest::prelude::*;
use serde_json::json as j;

use super::*;
use domain::model::time::HOUR_MS;
use origin::objects::outbox::{callbacks::replay::replay, erasure::erase, retention::sweep};

/// All rows as text.
fn dump_all(db: &Sqlite) -> String {
    let tables = ["entries", "attempts", "conversions", "reservations"];
    tables.map(|table| format!("{:?}", dump(db, table))).concat()
}

fn fields(db: &Sqlite, id: &str) -> Json {
    let sql = "SELECT fields FROM entries WHERE transaction_id = ?";
    let row = db.query_first(sql, params![id]).unwrap().unwrap();
    serde_json::from_str(row.text(0).unwrap()).unwrap()
}
#[test]
fn erasure_removes_every_identifier_of_one_user_only() {
    let (db, _) = delivered();
    let of_bob = entry(&db, &reward_id(3));
    assert_eq!(json(erase(&db, NOW, shard(), "ann").unwrap()), j!({ "erased": 2, "waiting": 0 }));
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
    assert_eq!(json(erase(&db, NOW, shard(), "ann").unwrap()), j!({ "erased": 0, "waiting": 0 }));
    assert_eq!(json(erase(&db, NOW, shard(), "nobody").unwrap()), j!({ "erased": 0, "waiting": 0 }));
}

#[test]
fn an_erased_conversion_is_not_paid_or_sent_again() {
    let (db, world) = delivered();
    erase(&db, NOW, shard(), "ann").unwrap();
    assert_eq!(send(&db, &world, &conversion(1).user("ann")), Ok(("approved", true)));
    assert!(!dump_all(&db).contains("ann"));
    let refused = refusal(replay(&db, NOW, &reward_id(1), CLAIM_MS));
    assert_eq!((refused.status, refused.code), (409, "erased"));
    assert_eq!(replay_many(&db, NOW + 1, RewardDelivery::Delivered), 1);
    assert_eq!(ids(&claim(&db, NOW + 1)), [reward_id(3)]);
}

#[test]
fn a_waiting_callback_keeps_its_user_until_it_ends() {
    type End = fn(&Sqlite, i64, &ClaimedCallback);
    let ends: [End; 2] = [|db, at, callback| answer(db, at, callback, 200), abort];
    for end in ends {
        let (db, world) = (outbox(), World::paying_each_click());
        convert(&db, &world, &conversion(1).user("ann")).unwrap();
        convert(&db, &world, &conversion(2).user("ann").status(Status::Pending)).unwrap();
        answer(&db, NOW, &claim(&db, NOW)[0], 500);
        assert_eq!(json(erase(&db, NOW, shard(), "ann").unwrap()), j!({ "erased": 1, "waiting": 1 }));
        assert!(entry(&db, &reward_id(2))["user_id"].is_null());
        // Nobody can read the user's id, or the receiver's answers about the user.
        let shown = entry(&db, &reward_id(1));
        assert_eq!((&shown["user_id"], &shown["attempts"][0]["body"]), (&Json::Null, &j!("")));
        // A waiting callback may also be replayed, and the end of another user's callback changes nothing.
        replay(&db, NOW + DAY_MS, &reward_id(1), CLAIM_MS).unwrap();
        let callback = claim(&db, NOW + DAY_MS).remove(0);
        assert_eq!((callback.fields.user_id.as_str(), callback.fields.c1.as_deref()), ("ann", Some("c-one")));
        answer(&db, NOW + DAY_MS, &callback, 500);
        assert!(dump_all(&db).contains("ann"));
        let callback = claim(&db, NOW + 2 * DAY_MS).remove(0);
        end(&db, NOW + 2 * DAY_MS, &callback);
        assert!(!dump_all(&db).contains("ann"));
        let shown = entry(&db, &reward_id(1));
        assert_eq!(shown["attempts"].as_array().unwrap().len(), 3);
        assert!(shown["attempts"].as_array().unwrap().iter().all(|attempt| attempt["body"] == ""));
        assert_eq!(refusal(replay(&db, NOW, &reward_id(1), CLAIM_MS)).code, "erased");
    }
}

#[test]
fn a_conversion_that_changes_after_erasure_is_erased_again() {
    let (db, world) = (outbox(), World::paying_each_click());
    let postback = |n: u8, status| conversion(n).user("ann").status(status);
    for n in 1..=3 {
        convert(&db, &world, &postback(n, Status::Pending)).unwrap();
    }
    convert(&db, &world, &postback(4, Status::Approved)).unwrap();
    send_all(&db, NOW, 200);
    assert_eq!(json(erase(&db, NOW, shard(), "ann").unwrap()), j!({ "erased": 4, "waiting": 0 }));
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
    erase(&db, NOW, shard(), "ann").unwrap();
    world.change(|offer| offer.goals[0].payout_micro_usd = 1);
    convert(&db, &world, &conversion(1).user("ann").status(Status::Reversed)).unwrap();
    let shown = entry(&db, &reversal_id(1));
    assert_eq!((&shown["payout"], &shown["value"]), (&j!(-0.75), &j!(-75)));
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
        let (db, world) = (outbox(), World::paying_each_click());
        world.first(|offer| offer.conversion_window_days = 90);
        let mut is_erased = false;
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
                    erase(&db, NOW, shard(), "user-1").unwrap();
                    is_erased = true;
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
                let waits = entry["state"] == "waiting";
                prop_assert_eq!(entry["user_id"].is_null(), is_erased, "{}", entry);
                prop_assert_eq!(fields(&db, id).get("user_id").is_some(), waits || !is_erased);
            }
        }
    }
}

//! Failing writes: a sender that retries until it is answered gets one reward, one callback, and one sum for each other
//! object.

use super::{
    super::{retry_until_answered, under_every_fault},
    *,
};

/// The rows that concern money: entries with their callbacks, conversions, txns and sums.
#[derive(Debug, PartialEq)]
struct MoneyRows {
    entries: Vec<super::super::Row>,
    conversions: Vec<super::super::Row>,

    sums: Vec<super::super::Row>,
    reservations: usize,
    statuses: Vec<String>,
}

fn money_rows(db: &Sqlite, statuses: Vec<String>) -> MoneyRows {
    let rows = |sql: &str| db.query(sql, &[]).unwrap();
    MoneyRows {
        entries: rows("SELECT transaction_id, after, payout_micro_usd, delivery, fields FROM entries ORDER BY entry"),
        conversions: rows("SELECT nonce, goal, state, entry FROM conversions"),

        sums: payments(db),
        reservations: dump(db, "reservations").len(),
        statuses,
    }
}

/// Sends postbacks one after the other, retrying each until it is answered.
fn send_until_answered(db: &Sqlite, world: &World, postbacks: &[Conversion]) -> MoneyRows {
    let statuses = postbacks
        .iter()
        .map(|postback| {
            let outcome = retry_until_answered(|| match convert(db, world, postback) {
                Err(Failure::Internal(cause)) => Err(cause),
                outcome => Ok(outcome),
            });
            match outcome {
                Ok(answer) => format!("{} {}", answer.status.as_str(), answer.transaction_id),
                Err(failure) => failure.into_answer().code.to_owned(),
            }
        })
        .collect();
    money_rows(db, statuses)
}

fn assert_alike(outcomes: &[(String, MoneyRows)]) {
    for (fault, left) in outcomes {
        assert_eq!(left, &outcomes[0].1, "{fault}");
    }
}

#[test]
fn a_conversion_is_paid_once() {
    let outcomes = under_every_fault(outbox::MIGRATIONS, |db| {
        send_until_answered(db, &World::new(), &[conversion(1).txn("t"), conversion(1).txn("t")])
    });
    let fault_free = &outcomes[0].1;
    let approved = format!("approved {}", reward_id(1));
    assert_eq!(fault_free.statuses, [approved.clone(), approved]);
    assert_eq!((fault_free.entries.len(), fault_free.sums.len()), (1, 1));
    assert_alike(&outcomes);
}

#[test]
fn a_conversion_under_a_cap_is_paid_once_and_takes_one() {
    let outcomes = under_every_fault(outbox::MIGRATIONS, |db| {
        let world = World::capped(1);
        let left =
            send_until_answered(db, &world, &[conversion(1).txn("t"), conversion(1).txn("t"), conversion(2).txn("u")]);
        // One take, however often it was retried, and one claim once the alarm has freed what waits.
        assert_eq!(dump(&world.counters, "takes").len(), 1);
        for _ in 0..2 {
            world.pass(DAY_MS);
            let _ = now(txns::free_due(db, &world));
        }
        assert_eq!(dump(&world.keeper, "txns").len(), 1);
        left
    });
    let fault_free = &outcomes[0].1;
    assert_eq!(fault_free.statuses[2], "conversion_capped");
    assert_eq!((fault_free.entries.len(), fault_free.sums.len()), (2, 1));
    assert_eq!(fault_free.reservations, 0);
    assert_alike(&outcomes);
}

#[test]
fn a_reward_is_taken_back_once() {
    let outcomes = under_every_fault(outbox::MIGRATIONS, |db| {
        let statuses = [Status::Pending, Status::Approved, Status::Reversed, Status::Rejected];
        send_until_answered(db, &World::new(), &statuses.map(|status| conversion(1).status(status)))
    });
    let fault_free = &outcomes[0].1;
    assert_eq!(fault_free.entries.len(), 2);
    let paid: Vec<_> = fault_free.sums.iter().map(|row| row.integer(4).unwrap()).collect();
    assert_eq!(paid, [750_000, -750_000]);
    assert_alike(&outcomes);
}

#[test]
fn the_alarm_finishes_an_interrupted_request_once() {
    let outcomes = under_every_fault(outbox::MIGRATIONS, |db| {
        let world = World::capped(1);
        world.counters_answer.set(false);
        // The postback is answered 503 or 500, and the sender gives up.
        let _ = convert(db, &world, &conversion(1));
        world.counters_answer.set(true);
        for _ in 0..3 {
            world.pass(15_000);
            let _ = now(commit::resume_overdue(db, &world));
        }
        send_until_answered(db, &world, &[conversion(1)])
    });
    assert_eq!(outcomes[0].1.entries.len(), 1);
    for (fault, left) in &outcomes {
        // The alarm or the repetition may have paid it, so the times differ.
        assert_eq!((left.entries.len(), left.reservations), (1, 0), "{fault}");
        assert_eq!(left.statuses, outcomes[0].1.statuses, "{fault}");
        assert_eq!(left.sums, outcomes[0].1.sums, "{fault}");
    }
}

#[test]
fn a_callback_is_delivered_after_any_failed_write_and_its_reversal_follows() {
    let outcomes = under_every_fault(outbox::MIGRATIONS, |db| {
        let world = World::new();
        send_ignoring_rows(db, &world, &[conversion(1), conversion(1).status(Status::Reversed)]);
        let mut calls = vec![];
        for round in 0..6 {
            let now_ms = NOW + round * CLAIM_MS;
            let Ok(claimed) = attempts::claim(db, now_ms, MAX_IN_FLIGHT, CLAIM_MS, DEFAULT_EVENTS) else {
                continue;
            };
            for callback in claimed.callbacks {
                calls.push(callback.fields.transaction_id.clone());
                let judgement = judge_answer(&callback, now_ms, 200, None);
                let _ = attempts::conclude(db, now_ms, &callback, &attempt(now_ms, 200), &judgement);
            }
        }
        (calls, money_rows(db, vec![]))
    });
    let (calls, fault_free) = &outcomes[0].1;
    assert_eq!(*calls, [reward_id(1), reversal_id(1)]);
    for (fault, (calls, left)) in &outcomes {
        assert_eq!(left, fault_free, "{fault}");
        // At least one call each, and the reversal only after its reward ended.
        let reversal = calls.iter().position(|id| *id == reversal_id(1)).unwrap();
        assert!(reversal > 0, "{fault}");
        assert!(calls[..reversal].iter().all(|id| *id == reward_id(1)), "{fault}");
        assert!(calls[reversal..].iter().all(|id| *id == reversal_id(1)), "{fault}");
    }
}

/// Like [`send_until_answered`], but reads no rows, so that later writes may fail too.
fn send_ignoring_rows(db: &Sqlite, world: &World, postbacks: &[Conversion]) {
    for postback in postbacks {
        retry_until_answered(|| convert(db, world, postback));
    }
}

#[test]
fn a_user_is_erased_after_any_failed_write() {
    let outcomes = under_every_fault(outbox::MIGRATIONS, |db| {
        let world = World::new();
        send_ignoring_rows(db, &world, &[conversion(1)]);
        retry_until_answered(|| outbox::erasure::erase(db, NOW, shard(), "user-1"));
        for round in 0..4 {
            let now_ms = NOW + round * CLAIM_MS;
            for callback in
                attempts::claim(db, now_ms, MAX_IN_FLIGHT, CLAIM_MS, DEFAULT_EVENTS).unwrap_or_default().callbacks
            {
                let judgement = judge_answer(&callback, now_ms, 200, None);
                let _ = attempts::conclude(db, now_ms, &callback, &attempt(now_ms, 200), &judgement);
            }
        }
        let bodies = db.query("SELECT DISTINCT body FROM attempts", &[]).unwrap();
        let entries = db.query("SELECT user_id, erase, delivery, fields FROM entries", &[]).unwrap();
        (bodies, entries)
    });
    let text = format!("{:?}", outcomes[0].1);
    assert!(!text.contains("user-1") && !text.contains("c-one") && !text.contains("gaid"));
    assert_eq!(outcomes[0].1.1[0].integer(2), Ok(1));
    for (fault, left) in &outcomes {
        assert_eq!(left, &outcomes[0].1, "{fault}");
    }
}

//! Whatever write breaks, and however: who repeats what was not answered ends with one reward, one callback and one
//! sum for everyone who is told of it.

use super::{
    super::{asked_until_answered, under_every_fault},
    *,
};

/// What is left of money: each entry with its callback, each row, each sum.
#[derive(Debug, PartialEq)]
struct Left {
    entries: Vec<super::super::Row>,
    conversions: Vec<super::super::Row>,
    txns: Vec<super::super::Row>,
    sums: Vec<super::super::Row>,
    reservations: usize,
    statuses: Vec<String>,
}

fn left(db: &Sqlite, statuses: Vec<String>) -> Left {
    let rows = |sql: &str| db.query(sql, &[]).unwrap();
    Left {
        entries: rows(
            "SELECT transaction_id, after, payout_micro_usd, delivery, fields FROM entries ORDER BY entry",
        ),
        conversions: rows("SELECT nonce, goal, state, entry FROM conversions"),
        txns: dump(db, "txns"),
        sums: dump(db, "traffic"),
        reservations: dump(db, "reservations").len(),
        statuses,
    }
}

/// Sends postbacks one after the other, each until it is answered.
fn sent(db: &Sqlite, world: &World, postbacks: &[Conversion]) -> Left {
    let statuses = postbacks
        .iter()
        .map(|postback| {
            let outcome = asked_until_answered(|| match convert(db, world, postback) {
                Err(Failure::Internal(cause)) => Err(cause),
                outcome => Ok(outcome),
            });
            match outcome {
                Ok(answer) => format!("{} {}", answer.status.as_str(), answer.transaction_id),
                Err(failure) => failure.into_answer().code.to_owned(),
            }
        })
        .collect();
    left(db, statuses)
}

fn assert_alike(outcomes: &[(String, Left)]) {
    for (fault, left) in outcomes {
        assert_eq!(left, &outcomes[0].1, "{fault}");
    }
}

#[test]
fn a_conversion_is_paid_once() {
    let outcomes = under_every_fault(outbox::MIGRATIONS, |db| {
        sent(
            db,
            &World::new(),
            &[conversion(1).txn("t"), conversion(1).txn("t")],
        )
    });
    let untroubled = &outcomes[0].1;
    let approved = format!("approved {}", reward_id(1));
    assert_eq!(untroubled.statuses, [approved.clone(), approved]);
    assert_eq!((untroubled.entries.len(), untroubled.sums.len()), (1, 2));
    assert_alike(&outcomes);
}

#[test]
fn a_conversion_under_a_cap_is_paid_once_and_takes_one() {
    let outcomes = under_every_fault(outbox::MIGRATIONS, |db| {
        let world = World::capped(1);
        let left = sent(
            db,
            &world,
            &[
                conversion(1).txn("t"),
                conversion(1).txn("t"),
                conversion(2).txn("u"),
            ],
        );
        // Of the cap, one; asked for as often as it takes.
        assert_eq!(dump(&world.counters, "takes").len(), 1);
        left
    });
    let untroubled = &outcomes[0].1;
    assert_eq!(untroubled.statuses[2], "conversion_capped");
    assert_eq!((untroubled.entries.len(), untroubled.sums.len()), (2, 2));
    assert_eq!((untroubled.txns.len(), untroubled.reservations), (1, 0));
    assert_alike(&outcomes);
}

#[test]
fn a_reward_is_taken_back_once() {
    let outcomes = under_every_fault(outbox::MIGRATIONS, |db| {
        let statuses = [
            Status::Pending,
            Status::Approved,
            Status::Reversed,
            Status::Rejected,
        ];
        sent(
            db,
            &World::new(),
            &statuses.map(|status| conversion(1).says(status)),
        )
    });
    let untroubled = &outcomes[0].1;
    assert_eq!(untroubled.entries.len(), 2);
    for sum in &untroubled.sums {
        assert_eq!((sum.integer(7), sum.integer(8)), (Ok(0), Ok(0)), "{sum:?}");
    }
    assert_alike(&outcomes);
}

#[test]
fn the_alarm_finishes_what_a_request_left_once() {
    let outcomes = under_every_fault(outbox::MIGRATIONS, |db| {
        let world = World::capped(1);
        world.counters_answer.set(false);
        // It ends as unavailable or as broken; the sender gives up.
        let _ = convert(db, &world, &conversion(1));
        world.counters_answer.set(true);
        for _ in 0..3 {
            world.pass(15_000);
            let _ = now(commit::resume_overdue(db, &world));
        }
        sent(db, &world, &[conversion(1)])
    });
    assert_eq!(outcomes[0].1.entries.len(), 1);
    for (fault, left) in &outcomes {
        // By what broke it was the alarm or the repeat that paid it, at another time.
        assert_eq!((left.entries.len(), left.reservations), (1, 0), "{fault}");
        assert_eq!(left.statuses, outcomes[0].1.statuses, "{fault}");
        assert_eq!(left.sums, outcomes[0].1.sums, "{fault}");
    }
}

#[test]
fn a_callback_that_is_delivered_is_delivered_whatever_breaks_and_its_reversal_follows() {
    let outcomes = under_every_fault(outbox::MIGRATIONS, |db| {
        let world = World::new();
        sent_until_done(db, &world, &[conversion(1), conversion(1).says(Status::Reversed)]);
        let mut calls = vec![];
        for round in 0..6 {
            let now_ms = NOW + round * UNDER_WAY_MS;
            let Ok(tries) = sent::claim(db, now_ms, CONNECTIONS, UNDER_WAY_MS) else {
                continue;
            };
            for tried in tries {
                calls.push(tried.fields.transaction_id.clone());
                let judgement = judged(&tried, now_ms, 200, None);
                let _ = sent::conclude(db, now_ms, &tried, &attempt(now_ms, 200), &judgement);
            }
        }
        (calls, left(db, vec![]))
    });
    let (calls, untroubled) = &outcomes[0].1;
    assert_eq!(*calls, [reward_id(1), reversal_id(1)]);
    for (fault, (calls, left)) in &outcomes {
        assert_eq!(left, untroubled, "{fault}");
        // At least once each, the reversal never before its reward is done.
        let reversal = calls.iter().position(|id| *id == reversal_id(1)).unwrap();
        assert!(reversal > 0, "{fault}");
        assert!(calls[..reversal].iter().all(|id| *id == reward_id(1)), "{fault}");
        assert!(
            calls[reversal..].iter().all(|id| *id == reversal_id(1)),
            "{fault}"
        );
    }
}

/// The same without looking at what is left: what comes after may break, too.
fn sent_until_done(db: &Sqlite, world: &World, postbacks: &[Conversion]) {
    for postback in postbacks {
        asked_until_answered(|| convert(db, world, postback));
    }
}

#[test]
fn a_user_is_forgotten_whatever_breaks() {
    let outcomes = under_every_fault(outbox::MIGRATIONS, |db| {
        let world = World::new();
        sent_until_done(db, &world, &[conversion(1)]);
        asked_until_answered(|| outbox::retention::erase(db, "user-1"));
        for round in 0..4 {
            let now_ms = NOW + round * UNDER_WAY_MS;
            for tried in sent::claim(db, now_ms, CONNECTIONS, UNDER_WAY_MS).unwrap_or_default() {
                let judgement = judged(&tried, now_ms, 200, None);
                let _ = sent::conclude(db, now_ms, &tried, &attempt(now_ms, 200), &judgement);
            }
        }
        let bodies = db.query("SELECT DISTINCT body FROM attempts", &[]).unwrap();
        let entries = db
            .query("SELECT user_id, erase, delivery, fields FROM entries", &[])
            .unwrap();
        (bodies, entries)
    });
    let text = format!("{:?}", outcomes[0].1);
    assert!(!text.contains("user-1") && !text.contains("c-one") && !text.contains("gaid"));
    assert_eq!(outcomes[0].1.1[0].integer(2), Ok(1));
    for (fault, left) in &outcomes {
        assert_eq!(left, &outcomes[0].1, "{fault}");
    }
}

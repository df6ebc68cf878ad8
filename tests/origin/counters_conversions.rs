//! `origin::objects::counters`: conversions and reversals from outboxes in the 30-day statistics of offers.

use crate::{
    counters::{NOON, offer, send, stats, sum},
    dump, migrated, retry_until_answered,
    sqlite::Sqlite,
    under_every_fault,
};
use contract::counters::{AddConversions, Command, ConversionSum, Flush, Reply};
use domain::model::time::{DAY_MS, HOUR_MS, UtcDay};
use origin::objects::counters::{self, MIGRATIONS};

/// Offer, age of the day in days, conversions, and payout in micro-USD.
pub type Paid<'a> = (&'a str, i32, i64, i64);

pub fn paid(source: &str, number: i64, sums: &[Paid]) -> Command {
    let sum = |&(id, age, conversions, payout_micro_usd): &Paid| ConversionSum {
        day: UtcDay::of_ms(NOON).minus(age),
        offer: offer(id),
        conversions,
        payout_micro_usd,
    };
    Command::AddConversions(AddConversions {
        source: source.into(),
        after: number - 1,
        number,
        sums: sums.iter().map(sum).collect(),
        refilled_ms: 0,
    })
}

/// Sends a batch and returns whether it was applied.
fn add(db: &Sqlite, now_ms: i64, command: Command) -> bool {
    let before = dump(db, "sources");
    match send(db, now_ms, command) {
        Reply::Mark(_) => dump(db, "sources") != before,
        other => panic!("{other:?}"),
    }
}

/// Offer, conversions and payout of each.
fn figures(db: &Sqlite, now_ms: i64) -> Vec<(String, u64, i64)> {
    stats(db, now_ms)
        .into_iter()
        .map(|stats| (stats.offer.to_string(), stats.conversions, stats.payout_micro_usd))
        .collect()
}

#[test]
fn an_outboxs_batch_counts_once() {
    let db = migrated(MIGRATIONS);
    let first = paid("outbox-1", 1, &[("o", 0, 2, 500_000), ("p", 0, 1, 70_000)]);
    assert!(add(&db, NOON, first.clone()));
    assert!(!add(&db, NOON, first.clone()));
    assert!(add(&db, NOON, paid("outbox-1", 2, &[("o", 0, 1, 250_000)])));
    assert!(!add(&db, NOON, first), "a lower sequence is a repeat");
    assert!(add(&db, NOON, paid("outbox-2", 1, &[("o", 1, 1, 100_000)])), "another outbox has its own sequence");
    assert_eq!(figures(&db, NOON), [("o".into(), 4, 850_000), ("p".into(), 1, 70_000)]);
}

#[test]
fn an_isolate_and_an_outbox_with_one_name_have_separate_sequences() {
    let db = migrated(MIGRATIONS);
    let flush =
        Command::Flush(Flush { isolate: "x".into(), sequence: 9, sums: vec![sum("o", UtcDay::of_ms(NOON), 5)].into() });
    send(&db, NOON, flush.clone());
    assert!(add(&db, NOON, paid("x", 1, &[("o", 0, 1, 1)])));
    send(&db, NOON, flush);
    let [stats] = stats(&db, NOON).try_into().unwrap();
    assert_eq!((stats.clicks, stats.conversions), (5, 1));
}

#[test]
fn a_batch_of_thousands_of_sums_is_added_up_by_offer_and_day() {
    let db = migrated(MIGRATIONS);
    let name = |n: i64| format!("{:064}", n % 1_250);
    let names: Vec<_> = (0..5_000).map(name).collect();
    let sums: Vec<_> = names.iter().map(|name| (name.as_str(), 3, 1, 250_000)).collect();
    assert!(add(&db, NOON, paid("outbox-1", 1, &sums)));
    let figures = figures(&db, NOON);
    assert_eq!(figures.len(), 1_250);
    assert!(figures.iter().all(|(_, conversions, payout)| (*conversions, *payout) == (4, 1_000_000)));
}

#[test]
fn a_reversal_counts_on_its_own_day() {
    let db = migrated(MIGRATIONS);
    add(&db, NOON, paid("outbox-1", 1, &[("o", 5, 3, 750_000), ("o", 0, -1, -250_000)]));
    let per_day: Vec<_> =
        dump(&db, "daily").iter().map(|row| (row.integer(3).unwrap(), row.integer(4).unwrap())).collect();
    assert_eq!(per_day, [(3, 750_000), (-1, -250_000)]);
    assert_eq!(figures(&db, NOON), [("o".into(), 2, 500_000)]);
    let when_the_reward_is_out_of_the_figures = NOON + 25 * DAY_MS;
    assert_eq!(figures(&db, when_the_reward_is_out_of_the_figures), [("o".into(), 0, 0)]);
}

#[test]
fn statistics_are_never_negative_but_stored_sums_are() {
    let db = migrated(MIGRATIONS);
    add(&db, NOON, paid("outbox-1", 1, &[("o", 0, -2, -500_000)]));
    assert_eq!(figures(&db, NOON), [("o".into(), 0, 0)]);
    add(&db, NOON, paid("outbox-1", 2, &[("o", 0, 3, 750_000), ("p", 0, 1, 90_000)]));
    assert_eq!(figures(&db, NOON), [("o".into(), 1, 250_000), ("p".into(), 1, 90_000)]);
}

#[test]
fn a_batch_repeated_after_forty_days_is_not_applied_again() {
    let db = migrated(MIGRATIONS);
    let last = paid("outbox-1", 1, &[("o", 0, 1, 250_000)]);
    assert!(add(&db, NOON, last.clone()));
    let one_o_clock = UtcDay::of_ms(NOON).minus(-1).start_ms() + HOUR_MS;
    assert_eq!(counters::alarm_after_command(&db, NOON), Ok(Some(one_o_clock)));
    for day in 1..=40 {
        let next = counters::alarm(&db, NOON + day * DAY_MS).unwrap();
        assert_eq!(next.is_some(), day < 40, "day {day}");
    }
    let later = NOON + 40 * DAY_MS;
    assert_eq!(dump(&db, "daily"), []);
    assert!(!add(&db, later, last));
    assert_eq!(dump(&db, "daily"), []);
    assert_eq!(counters::next_alarm(&db, later), Ok(None), "a source's sequence does not expire");
    assert!(add(&db, later, paid("outbox-1", 2, &[("o", -40, 1, 250_000)])));
    assert_eq!(figures(&db, later), [("o".into(), 1, 250_000)]);
}

#[test]
fn an_outbox_that_retries_gets_exact_statistics_after_any_failed_write() {
    let outcomes = under_every_fault(MIGRATIONS, |db| {
        for command in [
            paid("outbox-1", 1, &[("o", 0, 2, 500_000), ("p", 1, 1, 70_000)]),
            paid("outbox-2", 1, &[("o", 0, 1, 250_000)]),
            paid("outbox-1", 2, &[("o", 0, -1, -250_000)]),
        ] {
            retry_until_answered(|| crate::ask_counters(db, NOON, command.clone()));
        }
        (figures(db, NOON), dump(db, "sources"))
    });
    let (_, fault_free) = &outcomes[0];
    assert_eq!(fault_free.0, [("o".into(), 2, 500_000), ("p".into(), 1, 70_000)]);
    assert!(outcomes.len() > 15, "only {} faults", outcomes.len());
    for (fault, outcome) in &outcomes {
        assert_eq!(outcome, fault_free, "{fault}");
    }
}

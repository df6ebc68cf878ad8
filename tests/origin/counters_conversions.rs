//! `origin/counters`: what outboxes paid and took back, in the offers' 30-day figures.

use crate::{
    asked_until_answered,
    counters::{NOON, offer, send, stats, sum},
    dump, migrated,
    sqlite::Sqlite,
    under_every_fault,
};
use contract::counters::{AddConversions, Flush};
use contract::{
    counters::{Command, ConversionSum, Reply},
    operation::Applied,
};
use domain::model::{
    AppId, Country,
    time::{DAY_MS, HOUR_MS, UtcDay},
};
use origin::{
    batches::{self, Batch, BatchRow},
    counters::{self, MIGRATIONS},
};

/// Offer, day's age at noon, conversions, payout in micro-USD.
pub type Paid<'a> = (&'a str, i32, i64, i64);

pub fn paid(source: &str, sequence: u64, sums: &[Paid]) -> Command {
    let sum = |&(id, age, conversions, payout_micro_usd): &Paid| ConversionSum {
        day: UtcDay::of_ms(NOON).minus(age),
        offer: offer(id),
        conversions,
        payout_micro_usd,
    };
    Command::AddConversions(AddConversions {
        source: source.into(),
        sequence,
        sums: sums.iter().map(sum).collect(),
    })
}

/// Whether it was applied.
fn add(db: &Sqlite, now_ms: i64, command: Command) -> bool {
    match send(db, now_ms, command) {
        Reply::Applied(Applied { applied }) => applied,
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
    assert!(!add(&db, NOON, first), "below the highest is a repeat");
    assert!(
        add(&db, NOON, paid("outbox-2", 1, &[("o", 1, 1, 100_000)])),
        "another outbox has its own numbers"
    );
    assert_eq!(
        figures(&db, NOON),
        [("o".into(), 4, 850_000), ("p".into(), 1, 70_000)]
    );
}

#[test]
fn an_isolate_and_an_outbox_of_one_name_are_two() {
    let db = migrated(MIGRATIONS);
    let flush = Command::Flush(Flush {
        isolate: "x".into(),
        sequence: 9,
        sums: vec![sum("o", UtcDay::of_ms(NOON), 5)],
    });
    assert!(add(&db, NOON, flush.clone()));
    assert!(add(&db, NOON, paid("x", 1, &[("o", 0, 1, 1)])));
    assert!(!add(&db, NOON, flush));
    let [stats] = stats(&db, NOON).try_into().unwrap();
    assert_eq!((stats.clicks, stats.conversions), (5, 1));
}

#[test]
fn a_batch_of_thousands_of_sums_is_added_whole_and_sums_of_one_offer_and_day_together() {
    let db = migrated(MIGRATIONS);
    let name = |n: i64| format!("{:064}", n % 1_250);
    let names: Vec<_> = (0..5_000).map(name).collect();
    let sums: Vec<_> = names.iter().map(|name| (name.as_str(), 3, 1, 250_000)).collect();
    assert!(add(&db, NOON, paid("outbox-1", 1, &sums)));
    let figures = figures(&db, NOON);
    assert_eq!(figures.len(), 1_250);
    assert!(
        figures
            .iter()
            .all(|(_, conversions, payout)| (*conversions, *payout) == (4, 1_000_000))
    );
}

#[test]
fn a_reversal_is_taken_back_on_its_own_day() {
    let db = migrated(MIGRATIONS);
    add(
        &db,
        NOON,
        paid("outbox-1", 1, &[("o", 5, 3, 750_000), ("o", 0, -1, -250_000)]),
    );
    let per_day: Vec<_> = dump(&db, "daily")
        .iter()
        .map(|row| (row.integer(3).unwrap(), row.integer(4).unwrap()))
        .collect();
    assert_eq!(per_day, [(3, 750_000), (-1, -250_000)]);
    assert_eq!(figures(&db, NOON), [("o".into(), 2, 500_000)]);
    let when_the_reward_is_out_of_the_figures = NOON + 25 * DAY_MS;
    assert_eq!(
        figures(&db, when_the_reward_is_out_of_the_figures),
        [("o".into(), 0, 0)]
    );
}

#[test]
fn figures_are_never_below_nothing_and_what_was_taken_back_still_counts() {
    let db = migrated(MIGRATIONS);
    add(&db, NOON, paid("outbox-1", 1, &[("o", 0, -2, -500_000)]));
    assert_eq!(figures(&db, NOON), [("o".into(), 0, 0)]);
    add(
        &db,
        NOON,
        paid("outbox-1", 2, &[("o", 0, 3, 750_000), ("p", 0, 1, 90_000)]),
    );
    assert_eq!(
        figures(&db, NOON),
        [("o".into(), 1, 250_000), ("p".into(), 1, 90_000)]
    );
}

#[test]
fn an_outbox_that_was_silent_for_forty_days_repeats_its_last_batch_in_vain() {
    let db = migrated(MIGRATIONS);
    let last = paid("outbox-1", 7, &[("o", 0, 1, 250_000)]);
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
    assert_eq!(
        counters::next_alarm(&db, later),
        Ok(None),
        "a source's number does not end"
    );
    assert!(add(&db, later, paid("outbox-1", 8, &[("o", -40, 1, 250_000)])));
    assert_eq!(figures(&db, later), [("o".into(), 1, 250_000)]);
}

#[test]
fn a_batch_of_the_book_is_read_by_the_counters() {
    let outbox = migrated(&[&[batches::sql::TABLES]]);
    let earned = BatchRow {
        destination: contract::counters::object_name(&offer("o")),
        day: UtcDay::of_ms(NOON),
        app: AppId::parse("00000042").unwrap(),
        offer: offer("o"),
        country: None,
        placement: None,
        clicks: 0,
        conversions: 3,
        revenue_micro_usd: 750_000,
    };
    let reversed = BatchRow {
        country: Country::parse("DE"),
        conversions: -1,
        revenue_micro_usd: -250_000,
        ..earned.clone()
    };
    for earned in [earned, reversed] {
        batches::add(&outbox, &earned).unwrap();
    }
    batches::prepare(&outbox, NOON).unwrap();
    let [batch] = batches::outstanding(&outbox, NOON).unwrap().try_into().unwrap();
    let command = Command::from(batch.to_counters("outbox-00000042").unwrap());
    assert_eq!(
        command,
        paid(
            "outbox-00000042",
            1,
            &[("o", 0, 3, 750_000), ("o", 0, -1, -250_000)]
        )
    );
    let db = migrated(MIGRATIONS);
    assert!(add(&db, NOON, command));
    assert_eq!(figures(&db, NOON), [("o".into(), 2, 500_000)]);
    let unreadable = Batch {
        sums: "[7]".into(),
        ..batch
    };
    assert!(unreadable.to_counters("outbox-00000042").is_err());
}

#[test]
fn whatever_write_breaks_an_outbox_that_repeats_ends_with_exact_figures() {
    let outcomes = under_every_fault(MIGRATIONS, |db| {
        for command in [
            paid("outbox-1", 1, &[("o", 0, 2, 500_000), ("p", 1, 1, 70_000)]),
            paid("outbox-2", 1, &[("o", 0, 1, 250_000)]),
            paid("outbox-1", 2, &[("o", 0, -1, -250_000)]),
        ] {
            asked_until_answered(|| counters::handle(db, NOON, command.clone()));
        }
        (figures(db, NOON), dump(db, "sources"))
    });
    let (_, untroubled) = &outcomes[0];
    assert_eq!(untroubled.0, [("o".into(), 2, 500_000), ("p".into(), 1, 70_000)]);
    assert!(outcomes.len() > 15, "only {} faults", outcomes.len());
    for (fault, outcome) in &outcomes {
        assert_eq!(outcome, untroubled, "{fault}");
    }
}

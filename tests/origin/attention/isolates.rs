//! The service page's figures of isolates and of one compared day: they are absolute, and may come twice or late.

use serde_json::{Value as Json, json};

use crate::{dump, migrated, sqlite::Sqlite};
use contract::{
    activity::{Command, Reply},
    attention::{AttentionBatch, DayRewards},
    isolates::{Figure, IsolateMetrics, ReadIsolateMetrics},
};
use domain::model::{
    AppId,
    time::{DAY_MS, HOUR_MS, UtcDay},
};
use origin::objects::activity::{MIGRATIONS, attention::isolates, handle, sweep};

/// Noon of 2026-01-15, UTC.
const NOW: i64 = 1_768_478_400_000;

fn tell(db: &Sqlite, isolate: &str, at_ms: i64, figures: &[(&str, &str, i64)]) {
    let figure = |&(figure, kind, number): &(&str, &str, i64)| Figure {
        figure: figure.to_owned(),
        kind: kind.to_owned(),
        number,
    };
    let report = IsolateMetrics { isolate: isolate.to_owned(), at_ms, figures: figures.iter().map(figure).collect() };
    handle(db, at_ms, Command::Isolate(report)).unwrap();
}

fn read(db: &Sqlite, now_ms: i64) -> Json {
    match handle(db, now_ms, Command::ReadIsolateMetrics(ReadIsolateMetrics {})) {
        Ok(Reply::Operator(reply)) => serde_json::from_str(&reply.body).unwrap(),
        other => panic!("{other:?}"),
    }
}

pub fn run_every_statement(db: &Sqlite) {
    tell(db, "a", NOW, &[(Figure::PANICS, "", 1)]);
    report(db, "1-0", 1, 1, NOW, [1, 1, 1]);
    read(db, NOW);
}

#[test]
fn figures_are_summed_over_isolates_and_the_greatest_memory_counts() {
    let db = migrated(MIGRATIONS);
    tell(&db, "a", NOW, &[(Figure::SHED, "form", 3), (Figure::MEMORY_BYTES, "", 100)]);
    tell(&db, "b", NOW + 1, &[(Figure::SHED, "form", 4), (Figure::SHED, "click", 1), (Figure::MEMORY_BYTES, "", 90)]);
    // One figure is reported again, and another arrives late.
    tell(&db, "b", NOW + 2, &[(Figure::SHED, "form", 4)]);
    tell(&db, "a", NOW - 1, &[(Figure::SHED, "form", 2)]);
    let expected = json!([
        {"figure": "memory_bytes", "number": 100, "isolates": 2, "last_ms": NOW + 1},
        {"figure": "shed", "kind": "click", "number": 1, "isolates": 1, "last_ms": NOW + 1},
        {"figure": "shed", "kind": "form", "number": 7, "isolates": 2, "last_ms": NOW + 1},
    ]);
    assert_eq!(read(&db, NOW)["isolates"], expected);
}

#[test]
fn an_isolate_without_news_is_forgotten_after_a_day_and_an_old_figure_is_not_shown() {
    let db = migrated(MIGRATIONS);
    let later = NOW + DAY_MS + 1;
    tell(&db, "gone", NOW, &[(Figure::PANICS, "", 1)]);
    tell(&db, "busy", NOW, &[(Figure::PANICS, "", 5)]);
    tell(&db, "busy", NOW + 2, &[(Figure::PANICS, "", 5), (Figure::SHED, "form", 1)]);
    assert!(sweep::sweep(&db, later).unwrap().is_some());
    // The panics of long ago do not come back as new.
    tell(&db, "busy", later, &[(Figure::PANICS, "", 5), (Figure::SHED, "form", 2)]);
    let shown = json!([{"figure": "shed", "kind": "form", "number": 2, "isolates": 1, "last_ms": later}]);
    assert_eq!(read(&db, later)["isolates"], shown);
    assert_eq!(dump(&db, "attention_figures").len(), 2);
    assert_eq!(sweep::sweep(&db, later + DAY_MS + 1), Ok(None));
}

#[test]
fn the_oldest_figures_leave_where_there_is_no_room() {
    let db = migrated(MIGRATIONS);
    for isolate in 0..5 {
        let report = IsolateMetrics {
            isolate: isolate.to_string(),
            at_ms: NOW + isolate,
            figures: vec![Figure { figure: Figure::PANICS.into(), kind: String::new(), number: 1 }],
        };
        isolates::put_isolate(&db, &report, 3).unwrap();
    }
    let kept: Vec<_> = dump(&db, "attention_figures").iter().map(|row| row.text(0).unwrap().to_owned()).collect();
    assert_eq!(kept, ["2", "3", "4"]);
}

/// The report of an outbox of an app: rewards of the day before a time, those after 24 hours, those by superseded terms.
fn report(db: &Sqlite, source: &str, app: u32, sequence: i64, at_ms: i64, numbers: [i64; 3]) {
    let [rewards, after_24_h, by_superseded_terms] = numbers;
    let report = AttentionBatch {
        source: source.to_owned(),
        app: AppId::from_number(app),
        publisher: None,
        sequence,
        before: sequence - 1,
        confirmed: 0,
        at_ms,
        owes_since_ms: None,
        next_by_ms: None,
        resets: false,
        counts: vec![],
        items: vec![],
        rewards: Some(DayRewards { day: UtcDay::of_ms(at_ms).minus(1), rewards, after_24_h, by_superseded_terms }),
    };
    handle(db, at_ms, Command::Attention(Box::new(report))).unwrap();
}

#[test]
fn only_the_newest_day_counts_and_apps_with_the_most_such_rewards_come_first() {
    let db = migrated(MIGRATIONS);
    report(&db, "1-0", 1, 1, NOW - DAY_MS, [50, 50, 50]);
    // This outbox has no rewards on the next day, and reports no more.
    report(&db, "4-0", 4, 1, NOW - DAY_MS, [7, 7, 7]);
    report(&db, "1-0", 1, 2, NOW, [10, 2, 1]);
    // The outbox repeats its report.
    report(&db, "1-0", 1, 3, NOW, [10, 2, 1]);
    report(&db, "1-1", 1, 1, NOW, [5, 0, 0]);
    report(&db, "2-0", 2, 1, NOW, [100, 0, 9]);
    report(&db, "3-0", 3, 1, NOW, [1_000, 0, 0]);
    let rewards = json!({
        "date": "2026-01-14", "rewards": 1_115, "rewards_after_24_h": 2, "rewards_by_superseded_terms": 10,
        "apps": [
            {"app_id": "00000002", "rewards": 100, "rewards_after_24_h": 0, "rewards_by_superseded_terms": 9},
            {"app_id": "00000001", "rewards": 15, "rewards_after_24_h": 2, "rewards_by_superseded_terms": 1},
        ],
    });
    assert_eq!(read(&db, NOW)["rewards"], rewards);
    // The day before is shown until the outboxes have compared yesterday.
    let midnight = NOW - NOW % DAY_MS;
    for (at_ms, date, all) in [
        (midnight, "2026-01-13", 57),
        (midnight + 2 * HOUR_MS - 1, "2026-01-13", 57),
        (midnight + 2 * HOUR_MS, "2026-01-14", 1_115),
        (midnight + DAY_MS, "2026-01-14", 1_115),
        (midnight + DAY_MS + 2 * HOUR_MS, "2026-01-15", 0),
    ] {
        let rewards = &read(&db, at_ms)["rewards"];
        assert_eq!((&rewards["date"], &rewards["rewards"]), (&json!(date), &json!(all)), "{at_ms}");
    }
    sweep::sweep(&db, NOW + 3 * DAY_MS).unwrap();
    assert!(dump(&db, "attention_rewards").is_empty());
}

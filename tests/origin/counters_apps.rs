//! `origin::objects::counters`: the clicks and conversions of offers by app.

use crate::{
    counters::{NOON, flush, offer, send, stats, sum},
    counters_conversions::{Paid, paid},
    dump, migrated, plan, retry_until_answered,
    sqlite::Sqlite,
    under_every_fault,
};
use contract::{
    counters::{AppStats, Command, Flush, STATS_APPS, STATS_PAGE, Stats},
    outbox::OutboxShard,
};
use domain::{
    model::{AppId, time::UtcDay},
    tracking::click_counts::ClickSum,
};
use origin::objects::counters::{MIGRATIONS, sql};

fn app(number: u32) -> AppId {
    AppId::from_number(number).unwrap()
}

/// Clicks of an app on offer `o` so many days ago.
fn clicks(number: u32, age: i32, clicks: u32) -> ClickSum {
    ClickSum { app: app(number), ..sum("o", UtcDay::of_ms(NOON).minus(age), clicks) }
}

/// A batch of one of the app's outboxes.
fn rewards(number: u32, outbox: u8, batch: i64, sums: &[Paid]) -> Command {
    let outbox = OutboxShard { app: app(number), number: outbox };
    paid(&outbox.object_name(), batch, sums)
}

/// The clicks, the conversions and the apps of the only offer.
fn figures(db: &Sqlite) -> (u64, u64, Vec<AppStats>) {
    let [stats] = stats(db, NOON).try_into().unwrap();
    (stats.clicks, stats.conversions, stats.apps)
}

#[test]
fn the_clicks_and_conversions_of_thirty_days_are_added_up_by_app() {
    let db = migrated(MIGRATIONS);
    let sums = vec![clicks(1, 0, 2), clicks(1, 29, 5), clicks(2, 0, 9), clicks(2, 30, 800)];
    for _ in 0..2 {
        flush(&db, NOON, "i", 1, sums.clone());
        assert_eq!(figures(&db), (16, 0, vec![(2, 9, 0), (1, 7, 0)]));
    }
    // Clicks of another publisher, country and placement.
    let other = ClickSum { country: None, placement: Some("shop".into()), ..clicks(1, 0, 1) };
    flush(&db, NOON, "i", 2, vec![other]);
    for _ in 0..2 {
        for (number, outbox, batch, sums) in [
            (1, 0, 1, [("o", 0, 3, 30), ("o", 29, 1, 10)]),
            (1, 7, 1, [("o", 0, 1, 10), ("o", 30, 90, 900)]),
            (3, 0, 1, [("o", 0, 4, 40), ("o", 0, 4, 40)]),
            (3, 0, 2, [("o", 0, -2, -20), ("o", 1, 0, 0)]),
        ] {
            send(&db, NOON, rewards(number, outbox, batch, &sums));
        }
        let apps = vec![(3, 0, 6), (1, 8, 5), (2, 9, 0)];
        assert_eq!(figures(&db), (17, 11, apps), "a repeat adds nothing");
    }
    // A source that is no outbox has no app; its reversals and those of an app are in the sum.
    send(&db, NOON, paid("unknown", 1, &[("o", 0, 100, 1)]));
    send(&db, NOON, rewards(2, 0, 1, &[("o", 0, -50, -1)]));
    assert_eq!(figures(&db), (17, 61, vec![(3, 0, 6), (1, 8, 5), (2, 9, 0)]));
}

#[test]
fn a_day_of_an_offer_stays_one_row_of_bounded_size() {
    let db = migrated(MIGRATIONS);
    for number in (0..1_000).rev() {
        send(&db, NOON, rewards(20_000_000 + number, 0, 1, &[("o", 0, 1 << 40, 1)]));
    }
    let all = (0..5_000).map(|number| clicks(20_000_000 + number, 0, u32::MAX - number));
    flush(&db, NOON, "i", 1, all.collect());
    let (all_clicks, conversions, apps) = figures(&db);
    let expected = 5_000 * u64::from(u32::MAX) - 4_999 * 5_000 / 2;
    assert_eq!((all_clicks, conversions), (expected, 1_000 << 40));
    // Apps with conversions come first, and of these the largest.
    assert_eq!(apps.len(), STATS_APPS);
    assert!(apps.is_sorted_by(|a, b| a.1 > b.1) && apps.iter().all(|app| app.2 == 1 << 40), "{apps:?}");
    let rows = dump(&db, "daily");
    assert_eq!(rows.len(), 1);
    let bytes = rows[0].text(5).unwrap().len();
    assert!(bytes < 4_000, "{bytes}");
}

#[test]
fn an_answer_with_all_apps_of_all_offers_stays_below_the_limit() {
    let db = migrated(MIGRATIONS);
    let name = |n: usize| format!("{n:064}");
    let names: Vec<_> = (0..STATS_PAGE).map(name).collect();
    for number in 0..u32::try_from(STATS_APPS).unwrap() {
        let sum =
            |name: &String| ClickSum { app: app(20_000_000 + number), offer: offer(name), ..clicks(1, 0, 100_000_000) };
        flush(&db, NOON, "i", u64::from(number) + 1, names.iter().map(sum).collect());
        let paid: Vec<Paid> = names.iter().map(|name| (name.as_str(), 0, 1_000_000, 1 << 40)).collect();
        send(&db, NOON, rewards(20_000_000 + number, 0, 1, &paid));
    }
    let today = UtcDay::of_ms(NOON);
    let answer = send(&db, NOON, Command::Stats(Stats { today, after: None }));
    let bytes = serde_json::to_string(&answer).unwrap().len();
    assert!((1_000_000..1_500_000).contains(&bytes), "{bytes}");
}

#[test]
fn apps_are_exact_after_any_failed_write() {
    let today = UtcDay::of_ms(NOON);
    let outcomes = under_every_fault(MIGRATIONS, |db| {
        for command in [
            Command::Flush(Flush {
                isolate: "i".into(),
                sequence: 1,
                sums: vec![clicks(1, 0, 2), clicks(2, 1, 3)].into(),
            }),
            rewards(1, 0, 1, &[("o", 0, 2, 9)]),
            Command::Stats(Stats { today, after: None }),
            rewards(2, 0, 1, &[("o", 1, 1, 9)]),
        ] {
            retry_until_answered(|| crate::ask_counters(db, NOON, command.clone()));
        }
        (figures(db), dump(db, "daily"))
    });
    let (_, fault_free) = &outcomes[0];
    assert_eq!(fault_free.0, (5, 3, vec![(1, 2, 2), (2, 3, 1)]));
    for (fault, outcome) in &outcomes {
        assert_eq!(outcome, fault_free, "{fault}");
    }
}

#[test]
fn apps_of_stored_sums_are_found_by_their_key() {
    let plan = plan(&migrated(MIGRATIONS), sql::APPS_OF);
    let key = "SEARCH d USING PRIMARY KEY (day=? AND offer=?)";
    assert_eq!(plan, ["SCAN p VIRTUAL TABLE INDEX 1:", key]);
}

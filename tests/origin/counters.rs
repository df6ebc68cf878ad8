//! `origin::objects::counters`: counting, statistics, retention and failed writes, by example. `counters_caps` tests caps.

use std::collections::BTreeMap;

use crate::{
    assert_only_listed_statements, counters_conversions::paid, counters_nights::Ledgers, dump, migrated, now,
    retry_until_answered, sqlite::Sqlite, told::Told, under_every_fault,
};
use contract::{
    counters::{Asker, CapKind, Command, Flush, OfferStats, ReadTaken, Reply, STATS_PAGE, SetCap, Stats, Take, Taken},
    operation::{Applied, Mark},
};
use domain::{
    model::{
        AppId, Country, OfferId, PublisherId,
        time::{DAY_MS, HOUR_MS, UtcDay},
    },
    tracking::click_counts::ClickSum,
};
use origin::{
    delivery::batches::{self, Batch, Log, positions::Positions},
    objects::counters::{
        self, MIGRATIONS, cap_alarms,
        log::{self, ClickLog},
        night, restored, sql,
    },
};
use platform::{
    database::{Database, DatabaseError, MAX_INTEGER},
    params,
};

/// 2026-01-15, 12:00 UTC.
pub const NOON: i64 = 20_468 * DAY_MS + 12 * HOUR_MS;

/// Folds all rows, as if all ledgers had them.
pub fn fold(db: &Sqlite, now_ms: i64) -> Result<(), DatabaseError> {
    let mut settled = settled();
    settled.seen = log::last(db)?;
    settled.write(db)?;
    log::fold(db, now_ms, &settled)
}

/// The positions of a log whose rows all ledgers have.
pub fn settled() -> Positions {
    let mut settled = Positions::default();
    settled.seen = MAX_INTEGER;
    settled
}

pub fn offer(id: &str) -> OfferId {
    OfferId::parse(id).unwrap()
}

pub fn send(db: &Sqlite, now_ms: i64, command: Command) -> Reply {
    crate::ask_counters(db, now_ms, command).unwrap()
}

pub fn ask_take(db: &Sqlite, now_ms: i64, take: Take) -> Taken {
    match send(db, now_ms, Command::Take(take)) {
        Reply::Taken(taken) => taken,
        other => panic!("{other:?}"),
    }
}

/// How much of the conversion cap of an offer is taken today.
fn conversions_taken(db: &Sqlite, id: &str) -> u32 {
    let read = ReadTaken { offer: offer(id), day: UtcDay::of_ms(NOON) };
    match send(db, NOON, Command::ReadTaken(read)) {
        Reply::TakenOfDay(taken) => taken.conversions,
        other => panic!("{other:?}"),
    }
}

fn add_uncapped(db: &Sqlite, now_ms: i64, source: &str, day: UtcDay, conversions: u32) {
    let cap =
        SetCap { offer: offer("o"), limit: Some(6), revision: 1, day, source: source.into(), uncapped: conversions };
    send(db, now_ms, Command::SetCap(cap));
}

/// Counts may arrive in any order, and repeatedly.
#[test]
fn conversions_paid_before_a_cap_was_set_count_as_taken() {
    let db = migrated(MIGRATIONS);
    let today = UtcDay::of_ms(NOON);
    let take = |key: &str| Take { limit: 6, kind: CapKind::Conversion, ..click(key, NOON) };
    assert!(ask_take(&db, NOON, take("a")).taken);
    for (source, conversions, taken) in
        [("outbox-1", 2, 3), ("outbox-2", 1, 4), ("outbox-1", 2, 4), ("outbox-1", 3, 5), ("outbox-1", 1, 5)]
    {
        add_uncapped(&db, NOON, source, today, conversions);
        assert_eq!(conversions_taken(&db, "o"), taken, "{source} {conversions}");
    }
    assert!(ask_take(&db, NOON, take("b")).taken);
    assert!(!ask_take(&db, NOON, take("c")).taken);
    // Another day has its own cap. A day whose takes are swept is over.
    let (before, swept) = (today.minus(1), today.minus(30));
    add_uncapped(&db, NOON, "outbox-1", before, 9);
    add_uncapped(&db, NOON, "outbox-1", swept, 9);
    assert_eq!(conversions_taken(&db, "o"), 6);
    assert_eq!(dump(&db, "uncapped").len(), 3);
    counters::alarm(&db, NOON + 40 * DAY_MS).unwrap();
    assert!(dump(&db, "uncapped").is_empty());
}

#[test]
fn the_number_taken_from_a_conversion_cap_is_read_without_taking() {
    let db = migrated(MIGRATIONS);
    for (key, taken) in [("a", 1), ("b", 2), ("b", 2)] {
        let take = Take { kind: CapKind::Conversion, ..click(key, NOON) };
        ask_take(&db, NOON, take);
        assert_eq!(conversions_taken(&db, "o"), taken);
    }
    ask_take(&db, NOON, click("c", NOON));
    assert_eq!((conversions_taken(&db, "o"), conversions_taken(&db, "other")), (2, 0));
}

/// A take of a click on offer `o` by an edge that knows a cap of 3 in revision 1.
pub fn click(key: &str, now_ms: i64) -> Take {
    Take {
        kind: CapKind::Click,
        key: key.into(),
        offer: offer("o"),
        day: UtcDay::of_ms(now_ms),
        limit: 3,
        revision: 1,
        by_force: false,
        asker: None,
    }
}

pub const fn took(left: u32) -> Taken {
    Taken { taken: true, left }
}

pub const REFUSED: Taken = Taken { taken: false, left: 0 };

/// Lets a limit of clicks be known, as another isolate's take does.
pub fn set_limit(db: &Sqlite, limit: Option<u32>, revision: i64) {
    let known = params![CapKind::Click.number(), "o", limit, revision];
    db.execute(sql::LEARN_LIMIT, known).unwrap();
}

pub fn sum(offer_id: &str, day: UtcDay, clicks: u32) -> ClickSum {
    ClickSum {
        publisher: PublisherId::parse("pub").unwrap(),
        day,
        offer: offer(offer_id),
        app: AppId::parse("10000001").unwrap(),
        country: Country::parse("DE"),
        placement: None,
        clicks,
    }
}

pub fn flush(db: &Sqlite, now_ms: i64, isolate: &str, sequence: u64, sums: Vec<ClickSum>) -> bool {
    match send(db, now_ms, Command::Flush(Flush { isolate: isolate.into(), sequence, sums: sums.into() })) {
        Reply::Applied(Applied { applied }) => applied,
        other => panic!("{other:?}"),
    }
}

/// The figures of all offers, page by page.
pub fn stats(db: &Sqlite, now_ms: i64) -> Vec<OfferStats> {
    let mut all: Vec<OfferStats> = Vec::new();
    loop {
        let page = stats_after(db, now_ms, all.last().map(|last| last.offer.clone()));
        let is_last = page.len() < STATS_PAGE;
        all.extend(page);
        if is_last {
            return all;
        }
    }
}

/// The figures of the next offers after one.
fn stats_after(db: &Sqlite, now_ms: i64, after: Option<OfferId>) -> Vec<OfferStats> {
    match send(db, now_ms, Command::Stats(Stats { today: UtcDay::of_ms(now_ms), after })) {
        Reply::Stats(json) => serde_json::from_str(json.get()).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_batch_counts_once() {
    let db = migrated(MIGRATIONS);
    let today = UtcDay::of_ms(NOON);
    assert!(flush(&db, NOON, "i", 1, vec![sum("o", today, 2), sum("p", today, 5)]));
    assert!(!flush(&db, NOON, "i", 1, vec![sum("o", today, 2), sum("p", today, 5)]));
    assert!(flush(&db, NOON, "i", 4, vec![sum("o", today, 1)]));
    assert!(!flush(&db, NOON, "i", 3, vec![sum("o", today, 1)]), "a lower sequence is a repeat");
    assert!(flush(&db, NOON, "j", 1, vec![sum("o", today, 1)]), "another isolate has its own sequence");
    let clicks: Vec<_> = stats(&db, NOON).into_iter().map(|stats| (stats.offer, stats.clicks)).collect();
    assert_eq!(clicks, [(offer("o"), 4), (offer("p"), 5)]);
}

#[test]
fn clicks_are_stored_by_every_reported_dimension() {
    let db = migrated(MIGRATIONS);
    let today = UtcDay::of_ms(NOON);
    let base = sum("7", today, 1);
    let sums = vec![
        base.clone(),
        base.clone(),
        ClickSum { country: None, ..base.clone() },
        ClickSum { placement: Some("shop \"x\"".into()), ..base.clone() },
        ClickSum { day: today.minus(1), ..base.clone() },
        ClickSum { publisher: PublisherId::parse("other").unwrap(), ..base },
    ];
    flush(&db, NOON, "i", 1, sums.clone());
    flush(&db, NOON, "i", 2, sums);
    let expected = [
        (("other", 0, "DE", ""), 2),
        (("pub", 1, "DE", ""), 2),
        (("pub", 0, "", ""), 2),
        (("pub", 0, "DE", ""), 4),
        (("pub", 0, "DE", "shop \"x\""), 2),
    ];
    let expected: BTreeMap<_, _> = expected
        .into_iter()
        .map(|((publisher, age, country, placement), clicks)| {
            let key = (publisher.to_owned(), today.minus(age), country.to_owned(), placement.to_owned());
            (key, clicks)
        })
        .collect();
    assert_eq!(logged(&db), expected);
    // Folded they are the same.
    log::fold(&db, NOON, &settled()).unwrap();
    assert_eq!(dump(&db, "flushes"), []);
    assert_eq!(logged(&db), expected);
    assert!(!flush(&db, NOON, "i", 2, vec![sum("7", today, 1)]), "the mark was folded, too");
}

/// The clicks of the log by publisher, day, country and placement.
fn logged(db: &Sqlite) -> BTreeMap<(String, UtcDay, String, String), i64> {
    let mut clicks = BTreeMap::new();
    log::each(db, 0, None, &mut |sum| {
        let key = sum.key;
        let country = key.country.map_or("", Country::as_str).to_owned();
        let key = (sum.publisher, key.day, country, key.placement.unwrap_or_default());
        *clicks.entry(key).or_default() += sum.clicks;
    })
    .unwrap();
    clicks
}

#[test]
fn made_up_placements_are_bounded_for_each_app_and_day() {
    let db = migrated(MIGRATIONS);
    let today = UtcDay::of_ms(NOON);
    // A thousand different placements a second for a minute, from one isolate.
    for second in 0..60_i64 {
        let made_up = |n: u32| ClickSum { placement: Some(format!("made up {second} {n}")), ..sum("o", today, 1) };
        let now_ms = NOON + second * 1_000;
        assert!(flush(&db, now_ms, "i", u64::try_from(second).unwrap() + 1, (0..1_000).map(made_up).collect()));
    }
    let found = logged(&db);
    assert_eq!((found.len(), found.values().sum::<i64>()), (201, 60_000));
    assert_eq!(found[&("pub".to_owned(), today, "DE".to_owned(), "other".to_owned())], 59_800);
    log::fold(&db, NOON, &settled()).unwrap();
    let bytes = db.query_integer("SELECT SUM(LENGTH(image) + LENGTH(spans)) FROM folds", &[]);
    assert!(bytes.clone().unwrap().unwrap() < 20_000, "{bytes:?}");
    // A new process knows them.
    let known = ClickSum { placement: Some("made up 0 7".into()), ..sum("o", today, 1) };
    let new = ClickSum { placement: Some("new".into()), ..sum("o", today, 1) };
    flush(&db, NOON, "j", 1, vec![known, new]);
    let found = logged(&db);
    assert_eq!(found.len(), 201);
    assert_eq!(found[&("pub".to_owned(), today, "DE".to_owned(), "made up 0 7".to_owned())], 2);
}

#[test]
fn a_batch_of_thousands_of_sums_is_applied_whole() {
    let db = migrated(MIGRATIONS);
    let today = UtcDay::of_ms(NOON);
    let wide = |n: u32| ClickSum {
        publisher: PublisherId::parse(&"p".repeat(64)).unwrap(),
        offer: offer(&format!("{n:064}")),
        placement: Some("x".repeat(64)),
        ..sum("o", today, n)
    };
    assert!(flush(&db, NOON, "i", 1, (0..5_000).map(wide).collect()));
    let stats = stats(&db, NOON);
    assert_eq!(stats.len(), 5_000);
    assert_eq!(stats.iter().map(|stats| stats.clicks).sum::<u64>(), 4_999 * 5_000 / 2);
}

#[test]
fn statistics_cover_thirty_days_and_caps_only_today() {
    let db = migrated(MIGRATIONS);
    let today = UtcDay::of_ms(NOON);
    let days = [(-1, 1_000), (0, 1), (1, 10), (29, 100), (30, 2_000)];
    flush(&db, NOON, "i", 1, days.iter().map(|&(age, clicks)| sum("o", today.minus(age), clicks)).collect());
    ask_take(&db, NOON, click("a", NOON));
    ask_take(&db, NOON, click("b", NOON - DAY_MS));
    ask_take(&db, NOON, Take { kind: CapKind::Conversion, ..click("c", NOON) });
    let sums = [("o", 0, -1, -500_000), ("o", 29, 3, 2_000_000), ("o", 30, 7, 9_000_000)];
    send(&db, NOON, paid("outbox-1", 1, &sums));
    let expected = OfferStats {
        offer: offer("o"),
        clicks: 111,
        conversions: 2,
        payout_micro_usd: 1_500_000,
        clicks_taken: 1,
        conversions_taken: 1,
        apps: vec![(10_000_001, 111, 0)],
    };
    assert_eq!(stats(&db, NOON), [expected]);
}

#[test]
fn an_offer_without_clicks_today_has_whole_caps() {
    let db = migrated(MIGRATIONS);
    flush(&db, NOON, "i", 1, vec![sum("o", UtcDay::of_ms(NOON).minus(3), 4)]);
    assert_eq!(stats(&db, NOON)[0].clicks_taken, 0);
    assert_eq!(stats(&migrated(MIGRATIONS), NOON), []);
}

#[test]
fn statistics_of_300_offers_fit_in_30_kilobytes() {
    let db = migrated(MIGRATIONS);
    let sums = (0..300).map(|n| sum(&format!("offer-with-a-name-{n}"), UtcDay::of_ms(NOON), 1_000)).collect();
    flush(&db, NOON, "i", 1, sums);
    let reply = send(&db, NOON, Command::Stats(Stats { today: UtcDay::of_ms(NOON), after: None }));
    assert!(serde_json::to_string(&reply).unwrap().len() < 30_000);
}

#[test]
fn statistics_of_25000_offers_with_the_longest_ids_come_in_pages() {
    let db = migrated(MIGRATIONS);
    let id = |n: u32| format!("{n:064}");
    for (sequence, first) in (1..).zip((0..25_000).step_by(5_000)) {
        let sums = (first..first + 5_000).map(|n| sum(&id(n), UtcDay::of_ms(NOON), 1));
        flush(&db, NOON, "i", sequence, sums.collect());
    }
    let stats = stats(&db, NOON);
    let ids: Vec<_> = stats.iter().map(|stats| (stats.offer.to_string(), stats.clicks)).collect();
    assert_eq!(ids, (0..25_000).map(|n| (id(n), 1)).collect::<Vec<_>>());
}

#[test]
fn an_empty_object_sets_no_alarm() {
    let db = migrated(MIGRATIONS);
    assert_eq!(counters::next_alarm(&db, NOON), Ok(None));
    set_limit(&db, Some(9), 1);
    assert_eq!(counters::next_alarm(&db, NOON), Ok(None), "a limit does not expire");
    ask_take(&db, NOON, click("a", NOON));
    let one_o_clock = UtcDay::of_ms(NOON).minus(-1).start_ms() + HOUR_MS;
    assert_eq!(counters::next_alarm(&db, NOON), Ok(Some(one_o_clock)));
    assert_eq!(counters::next_alarm(&db, one_o_clock - 1), Ok(Some(one_o_clock)));
    assert_eq!(counters::next_alarm(&db, one_o_clock), Ok(Some(one_o_clock + DAY_MS)));
}

#[test]
fn a_day_is_swept_once() {
    let db = migrated(MIGRATIONS);
    let today = UtcDay::of_ms(NOON);
    let before = NOON - 20 * DAY_MS;
    let left_at = |now_ms| {
        counters::alarm(&db, now_ms).unwrap();
        dump(&db, "marks").len()
    };
    let fold = |sequence| {
        flush(&db, before, "i", sequence, vec![sum("o", today, 1)]);
        log::fold(&db, before, &settled()).unwrap();
    };
    fold(1);
    assert_eq!(left_at(NOON), 0);
    // Alarms that send batches come every two seconds. They do not search for expired rows again.
    fold(2);
    assert_eq!(left_at(NOON + 2_000), 1);
    assert_eq!(left_at(NOON + DAY_MS), 0);
}

#[test]
fn each_row_is_deleted_after_its_retention() {
    let db = migrated(MIGRATIONS);
    let today = UtcDay::of_ms(NOON);
    ask_take(&db, NOON, click("a", NOON));
    ask_take(&db, NOON, Take { kind: CapKind::Conversion, ..click("b", NOON) });
    flush(&db, NOON, "i", 1, vec![sum("o", today, 1)]);
    fold(&db, NOON).unwrap();
    let left_after = |days: i64| {
        let next = counters::alarm(&db, NOON + days * DAY_MS).unwrap();
        let left = ["takes", "marks", "daily", "folds"].map(|table| dump(&db, table).len());
        (left, next.is_some())
    };
    assert_eq!(left_after(1), ([2, 1, 1, 1], true));
    assert_eq!(left_after(2), ([1, 1, 1, 1], true), "a click's take expires after two days");
    assert_eq!(left_after(7), ([1, 1, 1, 1], true));
    assert_eq!(left_after(8), ([1, 0, 1, 1], true), "the isolate was silent for more than a week");
    assert_eq!(left_after(29), ([1, 0, 1, 1], true));
    assert_eq!(left_after(30), ([0, 0, 1, 1], true));
    assert_eq!(left_after(39), ([0, 0, 1, 0], true));
    assert_eq!(left_after(40), ([0; 4], false));
}

#[test]
fn one_alarm_deletes_a_bounded_number_of_rows_and_sets_the_next() {
    let db = migrated(MIGRATIONS);
    db.execute(
        "INSERT INTO takes SELECT 0, 1, 'o', value, 0 FROM
           (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 25000) SELECT value FROM n)",
        &[],
    )
    .unwrap();
    let mut left = vec![];
    for _ in 0..3 {
        left.push((counters::alarm(&db, NOON).unwrap(), dump(&db, "takes").len()));
    }
    assert_eq!(left, [(Some(NOON), 15_000), (Some(NOON), 5_000), (None, 0)]);
}

#[test]
fn a_client_that_retries_gets_exact_counts_after_any_failed_write() {
    let today = UtcDay::of_ms(NOON);
    let commands = || {
        vec![
            Command::Take(click("a", NOON)),
            Command::Take(Take { limit: 2, revision: 2, ..click("b", NOON) }),
            Command::Flush(Flush {
                isolate: "i".into(),
                sequence: 1,
                sums: vec![sum("o", today, 2), sum("p", today, 3)].into(),
            }),
            Command::Take(click("c", NOON)),
            Command::SetCap(SetCap {
                offer: offer("o"),
                limit: Some(4),
                revision: 3,
                day: today,
                source: "outbox-1".into(),
                uncapped: 2,
            }),
            Command::Take(click("c", NOON)),
            Command::Take(Take { kind: CapKind::Conversion, ..click("a", NOON) }),
            Command::Flush(Flush { isolate: "i".into(), sequence: 2, sums: vec![sum("o", today, 1)].into() }),
        ]
    };
    let outcomes = under_every_fault(MIGRATIONS, |db| {
        let answers: Vec<_> = commands()
            .into_iter()
            .filter_map(|command| {
                match retry_until_answered(|| crate::ask_counters(db, NOON, command.clone())) {
                    Reply::Taken(taken) => Some(taken),
                    // Only the first answer to a batch says that it was applied, and that answer may be lost.
                    _ => None,
                }
            })
            .collect();
        retry_until_answered(|| counters::alarm(db, NOON + 2 * DAY_MS));
        (answers, ["limits", "takes", "daily", "flushes", "uncapped"].map(|table| dump(db, table)))
    });
    let (_, fault_free) = &outcomes[0];
    assert_eq!(fault_free.0, [took(2), took(0), REFUSED, REFUSED, took(1)]);
    assert!(outcomes.len() > 40, "only {} faults", outcomes.len());
    for (fault, outcome) in &outcomes {
        assert_eq!(outcome, fault_free, "{fault}");
    }
}

#[test]
fn every_statement_is_listed_for_the_conformance_test() {
    let db = migrated(MIGRATIONS);
    set_limit(&db, Some(3), 1);
    ask_take(&db, NOON, click("a", NOON));
    flush(&db, NOON, "i", 1, vec![sum("o", UtcDay::of_ms(NOON), 1)]);
    stats(&db, NOON);
    assert_eq!(conversions_taken(&db, "o"), 0);
    add_uncapped(&db, NOON, "outbox-1", UtcDay::of_ms(NOON), 1);
    counters::alarm(&db, NOON).unwrap();
    counters::next_alarm(&db, NOON).unwrap();
    send(&db, NOON, paid("outbox-1", 1, &[("o", 0, 1, 1)]));
    log::fold(&db, NOON, &settled()).unwrap();
    flush(&db, NOON, "i", 2, vec![sum("o", UtcDay::of_ms(NOON), 1)]);
    ClickLog(&db, None).has(1).unwrap();
    let asker = Asker { source: "outbox-1".into(), known: 2, refilled_ms: 0 };
    restored::notice(&db, NOON, &restored::Noticed::default(), &asker).unwrap();
    assert_eq!(restored::restored_ms(&db), Ok(NOON));
    let take = Take { kind: CapKind::Conversion, ..click("a", NOON) };
    assert_eq!(restored::unknown(&db, &take), Ok(Some(0)));
    restored::hear(&db, NOON, &take.clone().into()).unwrap();
    let known = restored::Known { least: 9, refilled_ms: NOON };
    restored::learn(&db, &take, &known, 1).unwrap();
    for key in ["b", "c"] {
        ask_take(&db, NOON, click(key, NOON));
    }
    for (at_ms, is_down) in [(NOON, true), (NOON + HOUR_MS, false)] {
        now(cap_alarms::tell(&db, &Told::new(at_ms, is_down))).unwrap();
    }
    let is_told = async |_: &Batch| Ok(Mark { mark: MAX_INTEGER });
    let (clock, log) = (Ledgers::new(NOON), ClickLog(&db, None));
    now(batches::send(&db, &clock, "counters-1", &log, true, is_told)).unwrap();
    // The feed's other statements are tested in `attention`.
    let feed = &[origin::delivery::attention_feed::sql::GET_FEED];
    let listed = [sql::ALL, batches::sql::ALL, feed].concat();
    now(night::vouch(&db, &Ledgers::new(NOON + DAY_MS), "counters-1")).unwrap();
    assert_only_listed_statements(&db, &listed, MIGRATIONS);
}

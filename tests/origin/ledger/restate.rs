//! A restated day has exactly the sums that its sources report, whatever the ledger had before; and days become final.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::Value;

use super::{batches::batch, *};
use contract::ledger::{DayState, DaySums, OfferSum, Restate, Vouch};
use domain::model::{
    AppId, Country, OfferId,
    time::{DAY_MS, HOUR_MS},
};
use origin::objects::ledger::{
    final_days, offers,
    restate::{self, Question, ReportedDay, SourceReport},
};
use platform::{database::Database, failure::Failure, params};

const NOW_MS: i64 = 20_003 * DAY_MS;
const SOURCES: [&str; 4] = ["counters-1", "counters-2", "outbox-10000001-0", "outbox-10000002-7"];

/// What happens to a batch of a source between its log and the segments.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Applied,
    /// Its mark and its total stay, and its sums are gone.
    Lost,
    /// Its sums are there twice.
    Doubled,
}

#[derive(Clone, Debug)]
struct Sent {
    source: usize,
    day: i64,
    app: usize,
    offer: usize,
    country: Option<&'static str>,
    placement: Option<u16>,
    amount: i64,
    fate: Fate,
}

impl Sent {
    fn sum(&self) -> OfferSum {
        let is_outbox = self.source >= 2;
        // An outbox pays for its own app.
        let app = if is_outbox { self.source - 2 } else { self.app };
        OfferSum {
            day: day(self.day),
            app: AppId::parse(["10000001", "10000002"][app]).unwrap(),
            offer: OfferId::parse(["o-1", "o-2"][self.offer]).unwrap(),
            country: self.country.and_then(Country::parse),
            placement: self.placement.map(|placement| format!("place-{placement}")),
            clicks: if is_outbox { 0 } else { self.amount.unsigned_abs() },
            revenue_micro_usd: if is_outbox { self.amount } else { 0 },
        }
    }
}

fn sent() -> impl Strategy<Value = Sent> {
    let fate = prop_oneof![4 => Just(Fate::Applied), 1 => Just(Fate::Lost), 1 => Just(Fate::Doubled)];
    let placement = proptest::option::weighted(0.6, 0..300_u16);
    (
        0..SOURCES.len(),
        0..2_i64,
        0..2_usize,
        0..2_usize,
        select([None, Some("DE"), Some("US")].as_slice()),
        placement,
        -1_000_000..1_000_000_i64,
        fate,
    )
        .prop_map(|(source, day, app, offer, country, placement, amount, fate)| Sent {
            source,
            day,
            app,
            offer,
            country,
            placement,
            amount,
            fate,
        })
}

/// The rows of a day that are not 0.
fn rows_of(db: &Sqlite, of: i64) -> Rows {
    let mut rows = reported(db);
    rows.retain(|(row_day, _), sums| *row_day == day(of) && *sums != [0; 5]);
    rows
}

fn carry_out(db: &Sqlite, of: i64, is_dry_run: bool, reported: &ReportedDay) -> Result<Value, Failure> {
    let restate = Restate { day: day(of), is_dry_run };
    let done = restate::apply(db, NOW_MS, restate, reported)?;
    Ok(serde_json::from_str(&done.reply.body).unwrap())
}

/// A source's answer.
fn put(reported: &mut ReportedDay, question: &Question, part: &DaySums) {
    let mut report = SourceReport::new(question);
    report.add(part).unwrap();
    reported.put(question.source.clone(), report).unwrap();
}

/// The sources' sums of a day. Each source answers with all or none of them in one step.
fn ask(db: &Sqlite, of: i64, sent: &[Sent], is_kept: impl Fn(&str) -> bool) -> ReportedDay {
    let mut reported = ReportedDay::default();
    for question in reported.missing(db, day(of)).unwrap() {
        let Question { source, through } = &question;
        let numbered = sent.iter().zip(1..);
        let sums = numbered
            .filter(|(sent, number)| SOURCES[sent.source] == source && number <= through && sent.day == of)
            .map(|(sent, _)| sent.sum());
        let part = DaySums { sums: sums.collect(), is_kept: is_kept(source), ..DaySums::default() };
        put(&mut reported, &question, &part);
    }
    assert_eq!(reported.missing(db, day(of)).unwrap(), []);
    reported
}

/// Applies batches, each with the number of its place.
fn apply_all(db: &Sqlite, sent: &[Sent], fates: bool) {
    let mut marks = [0; SOURCES.len()];
    for (sent, number) in sent.iter().zip(1..) {
        let mut batch = batch(SOURCES[sent.source], marks[sent.source], &[sent.sum()]);
        batch.number = number;
        marks[sent.source] = number;
        let last = "SELECT COALESCE(MAX(id), 0) FROM segments";
        let before = db.query_integer(last, &[]).unwrap();
        offers::add(db, NOW_MS, &batch).unwrap();
        match sent.fate {
            Fate::Lost if fates => db.execute("DELETE FROM segments WHERE id > ?", params![before]).unwrap(),
            Fate::Doubled if fates => {
                batch.source = "lost".into();
                batch.after = 0;
                offers::add(db, NOW_MS, &batch).unwrap();
                for table in ["totals", "marks"] {
                    let delete = format!("DELETE FROM {table} WHERE source = 'lost'");
                    db.execute(&delete, &[]).unwrap();
                }
            }
            _ => {}
        }
    }
}

proptest! {
    #[test]
    fn a_restated_day_has_what_its_sources_report(
        sent in vec(sent(), 1..40),
        damages in proptest::option::of(0..40_i64),
        forgets in proptest::option::weighted(0.3, 0..SOURCES.len()),
    ) {
        let (db, right) = (ledger(), ledger());
        apply_all(&db, &sent, true);
        apply_all(&right, &sent, false);
        let mut is_damaged = false;
        if let Some(nth) = damages {
            let ids = db.query("SELECT id FROM segments WHERE day = 20000", &[]).unwrap();
            if !ids.is_empty() {
                let at = usize::try_from(nth).unwrap() % ids.len();
                let id = ids[at].integer(0).unwrap();
                db.execute("UPDATE columns SET bytes = x'07' WHERE id BETWEEN ?1 * 16 AND ?1 * 16 + 15", params![id]).unwrap();
                is_damaged = true;
            }
        }
        let forgotten = forgets.map(|source| SOURCES[source]);
        let reported = ask(&db, 0, &sent, |source| Some(source) != forgotten);
        let before = db.writes();
        let told = carry_out(&db, 0, true, &reported).unwrap();
        prop_assert_eq!(db.writes(), before, "a dry run changes nothing");
        let is_asked = told["not_kept"].as_array().unwrap().len() == 1;
        if is_asked && is_damaged {
            let refused = carry_out(&db, 0, false, &reported).unwrap_err();
            prop_assert!(matches!(refused, Failure::Refused(refusal) if refusal.code == "day_not_kept"));
            prop_assert_eq!(db.writes(), before);
            return Ok(());
        }
        let stored = if is_damaged { Rows::new() } else { rows_of(&db, 0) };
        let mut done = carry_out(&db, 0, false, &reported).unwrap();
        done["dry_run"] = true.into();
        prop_assert_eq!(done, told, "the dry run told");
        let mut expected = rows_of(&right, 0);
        if is_asked {
            // Clicks are kept if one of the counters forgot the day, and an app's revenue if one of its outboxes did.
            let keeps_clicks = forgets < Some(2);
            let app = ["", "", "10000001", "10000002"][forgets.unwrap()];
            let keys: Vec<_> = expected.keys().chain(stored.keys()).cloned().collect();
            for key in keys {
                let old = stored.get(&key).copied().unwrap_or_default();
                let row = expected.entry(key.clone()).or_default();
                if keeps_clicks {
                    row[3] = old[3];
                }
                if key.1[0] == app {
                    row[4] = old[4];
                }
            }
            expected.retain(|_, sums| *sums != [0; 5]);
        }
        prop_assert_eq!(rows_of(&db, 0), expected);
        let again = carry_out(&db, 0, false, &reported).unwrap();
        prop_assert_eq!(&again["before"], &again["after"]);
        prop_assert_eq!(&again["apps"], &serde_json::json!([]));
        if !is_asked {
            for source in SOURCES {
                let of = sent.iter().filter(|sent| SOURCES[sent.source] == source && sent.day == 0).map(Sent::sum);
                let (clicks, revenue) = of.fold((0, 0), |(clicks, revenue), sum| {
                    (clicks + i64::try_from(sum.clicks).unwrap(), revenue + sum.revenue_micro_usd)
                });
                let mark = offers::mark(&db, source).unwrap().mark;
                let vouch = Vouch { source: source.into(), day: day(0), number: mark, clicks, revenue_micro_usd: revenue };
                prop_assert!(!offers::vouch(&db, NOW_MS, &vouch).unwrap().differs(), "{} differs", source);
            }
        }
    }
}

#[test]
fn a_source_is_asked_again_for_what_arrives_meanwhile() {
    let db = ledger();
    let sums = [batches::sum(day(0), None, 3)];
    offers::add(&db, NOW_MS, &batch("counters-1", 0, &sums)).unwrap();
    let mut reported = ReportedDay::default();
    let [question] = &reported.missing(&db, day(0)).unwrap()[..] else {
        panic!("one source");
    };
    let part = DaySums { sums: sums.to_vec(), is_kept: true, ..DaySums::default() };
    put(&mut reported, question, &part);
    // A batch of another day is no reason to ask again.
    let other = [batches::sum(day(1), None, 1)];
    offers::add(&db, NOW_MS, &batch("counters-1", 1, &other)).unwrap();
    assert_eq!(reported.missing(&db, day(0)).unwrap(), []);
    offers::add(&db, NOW_MS, &batch("counters-1", 2, &sums)).unwrap();
    let asked = Question { source: "counters-1".into(), through: 3 };
    assert_eq!(reported.missing(&db, day(0)).unwrap(), [asked]);
}

#[test]
fn a_day_that_is_not_over_is_not_restated() {
    assert!(restate::check(NOW_MS, day(2)).is_ok());
    assert!(restate::check(NOW_MS, day(3)).is_err());
}

/// The state of day 0, and the reason of its open item.
fn state(db: &Sqlite) -> (&'static str, Option<String>) {
    let sql = "SELECT state FROM loads WHERE day = ?";
    let state = db.query_integer(sql, params![day(0).number()]).unwrap();
    let item = db.query_first("SELECT reason FROM attention WHERE kind = 11 AND is_open", &[]).unwrap();
    (
        state.map_or("not_loaded", |state| DayState::from_number(u8::try_from(state).unwrap()).unwrap().as_str()),
        item.map(|row| row.text(0).unwrap().to_owned()),
    )
}

/// Days become final when they are judged, which their alarm does.
fn run_until(db: &Sqlite, now_ms: i64) -> Option<i64> {
    final_days::judge(db, now_ms).unwrap();
    final_days::due_ms(db).unwrap()
}

#[test]
fn a_loaded_day_is_final_when_its_sources_have_vouched() {
    let end_ms = day(1).start_ms();
    let vouch_to = |db: &Sqlite, now_ms, number, clicks| {
        let vouch = Vouch { source: "counters-1".into(), day: day(0), number, clicks, revenue_micro_usd: 0 };
        offers::vouch(db, now_ms, &vouch).unwrap();
    };
    let vouch = |db: &Sqlite, now_ms, clicks| vouch_to(db, now_ms, 1, clicks);
    let load = |db: &Sqlite, now_ms| upload(1, &[]).replace(db, now_ms, day(0)).unwrap();
    let count = |db: &Sqlite| {
        let sums = [batches::sum(day(0), None, 3)];
        offers::add(db, end_ms, &batch("counters-1", 0, &sums)).unwrap();
    };

    // Without sources, once it is over and its last sums have arrived. Nothing to load is a load without facts.
    let db = ledger();
    load(&db, end_ms);
    let due_ms = run_until(&db, end_ms + HOUR_MS).unwrap();
    assert_eq!((due_ms, state(&db)), (end_ms + 2 * HOUR_MS, ("open", None)));
    assert_eq!(run_until(&db, due_ms), None);
    assert_eq!(state(&db), ("final", None));

    // A load before the end of a day does not complete it.
    let db = ledger();
    load(&db, end_ms - HOUR_MS);
    assert_eq!(run_until(&db, end_ms + 9 * DAY_MS), None);
    assert_eq!(state(&db), ("open", None));
    load(&db, end_ms + 9 * DAY_MS);
    run_until(&db, end_ms + 9 * DAY_MS + HOUR_MS);
    assert_eq!(state(&db), ("final", None));

    // With a source, once it has vouched; a repaired load of a final day changes nothing.
    let db = ledger();
    count(&db);
    load(&db, end_ms + 3 * HOUR_MS);
    let due_ms = run_until(&db, end_ms + 4 * HOUR_MS);
    assert_eq!((due_ms, state(&db)), (Some(end_ms + 7 * DAY_MS), ("open", None)));
    vouch(&db, end_ms + 5 * HOUR_MS, 3);
    assert_eq!(run_until(&db, end_ms + 6 * HOUR_MS), None);
    load(&db, end_ms + 7 * HOUR_MS);
    run_until(&db, end_ms + 8 * HOUR_MS);
    assert_eq!(state(&db), ("final", None));
    // Late clicks change it, so it is judged again once the source has vouched for them.
    let late = [batches::sum(day(0), None, 1)];
    offers::add(&db, end_ms + 9 * HOUR_MS, &batch("counters-1", 1, &late)).unwrap();
    run_until(&db, end_ms + 10 * HOUR_MS);
    assert_eq!(state(&db), ("open", None));
    vouch_to(&db, end_ms + 11 * HOUR_MS, 2, 4);
    run_until(&db, end_ms + 12 * HOUR_MS);
    assert_eq!(state(&db), ("final", None));

    // Unconfirmed after seven days, with an item, until the source vouches.
    for (clicks, reason) in [(None, "silent"), (Some(4), "differs")] {
        let db = ledger();
        count(&db);
        load(&db, end_ms + 3 * HOUR_MS);
        if let Some(clicks) = clicks {
            vouch(&db, end_ms + 3 * HOUR_MS, clicks);
        }
        let due_ms = run_until(&db, end_ms + 4 * HOUR_MS).unwrap();
        assert_eq!(state(&db), ("open", None));
        assert_eq!(run_until(&db, due_ms), None);
        assert_eq!(state(&db), ("final_unconfirmed", Some(reason.to_owned())));
        vouch(&db, due_ms, 3);
        run_until(&db, due_ms + HOUR_MS);
        assert_eq!(state(&db), ("final", None));
    }

    // A day that differed is confirmed when it is restated.
    let db = ledger();
    count(&db);
    load(&db, end_ms + 3 * HOUR_MS);
    vouch(&db, end_ms + 3 * HOUR_MS, 4);
    run_until(&db, end_ms + 8 * DAY_MS);
    assert_eq!(state(&db), ("final_unconfirmed", Some("differs".to_owned())));
    let mut reported = ReportedDay::default();
    for question in reported.missing(&db, day(0)).unwrap() {
        let part = DaySums { sums: vec![batches::sum(day(0), None, 4)], is_kept: true, ..DaySums::default() };
        put(&mut reported, &question, &part);
    }
    carry_out(&db, 0, false, &reported).unwrap();
    run_until(&db, end_ms + 8 * DAY_MS + HOUR_MS);
    assert_eq!(state(&db), ("final", None));

    // A day that is not loaded is never final. A source that had nothing for days is not waited for.
    let db = ledger();
    count(&db);
    vouch(&db, end_ms + HOUR_MS, 3);
    run_until(&db, end_ms + 400 * DAY_MS);
    assert_eq!(state(&db), ("not_loaded", None));
    for (idle, expected) in [(3, 0), (4, 1)] {
        let end_ms = day(idle + 1).start_ms();
        upload(2, &[]).replace(&db, end_ms, day(idle)).unwrap();
        run_until(&db, end_ms + 3 * HOUR_MS);
        let state = "SELECT state FROM loads WHERE day = ?";
        let state = db.query_integer(state, params![day(idle).number()]).unwrap();
        assert_eq!(state, Some(expected), "{idle} days later");
    }
}

//! Forwarding to the ledgers, example by example: what a batch is, when it is sent, and what becomes of it. What holds
//! whatever fails is next door.

use crate::{
    counters::{NOON, offer, send, sum},
    dump, migrated,
    sqlite::Sqlite,
};
use contract::counters::Flush;
use contract::{
    counters::Command,
    ledger::OfferSum,
    operation::{CallError, Unanswered},
};
use domain::{
    model::{
        AppId, Country, PublisherId,
        time::{HOUR_MS, SECOND_MS, UtcDay},
    },
    tracking::click_counts::ClickSum,
};
use origin::{
    batches::{self, BATCHES, Batch, COALESCE_MS, DeliveryError, LONGEST_WAIT_MS, SUMS},
    counters::{self, MIGRATIONS},
};
use platform::database::Database;

/// Tells the counters of clicks, as a new isolate.
fn count(db: &Sqlite, isolate: &str, sums: Vec<ClickSum>) {
    let isolate = isolate.into();
    send(
        db,
        NOON,
        Command::Flush(Flush {
            isolate,
            sequence: 1,
            sums,
        }),
    );
}

fn of(publisher: &str, clicks: u32) -> ClickSum {
    ClickSum {
        publisher: PublisherId::parse(publisher).unwrap(),
        ..sum("o", UtcDay::of_ms(NOON), clicks)
    }
}

/// Sums of one publisher that are all different, and as long as they get.
fn wide(publisher: &str, count: i64) -> Vec<ClickSum> {
    let sum = |n| ClickSum {
        offer: offer(&"o".repeat(64)),
        placement: Some(format!("{n:064}")),
        clicks: u32::MAX,
        ..of(publisher, 1)
    };
    (0..count).map(sum).collect()
}

fn prepared(db: &Sqlite, now_ms: i64) -> Vec<Batch> {
    batches::prepare(db, now_ms).unwrap();
    batches::outstanding(db, now_ms).unwrap()
}

fn sums(batch: &Batch) -> Vec<OfferSum> {
    serde_json::from_str(&batch.sums).unwrap()
}

/// Publisher, sequence and clicks of each.
fn outline(batches: &[Batch]) -> Vec<(&str, u64, u64)> {
    let clicks = |batch| sums(batch).iter().map(|sum| sum.clicks).sum();
    batches
        .iter()
        .map(|batch| (batch.destination.as_str(), batch.sequence, clicks(batch)))
        .collect()
}

#[test]
fn a_ledger_is_told_all_that_is_reported_of_a_click() {
    let db = migrated(MIGRATIONS);
    let today = UtcDay::of_ms(NOON);
    let told_fully = ClickSum {
        app: AppId::parse("00000042").unwrap(),
        placement: Some("shop \"x\"".into()),
        day: today.minus(1),
        ..of("pub", 3)
    };
    let bare = ClickSum {
        country: None,
        ..of("pub", 4)
    };
    count(&db, "i", vec![told_fully, bare]);
    let [batch] = prepared(&db, NOON).try_into().unwrap();
    let sum = OfferSum {
        day: today.minus(1),
        app: AppId::parse("00000042").unwrap(),
        offer: offer("o"),
        country: Country::parse("DE"),
        placement: Some("shop \"x\"".into()),
        clicks: 3,
        revenue_micro_usd: 0,
    };
    let bare = OfferSum {
        day: today,
        app: AppId::parse("10000001").unwrap(),
        country: None,
        placement: None,
        clicks: 4,
        ..sum.clone()
    };
    let command = contract::ledger::Command::AddOffers(contract::ledger::AddOffers {
        source: "counters-17".into(),
        sequence: 1,
        sums: vec![sum, bare],
    });
    assert_eq!(
        counters::publisher(&batch),
        Ok(PublisherId::parse("pub").unwrap())
    );
    assert_eq!(
        batch
            .to_ledger("counters-17")
            .map(contract::ledger::Command::from),
        Ok(command)
    );
    assert_eq!(dump(&db, "traffic"), []);
}

#[test]
fn publishers_are_kept_apart() {
    let db = migrated(MIGRATIONS);
    count(&db, "i", vec![of("a", 1), of("b", 2)]);
    let batches = prepared(&db, NOON);
    assert_eq!(outline(&batches), [("a", 1, 1), ("b", 1, 2)]);
    count(&db, "j", vec![of("a", 4), of("b", 8)]);
    batches::acknowledge(&db, &batches[1]).unwrap();
    assert_eq!(
        outline(&prepared(&db, NOON)),
        [("a", 1, 1), ("b", 2, 8)],
        "only the publisher whose ledger has confirmed goes on"
    );
}

#[test]
fn sequences_of_a_publisher_go_up_by_one_and_never_start_again() {
    let db = migrated(MIGRATIONS);
    for sequence in 1..=4 {
        count(&db, &format!("i{sequence}"), vec![of("a", 1)]);
        let batches = prepared(&db, NOON);
        assert_eq!(outline(&batches), [("a", sequence, 1)]);
        batches::acknowledge(&db, &batches[0]).unwrap();
        assert_eq!(prepared(&db, NOON), [], "all was sent");
    }
}

#[test]
fn a_batch_on_its_way_never_changes() {
    let db = migrated(MIGRATIONS);
    count(&db, "i", vec![of("a", 1)]);
    let first = prepared(&db, NOON);
    count(&db, "j", vec![of("a", 2)]);
    assert_eq!(prepared(&db, NOON), first);
    let other = Batch {
        sequence: 2,
        ..first[0].clone()
    };
    batches::acknowledge(&db, &other).unwrap();
    batches::failed(&db, &other, NOON).unwrap();
    assert_eq!(
        prepared(&db, NOON),
        first,
        "word of another batch is not about it"
    );
    batches::acknowledge(&db, &first[0]).unwrap();
    let second = prepared(&db, NOON);
    assert_eq!(outline(&second), [("a", 2, 2)]);
    batches::acknowledge(&db, &first[0]).unwrap();
    batches::failed(&db, &first[0], NOON).unwrap();
    assert_eq!(
        prepared(&db, NOON),
        second,
        "late word of the first is not about the second"
    );
}

#[test]
fn a_batch_is_bounded_and_the_rest_goes_in_the_next() {
    let db = migrated(MIGRATIONS);
    count(&db, "i", wide("a", 2 * SUMS + 1));
    let mut seen = vec![];
    for (more, expected) in [(true, SUMS), (true, SUMS), (false, 1)] {
        assert_eq!(
            batches::prepare(&db, NOON),
            Ok(more),
            "at once while there is more"
        );
        let [batch] = batches::outstanding(&db, NOON).unwrap().try_into().unwrap();
        assert!(batch.sums.len() < 500_000, "{} bytes", batch.sums.len());
        let sums = sums(&batch);
        assert_eq!(i64::try_from(sums.len()), Ok(expected));
        seen.extend(sums.into_iter().map(|sum| sum.placement));
        batches::acknowledge(&db, &batch).unwrap();
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 2_001, "each sum once");
    assert_eq!(dump(&db, "traffic"), []);
}

#[test]
fn one_alarm_begins_a_bounded_number_of_batches_and_nobody_is_left_behind() {
    let db = migrated(MIGRATIONS);
    let publisher = |n: usize| format!("p-{n:03}");
    let clicks = || (0..BATCHES + 5).map(|n| of(&publisher(n), 1)).collect();
    count(&db, "i", clicks());
    assert_eq!(batches::prepare(&db, NOON), Ok(true));
    let first = batches::outstanding(&db, NOON).unwrap();
    assert_eq!(first.len(), BATCHES);
    first
        .iter()
        .for_each(|batch| batches::acknowledge(&db, batch).unwrap());
    // The first have clicks again before the last were served.
    count(&db, "j", clicks());
    let later = NOON + SECOND_MS;
    assert_eq!(batches::prepare(&db, later), Ok(true));
    let second = batches::outstanding(&db, later).unwrap();
    let served: Vec<_> = second.iter().map(|batch| batch.destination.clone()).collect();
    for n in BATCHES..BATCHES + 5 {
        assert!(served.contains(&publisher(n)), "{} waits still", publisher(n));
    }
}

#[test]
fn publishers_whose_ledgers_are_down_take_nobodys_place() {
    let db = migrated(MIGRATIONS);
    let clicks = || (0..BATCHES + 1).map(|n| of(&format!("p-{n:03}"), 1)).collect();
    count(&db, "i", clicks());
    for batch in prepared(&db, NOON) {
        batches::failed(&db, &batch, NOON).unwrap();
    }
    count(&db, "j", clicks());
    assert_eq!(batches::prepare(&db, NOON + 1), Ok(false));
    let last = format!("p-{BATCHES:03}");
    assert_eq!(
        outline(&batches::outstanding(&db, NOON + 1).unwrap()),
        [(last.as_str(), 1, 2)]
    );
}

#[test]
fn one_alarm_begins_batches_of_a_bounded_number_of_rows() {
    let db = migrated(MIGRATIONS);
    for publisher in 0..12 {
        count(
            &db,
            &format!("i{publisher}"),
            wide(&format!("p-{publisher:02}"), SUMS),
        );
    }
    assert_eq!(batches::prepare(&db, NOON), Ok(true));
    assert_eq!(batches::outstanding(&db, NOON).unwrap().len(), 10);
}

#[test]
fn more_batches_than_one_alarm_sends_are_due_at_once() {
    let db = migrated(MIGRATIONS);
    let clicks = (0..BATCHES + 1).map(|n| of(&format!("p-{n:03}"), 1)).collect();
    count(&db, "i", clicks);
    batches::prepare(&db, NOON).unwrap();
    batches::prepare(&db, NOON + 1).unwrap();
    let batches = batches::outstanding(&db, NOON + 1).unwrap();
    assert_eq!(batches.len(), BATCHES);
    batches
        .iter()
        .for_each(|batch| batches::failed(&db, batch, NOON + 1).unwrap());
    assert_eq!(counters::next_alarm(&db, NOON + 1), Ok(Some(NOON + 1)));
    let [last] = batches::outstanding(&db, NOON + 1).unwrap().try_into().unwrap();
    assert_eq!(last.destination, format!("p-{BATCHES:03}"));
}

#[test]
fn a_batch_that_fails_waits_longer_each_time_and_the_next_begins_anew() {
    let db = migrated(MIGRATIONS);
    count(&db, "i", vec![of("a", 1)]);
    let mut now_ms = NOON;
    let walk = |seconds: &[i64], now_ms: &mut i64| {
        for wait_s in seconds {
            let [batch] = prepared(&db, *now_ms).try_into().unwrap();
            batches::failed(&db, &batch, *now_ms).unwrap();
            let due_ms = *now_ms + wait_s * SECOND_MS;
            assert_eq!(batches::due_ms(&db, *now_ms), Ok(Some(due_ms)));
            assert_eq!(prepared(&db, due_ms - 1), []);
            *now_ms = due_ms;
        }
    };
    walk(&[5, 10, 20, 40, 80, 160, 300, 300, 300], &mut now_ms);
    let [batch] = prepared(&db, now_ms).try_into().unwrap();
    assert_eq!(batch.sequence, 1);
    batches::acknowledge(&db, &batch).unwrap();
    count(&db, "j", vec![of("a", 1)]);
    walk(&[5, 10], &mut now_ms);
}

#[test]
fn what_a_ledger_refuses_is_kept_and_tried_again_at_the_longest_wait() {
    let db = migrated(MIGRATIONS);
    count(&db, "i", vec![of("a", 1)]);
    let mut now_ms = NOON;
    for _ in 0..3 {
        let [batch] = prepared(&db, now_ms).try_into().unwrap();
        assert_eq!(outline(std::slice::from_ref(&batch)), [("a", 1, 1)]);
        batches::refused(&db, &batch, now_ms).unwrap();
        assert_eq!(batches::due_ms(&db, now_ms), Ok(Some(now_ms + LONGEST_WAIT_MS)));
        now_ms += LONGEST_WAIT_MS;
    }
}

#[test]
fn only_a_refusal_is_one() {
    let answered = |status| CallError::of_answer(status, "{}".into(), None);
    for (error, is_refusal) in [
        (answered(400), true),
        (answered(404), true),
        (answered(499), true),
        (answered(500), false),
        (answered(503), false),
        (CallError::Unanswered(Unanswered::default()), false),
    ] {
        assert_eq!(batches::is_refusal(&error), is_refusal, "{error}");
        let untold = DeliveryError::from(error.clone());
        assert_eq!(matches!(untold, DeliveryError::Refused(_)), is_refusal, "{error}");
    }
}

#[test]
fn a_batch_that_cannot_be_read_concerns_no_other() {
    let db = migrated(MIGRATIONS);
    count(&db, "i", vec![of("a", 1), of("b", 2)]);
    batches::prepare(&db, NOON).unwrap();
    db.execute("UPDATE forwards SET sums = '[7]' WHERE destination = 'a'", &[])
        .unwrap();
    let batches = batches::outstanding(&db, NOON).unwrap();
    let readable: Vec<_> = batches.iter().map(|batch| batch.to_ledger("s").is_ok()).collect();
    assert_eq!(readable, [false, true]);
    let unnamed = Batch {
        destination: "no id".into(),
        ..batches[1].clone()
    };
    assert!(counters::publisher(&unnamed).is_err());
}

#[test]
fn the_object_is_woken_for_whatever_comes_first() {
    let db = migrated(MIGRATIONS);
    assert_eq!(counters::next_alarm(&db, NOON), Ok(None));
    count(&db, "i", vec![of("a", 1)]);
    let coalesced = NOON + COALESCE_MS;
    assert_eq!(counters::alarm_after_command(&db, NOON), Ok(Some(coalesced)));
    assert_eq!(counters::next_alarm(&db, NOON), Ok(Some(coalesced)));
    let [batch] = prepared(&db, coalesced).try_into().unwrap();
    batches::failed(&db, &batch, coalesced).unwrap();
    let again = coalesced + 5 * SECOND_MS;
    let sweep = UtcDay::of_ms(NOON).minus(-1).start_ms() + HOUR_MS;
    assert_eq!(counters::next_alarm(&db, coalesced), Ok(Some(again)));
    assert_eq!(
        counters::alarm_after_command(&db, coalesced),
        Ok(Some(sweep)),
        "the batch has its alarm"
    );
    count(&db, "j", vec![of("a", 1)]);
    assert_eq!(
        counters::next_alarm(&db, coalesced),
        Ok(Some(again)),
        "what waits behind a batch needs no alarm of its own"
    );
    batches::acknowledge(&db, &batch).unwrap();
    assert_eq!(
        counters::next_alarm(&db, again),
        Ok(Some(again + COALESCE_MS)),
        "and has one when the batch is through"
    );
    let [batch] = prepared(&db, again).try_into().unwrap();
    batches::acknowledge(&db, &batch).unwrap();
    assert_eq!(counters::next_alarm(&db, again), Ok(Some(sweep)));
}

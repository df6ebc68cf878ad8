//! Batches from counters to ledgers, by example: their contents, schedule and outcomes. `counters_batches_model` checks
//! them under faults.

use crate::{
    counters::{NOON, offer, send, sum},
    dump, migrated,
    sqlite::Sqlite,
};
use contract::{
    attention::Kind,
    counters::{Command, Flush},
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
use futures_util::FutureExt;
use origin::{
    delivery::{
        backoff::MAX_WAIT_MS,
        batches::{self, BATCHES, Batch, DeliveryError, SUMS, sender},
    },
    objects::counters::{self, MIGRATIONS},
};
use platform::{
    database::{Database, Row},
    traits::Clock,
};

/// Sends clicks to the counters as a new isolate.
fn count(db: &Sqlite, isolate: &str, sums: Vec<ClickSum>) {
    let isolate = isolate.into();
    send(
        db,
        NOON,
        Command::Flush(Flush {
            isolate,
            sequence: 1,
            sums: sums.into(),
        }),
    );
}

fn clicks_for(publisher: &str, clicks: u32) -> ClickSum {
    ClickSum {
        publisher: PublisherId::parse(publisher).unwrap(),
        ..sum("o", UtcDay::of_ms(NOON), clicks)
    }
}

/// Different sums of one publisher with the longest possible texts.
fn longest_sums(publisher: &str, count: i64) -> Vec<ClickSum> {
    let sum = |n| ClickSum {
        offer: offer(&"o".repeat(64)),
        placement: Some(format!("{n:064}")),
        clicks: u32::MAX,
        ..clicks_for(publisher, 1)
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

/// Publisher, sequence and clicks of each batch.
fn outline(batches: &[Batch]) -> Vec<(&str, u64, u64)> {
    let clicks = |batch| sums(batch).iter().map(|sum| sum.clicks).sum();
    batches
        .iter()
        .map(|batch| (batch.destination.as_str(), batch.sequence, clicks(batch)))
        .collect()
}

#[test]
fn a_batch_holds_every_reported_dimension() {
    let db = migrated(MIGRATIONS);
    let today = UtcDay::of_ms(NOON);
    let complete = ClickSum {
        app: AppId::parse("00000042").unwrap(),
        placement: Some("shop \"x\"".into()),
        day: today.minus(1),
        ..clicks_for("pub", 3)
    };
    let bare = ClickSum {
        country: None,
        ..clicks_for("pub", 4)
    };
    count(&db, "i", vec![complete, bare]);
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
fn each_publisher_has_its_own_batches() {
    let db = migrated(MIGRATIONS);
    count(&db, "i", vec![clicks_for("a", 1), clicks_for("b", 2)]);
    let batches = prepared(&db, NOON);
    assert_eq!(outline(&batches), [("a", 1, 1), ("b", 1, 2)]);
    count(&db, "j", vec![clicks_for("a", 4), clicks_for("b", 8)]);
    batches::acknowledge(&db, &batches[1]).unwrap();
    assert_eq!(
        outline(&prepared(&db, NOON)),
        [("a", 1, 1), ("b", 2, 8)],
        "only a publisher whose ledger confirmed gets a new batch"
    );
}

#[test]
fn sequences_of_a_publisher_increase_by_one_forever() {
    let db = migrated(MIGRATIONS);
    for sequence in 1..=4 {
        count(&db, &format!("i{sequence}"), vec![clicks_for("a", 1)]);
        let batches = prepared(&db, NOON);
        assert_eq!(outline(&batches), [("a", sequence, 1)]);
        batches::acknowledge(&db, &batches[0]).unwrap();
        assert_eq!(prepared(&db, NOON), [], "nothing waits");
    }
}

#[test]
fn a_batch_in_flight_never_changes() {
    let db = migrated(MIGRATIONS);
    count(&db, "i", vec![clicks_for("a", 1)]);
    let first = prepared(&db, NOON);
    count(&db, "j", vec![clicks_for("a", 2)]);
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
        "an answer to another batch changes nothing"
    );
    batches::acknowledge(&db, &first[0]).unwrap();
    let second = prepared(&db, NOON);
    assert_eq!(outline(&second), [("a", 2, 2)]);
    batches::acknowledge(&db, &first[0]).unwrap();
    batches::failed(&db, &first[0], NOON).unwrap();
    assert_eq!(
        prepared(&db, NOON),
        second,
        "a late answer to the first changes nothing"
    );
}

#[test]
fn a_batch_is_bounded_and_the_rest_follows() {
    let db = migrated(MIGRATIONS);
    count(&db, "i", longest_sums("a", 2 * SUMS + 1));
    let mut seen = vec![];
    for (more, expected) in [(true, SUMS), (true, SUMS), (false, 1)] {
        assert_eq!(batches::prepare(&db, NOON), Ok(more), "at once while more waits");
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
fn one_alarm_prepares_a_bounded_number_of_batches_and_starves_no_publisher() {
    let db = migrated(MIGRATIONS);
    let publisher = |n: usize| format!("p-{n:03}");
    let clicks = || (0..BATCHES + 5).map(|n| clicks_for(&publisher(n), 1)).collect();
    count(&db, "i", clicks());
    assert_eq!(batches::prepare(&db, NOON), Ok(true));
    let first = batches::outstanding(&db, NOON).unwrap();
    assert_eq!(first.len(), BATCHES);
    first
        .iter()
        .for_each(|batch| batches::acknowledge(&db, batch).unwrap());
    // The first publishers have clicks again before the last were served.
    count(&db, "j", clicks());
    let later = NOON + SECOND_MS;
    assert_eq!(batches::prepare(&db, later), Ok(true));
    let second = batches::outstanding(&db, later).unwrap();
    let served: Vec<_> = second.iter().map(|batch| batch.destination.clone()).collect();
    for n in BATCHES..BATCHES + 5 {
        assert!(served.contains(&publisher(n)), "{} still waits", publisher(n));
    }
}

#[test]
fn publishers_with_failing_ledgers_do_not_delay_others() {
    let db = migrated(MIGRATIONS);
    let clicks = || {
        (0..BATCHES + 1)
            .map(|n| clicks_for(&format!("p-{n:03}"), 1))
            .collect()
    };
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
fn one_alarm_prepares_batches_of_a_bounded_number_of_rows() {
    let db = migrated(MIGRATIONS);
    for publisher in 0..12 {
        count(
            &db,
            &format!("i{publisher}"),
            longest_sums(&format!("p-{publisher:02}"), SUMS),
        );
    }
    assert_eq!(batches::prepare(&db, NOON), Ok(true));
    assert_eq!(batches::outstanding(&db, NOON).unwrap().len(), 10);
}

#[test]
fn more_batches_than_one_alarm_sends_are_due_at_once() {
    let db = migrated(MIGRATIONS);
    let clicks = (0..BATCHES + 1)
        .map(|n| clicks_for(&format!("p-{n:03}"), 1))
        .collect();
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
fn a_failing_batch_backs_off_and_the_next_starts_without_backoff() {
    let db = migrated(MIGRATIONS);
    count(&db, "i", vec![clicks_for("a", 1)]);
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
    count(&db, "j", vec![clicks_for("a", 1)]);
    walk(&[5, 10], &mut now_ms);
}

#[test]
fn a_refused_batch_is_retried_at_the_longest_backoff() {
    let db = migrated(MIGRATIONS);
    count(&db, "i", vec![clicks_for("a", 1)]);
    let mut now_ms = NOON;
    for _ in 0..3 {
        let [batch] = prepared(&db, now_ms).try_into().unwrap();
        assert_eq!(outline(std::slice::from_ref(&batch)), [("a", 1, 1)]);
        batches::refused(&db, &batch, now_ms).unwrap();
        assert_eq!(batches::due_ms(&db, now_ms), Ok(Some(now_ms + MAX_WAIT_MS)));
        now_ms += MAX_WAIT_MS;
    }
}

#[test]
fn a_batch_is_late_after_five_attempts_without_an_answer() {
    struct At(i64);
    impl Clock for At {
        fn now_ms(&self) -> i64 {
            self.0
        }
    }
    let db = migrated(MIGRATIONS);
    count(&db, "i", vec![clicks_for("a", 1)]);
    let mut now_ms = NOON;
    let send = |now_ms, answer: Result<(), DeliveryError>| {
        let deliver = async |_: &Batch| answer.clone();
        let acknowledge = |batch: &Batch| batches::acknowledge(&db, batch);
        let clock = At(now_ms);
        let sent = sender::send(&db, &clock, "counters-1", true, deliver, acknowledge);
        sent.now_or_never().unwrap().unwrap();
        let is_open = |row: &Row| (row.integer(0).unwrap(), row.boolean(5).unwrap());
        dump(&db, "attention").iter().map(is_open).collect::<Vec<_>>()
    };
    let silence = || Err(DeliveryError::Unanswered("reset".into()));
    let late = i64::from(Kind::BatchLate.number());
    for wait_s in [5, 10, 20, 40] {
        assert_eq!(send(now_ms, silence()), []);
        now_ms += wait_s * SECOND_MS;
    }
    assert_eq!(send(now_ms, silence()), [(late, true)]);
    assert_eq!(send(now_ms + 80 * SECOND_MS, Ok(())), [(late, false)]);
}

#[test]
fn only_a_client_error_counts_as_a_refusal() {
    let answered = |status| CallError::from_answer(status, "{}".into(), None);
    for (error, is_refusal) in [
        (answered(400), true),
        (answered(404), true),
        (answered(499), true),
        (answered(500), false),
        (answered(503), false),
        (CallError::Unanswered(Unanswered::default()), false),
    ] {
        assert_eq!(
            origin::delivery::backoff::is_refusal(&error),
            is_refusal,
            "{error}"
        );
        let delivery_error = DeliveryError::from(error.clone());
        assert_eq!(
            matches!(delivery_error, DeliveryError::Refused(_)),
            is_refusal,
            "{error}"
        );
    }
}

#[test]
fn an_unreadable_batch_does_not_affect_others() {
    let db = migrated(MIGRATIONS);
    count(&db, "i", vec![clicks_for("a", 1), clicks_for("b", 2)]);
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
fn the_alarm_is_set_to_the_earliest_work() {
    let db = migrated(MIGRATIONS);
    assert_eq!(counters::next_alarm(&db, NOON), Ok(None));
    count(&db, "i", vec![clicks_for("a", 1)]);
    let coalesced = NOON + counters::COALESCE_MS;
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
    count(&db, "j", vec![clicks_for("a", 1)]);
    assert_eq!(
        counters::next_alarm(&db, coalesced),
        Ok(Some(again)),
        "sums behind a batch need no alarm of their own"
    );
    batches::acknowledge(&db, &batch).unwrap();
    assert_eq!(
        counters::next_alarm(&db, again),
        Ok(Some(again + counters::COALESCE_MS)),
        "they get one after the batch"
    );
    let [batch] = prepared(&db, again).try_into().unwrap();
    batches::acknowledge(&db, &batch).unwrap();
    assert_eq!(counters::next_alarm(&db, again), Ok(Some(sweep)));
}

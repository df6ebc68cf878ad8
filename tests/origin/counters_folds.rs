//! Folds of a counters object's log while a ledger does not answer.

use std::{cell::RefCell, collections::BTreeMap};

use contract::operation::Mark;
use domain::{
    model::{
        PublisherId,
        time::{HOUR_MS, SECOND_MS, UtcDay},
    },
    tracking::click_counts::ClickSum,
};
use origin::{
    delivery::batches::{self, Batch, DeliveryError, positions::Positions},
    objects::counters::{
        MIGRATIONS,
        log::{self, ClickLog},
    },
};
use proptest::prelude::*;

use crate::{
    counters::{NOON, flush, sum},
    counters_nights::Ledgers,
    dump, migrated, now, simulations,
    sqlite::Sqlite,
};

const PUBLISHERS: [&str; 2] = ["pub", "other"];

#[derive(Clone, Copy, Debug)]
enum Answer {
    Told,
    /// The batch is applied, and nobody hears of it.
    Lost,
    Down,
    /// The ledger is put back to nothing, and the counters object reads its mark.
    PutBack,
}

#[derive(Default)]
struct World {
    /// The mark and the clicks of each ledger.
    ledgers: RefCell<BTreeMap<String, (i64, i64)>>,
    added: BTreeMap<&'static str, i64>,
    now_ms: i64,
    flushed: u64,
}

impl World {
    fn click(&mut self, db: &Sqlite, publisher: usize, is_late: bool) {
        self.now_ms += SECOND_MS;
        self.flushed += 1;
        let day = UtcDay::of_ms(self.now_ms).minus(i32::from(is_late));
        let click = ClickSum { publisher: PublisherId::parse(PUBLISHERS[publisher]).unwrap(), ..sum("o", day, 1) };
        assert!(flush(db, self.now_ms, "i", self.flushed, vec![click]));
        *self.added.entry(PUBLISHERS[publisher]).or_default() += 1;
    }

    fn send(&mut self, db: &Sqlite, answers: [Answer; 2]) {
        self.now_ms += HOUR_MS;
        for (publisher, answer) in PUBLISHERS.into_iter().zip(answers) {
            if matches!(answer, Answer::PutBack) {
                self.ledgers.borrow_mut().remove(publisher);
                batches::learn_mark(db, self.now_ms, publisher, Mark { mark: 0 }).unwrap();
            }
        }
        let deliver = async |batch: &Batch| {
            let nth = PUBLISHERS.into_iter().position(|name| name == batch.destination).unwrap();
            let lost = || DeliveryError::Unanswered("lost".into());
            if matches!(answers[nth], Answer::Down) {
                return Err(lost());
            }
            let mut ledgers = self.ledgers.borrow_mut();
            let (mark, clicks) = ledgers.entry(batch.destination.clone()).or_default();
            if batch.after == *mark {
                *mark = batch.number;
                *clicks += batch.sums.values().map(|sum| sum.clicks).sum::<i64>();
            }
            if matches!(answers[nth], Answer::Lost) {
                return Err(lost());
            }
            Ok(Mark { mark: *mark })
        };
        let (clock, log) = (Ledgers::new(self.now_ms), ClickLog(db, None));
        // As an alarm that is due again at once.
        while now(batches::send(db, &clock, "counters-1", &log, true, deliver)).unwrap() {}
    }
}

fn answers() -> impl Strategy<Value = Answer> {
    prop_oneof![Just(Answer::Told), Just(Answer::Lost), Just(Answer::Down), Just(Answer::PutBack)]
}

proptest! {
    #![proptest_config(simulations(128))]

    #[test]
    fn a_ledger_that_does_not_answer_keeps_no_rows_and_gets_each_click_once(
        steps in proptest::collection::vec((0..2_usize, any::<bool>(), 0..4_u8, answers(), answers()), 1..40),
    ) {
        let db = migrated(MIGRATIONS);
        let mut world = World { now_ms: NOON, ..World::default() };
        for (publisher, is_late, next, one, other) in steps {
            world.click(&db, publisher, is_late);
            if next < 2 {
                world.send(&db, [one, other]);
            }
            if next == 0 {
                log::fold(&db, world.now_ms, &Positions::read(&db).unwrap()).unwrap();
                prop_assert_eq!(dump(&db, "flushes"), vec![]);
            }
        }
        for _ in 0..20 {
            world.send(&db, [Answer::Told, Answer::Told]);
        }
        for publisher in PUBLISHERS {
            let has = world.ledgers.borrow().get(publisher).map_or(0, |(_, clicks)| *clicks);
            prop_assert_eq!(has, world.added.get(publisher).copied().unwrap_or(0), "{}", publisher);
        }
    }
}

//! Nights of a counters object: it vouches for the clicks of each day to the ledgers.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    time::Duration,
};

use contract::{
    ledger::Vouched,
    operation::{CallError, Mark, ObjectAddress, Operation, Unanswered},
};
use domain::{
    conversions::log_number::first_number,
    model::{
        AppId, PublisherId,
        time::{DAY_MS, HOUR_MS, UtcDay},
    },
    tracking::click_counts::ClickSum,
};
use origin::{
    delivery::batches::{self, Batch, DeliveryError, learn_mark},
    objects::counters::{
        MIGRATIONS,
        log::{self, ClickLog},
        night,
    },
};
use platform::traits::{Clock, ObjectCall};
use serde_json::json;

use crate::{
    counters::{NOON, flush, settled, sum},
    migrated, now,
    sqlite::Sqlite,
};

/// All ledgers. They have everything that the object vouches for, except one ledger, which does not answer. They note
/// which ledger was asked for which days.
pub struct Ledgers {
    now_ms: Cell<i64>,
    asked: RefCell<BTreeMap<String, Vec<i64>>>,
    down: Cell<Option<&'static str>>,
    /// The next one that is asked sends the object back to this day.
    go_back_to: Cell<Option<UtcDay>>,
}

impl Ledgers {
    pub fn new(now_ms: i64) -> Self {
        Self {
            now_ms: Cell::new(now_ms),
            asked: RefCell::default(),
            down: Cell::new(None),
            go_back_to: Cell::new(None),
        }
    }

    /// Vouches while it is due, at most `most` times. Returns how often.
    fn vouch(&self, db: &Sqlite, most: usize) -> usize {
        for step in 0..most {
            let Some(due_ms) = night::due_ms(db, self.now_ms()).unwrap() else {
                return step;
            };
            self.now_ms.set(due_ms.max(self.now_ms()));
            now(night::vouch(db, self, "counters-1")).unwrap();
        }
        most
    }
}

impl Clock for Ledgers {
    fn now_ms(&self) -> i64 {
        self.now_ms.get()
    }
}

impl ObjectCall for Ledgers {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        if self.down.get() == Some(to.name.as_str()) {
            return Err(Unanswered::default().into());
        }
        let command = serde_json::to_value(operation.into()).unwrap();
        if command["read_register"].is_object() {
            let never = json!({ "mark": 0, "entries": [], "announced_ms": 0 });
            return Ok(serde_json::from_value(never).unwrap());
        }
        let vouch = &command["vouch"];
        let mut asked = self.asked.borrow_mut();
        let days = asked.entry(to.name.clone()).or_default();
        days.push(vouch["day"].as_i64().unwrap());
        let vouched = Vouched {
            mark: vouch["number"].as_i64().unwrap(),
            missing_clicks: 0,
            missing_micro_usd: 0,
            go_back_to: self.go_back_to.take(),
        };
        Ok(serde_json::from_value(json!(vouched)).unwrap())
    }
}

/// Takes clicks of publishers at noon of a day into the log, and gives them to their ledgers.
fn clicked(db: &Sqlite, noon_ms: i64, publishers: u64, apps: u64) {
    let day = UtcDay::of_ms(noon_ms);
    let sums = (0..publishers).flat_map(|publisher| {
        (0..apps).map(move |app| ClickSum {
            publisher: PublisherId::parse(&format!("pub-{publisher}")).unwrap(),
            app: AppId::parse(&format!("1000000{app}")).unwrap(),
            ..sum("o", day, 1)
        })
    });
    let sequence = u64::try_from(day.number()).unwrap();
    assert!(flush(db, noon_ms, "i", sequence, sums.collect()));
    log::fold(db, noon_ms, &settled()).unwrap();
    let accepts = async |batch: &Batch| Ok(Mark { mark: batch.number });
    let (clock, log) = (Ledgers::new(noon_ms), ClickLog(db, None));
    while now(batches::send(db, &clock, "counters-1", &log, true, accepts)).unwrap() {}
}

/// docs/PERFORMANCE.md, "Limits at scale", adds these calls up.
#[test]
fn a_night_takes_one_call_for_each_publisher_with_clicks_whatever_its_apps() {
    let db = migrated(MIGRATIONS);
    clicked(&db, NOON, 1_000, 5);
    let ledgers = Ledgers::new(NOON + DAY_MS);
    assert_eq!(ledgers.vouch(&db, 10), 5);
    let asked = ledgers.asked.into_inner();
    assert_eq!(asked.len(), 1_000);
    assert!(asked.values().all(|days| days.len() == 1));
}

/// A ledger takes a source's word for all days up to the last, so none may be left out.
#[test]
fn a_ledger_that_does_not_answer_delays_no_other_and_is_asked_for_each_day_later() {
    let db = migrated(MIGRATIONS);
    let ledgers = Ledgers::new(NOON);
    ledgers.down.set(Some("ledger-pub-1"));
    let first = UtcDay::of_ms(NOON).number();
    for day in 0..4 {
        clicked(&db, NOON + day * DAY_MS, 3, 1);
        ledgers.now_ms.set(NOON + (day + 1) * DAY_MS);
        assert_eq!(ledgers.vouch(&db, 3), 3, "it tries again");
        let asked = ledgers.asked.borrow();
        let days: Vec<_> = (first..=first + day).collect();
        let others = ["ledger-pub-0", "ledger-pub-2"].map(|name| (name.to_owned(), days.clone()));
        assert_eq!(*asked, BTreeMap::from(others));
    }
    ledgers.down.set(None);
    ledgers.vouch(&db, 10);
    let asked = ledgers.asked.borrow();
    let days: Vec<_> = (first..first + 4).collect();
    assert!(asked.values().all(|asked| *asked == days), "{asked:?}");
    assert_eq!(night::due_ms(&db, ledgers.now_ms()), Ok(None));
}

/// Clicks of a day that a ledger lacks would make the day final without them.
#[test]
fn a_day_is_not_confirmed_while_some_of_its_clicks_have_not_arrived() {
    let db = migrated(MIGRATIONS);
    let ledgers = Ledgers::new(NOON);
    clicked(&db, NOON, 2, 1);
    // More come, and one ledger does not answer.
    let day = UtcDay::of_ms(NOON);
    let more = ["pub-0", "pub-1"]
        .map(|publisher| ClickSum { publisher: PublisherId::parse(publisher).unwrap(), ..sum("o", day, 5) });
    assert!(flush(&db, NOON + 1_000, "late", 1, more.to_vec()));
    let is_down = Cell::new(true);
    let deliver = async |batch: &Batch| {
        if is_down.get() && batch.destination == "pub-1" {
            return Err(DeliveryError::Unanswered("down".into()));
        }
        Ok(Mark { mark: batch.number })
    };
    let log = ClickLog(&db, None);
    while now(batches::send(&db, &ledgers, "counters-1", &log, true, deliver)).unwrap() {}
    ledgers.now_ms.set(NOON + DAY_MS);
    ledgers.vouch(&db, 3);
    let asked = |of: &str| ledgers.asked.borrow().get(of).cloned().unwrap_or_default();
    assert_eq!((asked("ledger-pub-0"), asked("ledger-pub-1")), (vec![day.number()], vec![]));
    is_down.set(false);
    while now(batches::send(&db, &ledgers, "counters-1", &log, true, deliver)).unwrap() {}
    ledgers.vouch(&db, 3);
    assert_eq!(asked("ledger-pub-1"), [day.number()]);
    // A ledger that is put back to before the day is asked again for that day and the day before.
    let mark = first_number(NOON - HOUR_MS);
    learn_mark(&db, ledgers.now_ms(), "pub-0", Mark { mark }).unwrap();
    while now(batches::send(&db, &ledgers, "counters-1", &log, true, deliver)).unwrap() {}
    clicked(&db, NOON + DAY_MS, 1, 1);
    ledgers.now_ms.set(NOON + 2 * DAY_MS);
    ledgers.vouch(&db, 9);
    let days = [0, -1, 0, 1].map(|more| day.number() + more);
    assert_eq!(asked("ledger-pub-0"), days);
}

/// The object vouches for all days from there on, but for none that it no longer has.
#[test]
fn a_ledger_sends_an_object_back_to_a_day() {
    let db = migrated(MIGRATIONS);
    let ledgers = Ledgers::new(NOON);
    let today = UtcDay::of_ms(NOON);
    clicked(&db, NOON, 1, 1);
    for (back_to, expected) in [(3, vec![0, -3, -2, -1, 0]), (31, vec![1])] {
        ledgers.asked.borrow_mut().clear();
        ledgers.now_ms.set(ledgers.now_ms() + DAY_MS);
        ledgers.go_back_to.set(Some(today.minus(back_to)));
        ledgers.vouch(&db, 9);
        let expected: Vec<_> = expected.into_iter().map(|more| today.number() + more).collect();
        assert_eq!(ledgers.asked.borrow()["ledger-pub-0"], expected);
    }
}

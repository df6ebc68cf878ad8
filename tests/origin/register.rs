//! A register's entries: what is applied after a restore and what is left out, and how long they are kept.

use std::{
    cell::{Cell, RefCell},
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use contract::{
    attention::Doubt,
    operation::{CallError, ObjectAddress, Operation},
    register::{RegisterEntry, address},
};
use domain::model::{
    PublisherId,
    api_error::common,
    time::{DAY_MS, SECOND_MS},
};
use origin::delivery::register::{self, Register, Restore};
use platform::{
    database::{Database, DatabaseError},
    failure::Failure,
    traits::{Clock, ObjectCall},
};

use crate::{migrated, registers::Registers, sqlite::Sqlite};

const SOURCE: &str = "ledger-acme";
const START_MS: i64 = 1_790_000_000_000;

struct World {
    db: Sqlite,
    registers: Registers,
    now_ms: Cell<i64>,
    begun: Cell<usize>,
    begun_ms: Cell<i64>,
    applied: RefCell<Vec<(i64, u32)>>,
}

impl Clock for World {
    fn now_ms(&self) -> i64 {
        self.now_ms.get()
    }
}

impl ObjectCall for World {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        // Others go on meanwhile.
        futures_util::pending!();
        self.registers.answer(self.now_ms(), to, operation)
    }
}

impl Restore for World {
    type Entry = u32;

    fn begin(&self, _db: &impl Database, now_ms: i64) -> Result<(), DatabaseError> {
        self.begun.set(self.begun.get() + 1);
        self.begun_ms.set(now_ms);
        Ok(())
    }

    fn begun_ms(&self, _db: &impl Database) -> Result<i64, DatabaseError> {
        Ok(self.begun_ms.get())
    }

    fn apply(&self, _db: &impl Database, at_ms: i64, entry: u32) -> Result<(), Failure> {
        if entry == 13 {
            return Err(common::NOT_FOUND.into());
        }
        self.applied.borrow_mut().push((at_ms - START_MS, entry));
        Ok(())
    }

    fn doubts(&self, _db: &impl Database, _lost: &[&u32]) -> Result<(Option<PublisherId>, Vec<Doubt>), DatabaseError> {
        Ok((None, vec![Doubt::new(SOURCE, "load_again")]))
    }
}

impl World {
    fn new() -> Self {
        Self {
            db: migrated(&[&[register::TABLES]]),
            registers: Registers::default(),
            now_ms: Cell::new(START_MS),
            begun: Cell::new(0),
            begun_ms: Cell::new(i64::MAX),
            applied: RefCell::default(),
        }
    }

    /// The register has these entries, made a millisecond apart.
    fn registered(entries: &[(i64, &str)]) -> Self {
        let world = Self::new();
        for (number, entry) in entries {
            let (number, entry) = (*number, (*entry).to_owned());
            let at_ms = START_MS + number;
            world.registers.add(SOURCE, RegisterEntry { number, at_ms, entry });
        }
        world
    }

    async fn start(&self, register: &Register) -> Result<(), Failure> {
        register.start(&self.db, self, SOURCE, self).await
    }

    fn add(&self, entries: u32) {
        for entry in 0..entries {
            register::add(&self.db, self.now_ms(), &entry).unwrap();
        }
    }

    fn numbers(&self) -> Vec<i64> {
        let rows = self.db.query("SELECT number FROM register ORDER BY number", &[]).unwrap();
        rows.iter().map(|row| row.integer(0).unwrap()).collect()
    }

    fn doubts(&self) -> Vec<(String, String)> {
        let mut doubts = self.registers.doubts();
        doubts.retain(|(_, reason)| reason == "not_made_again");
        doubts
    }
}

/// Polls until it is done.
fn run<T>(work: impl Future<Output = T>) -> T {
    let (mut work, mut context) = (pin!(work), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
            return done;
        }
    }
}

fn not_made(subject: &str) -> (String, String) {
    (format!("{SOURCE}: {subject}"), "not_made_again".to_owned())
}

#[test]
fn a_change_that_cannot_be_made_again_is_left_out_and_named() {
    let world = World::registered(&[(1, "7"), (2, r#"{"newer":1}"#), (3, "13"), (4, ""), (5, "8")]);
    run(world.start(&Register::default())).unwrap();
    assert_eq!(*world.applied.borrow(), [(1, 7), (5, 8)]);
    assert_eq!(world.numbers(), [1, 2, 3, 4, 5]);
    assert_eq!(world.doubts(), [not_made("change 2"), not_made("change 3")]);
    // The next process has nothing to do.
    run(world.start(&Register::default())).unwrap();
    assert_eq!(world.applied.borrow().len(), 2);
}

#[test]
fn entries_that_the_register_has_forgotten_are_named() {
    let world = World::registered(&[(41, "7"), (42, "8")]);
    world.add(5);
    run(world.start(&Register::default())).unwrap();
    assert_eq!(world.doubts(), [not_made("older changes")]);
    assert_eq!(world.applied.borrow().len(), 2);
}

#[test]
fn a_restore_begins_once_whoever_asks_meanwhile_and_however_much_was_lost() {
    let entries: Vec<_> = (1..=2_500).map(|number| (number, "7")).collect();
    let world = World::registered(&entries);
    let register = Register::default();
    let starts = (0..3).map(|_| world.start(&register));
    let started = run(futures_util::future::join_all(starts));
    assert!(started.iter().all(Result::is_ok));
    assert_eq!((world.begun.get(), world.applied.borrow().len()), (1, 2_500));
}

#[test]
fn an_announced_restore_begins_once_although_nothing_was_lost() {
    let world = World::registered(&[(1, "7")]);
    run(world.start(&Register::default())).unwrap();
    world.registers.announce(SOURCE, START_MS - SECOND_MS);
    run(world.start(&Register::default())).unwrap();
    // The object went back to a state before the first restore.
    world.begun_ms.set(0);
    for _ in 0..2 {
        run(world.start(&Register::default())).unwrap();
    }
    assert_eq!((world.begun.get(), world.applied.borrow().len()), (2, 1));
    assert_eq!(world.registers.doubts()[0].1, "load_again");

    for (announced_ms, noticed_ms, expected) in [(-1, 0, false), (0, 0, false), (1, 0, true), (1, 1, false)] {
        world.registers.announce("counters-1", START_MS + announced_ms);
        let noticed_ms = START_MS + noticed_ms;
        let told = register::announced::since(&world, "counters-1", noticed_ms, "counters_restored");
        assert_eq!(run(told), Ok(expected), "{announced_ms} {noticed_ms}");
    }
}

#[test]
fn each_entry_is_sent_once_whoever_waits_for_it() {
    let world = World::new();
    let register = Register::default();
    run(world.start(&register)).unwrap();
    world.add(3);
    world.registers.are_down.set(true);
    let keep = async || register.keep(&world.db, &world, SOURCE).await;
    assert!(run(keep()).is_err());
    assert!(run(register.ready(&world.db, &world, SOURCE)).is_err());
    world.registers.are_down.set(false);
    let before = world.registers.calls.get();
    let kept = run(futures_util::future::join_all([keep(), keep(), keep()]));
    assert!(kept.iter().all(Result::is_ok));
    assert_eq!(world.registers.calls.get(), before + 1);
}

#[test]
fn entries_are_kept_for_31_days() {
    let world = World::new();
    world.add(70);
    let due_ms = register::sweep_due_ms(&world.db).unwrap().unwrap();
    world.now_ms.set(due_ms - 1);
    world.add(2);
    assert_eq!(world.numbers().len(), 72);
    world.now_ms.set(due_ms);
    // An added entry deletes a few expired ones, and a sweep the rest.
    world.add(1);
    assert_eq!(world.numbers(), (65..=73).collect::<Vec<_>>());
    register::sweep(&world.db, due_ms).unwrap();
    assert_eq!(world.numbers(), [71, 72, 73]);
    // The last entry stays without its text, to show how far the register goes.
    let later_ms = due_ms + 32 * DAY_MS;
    register::sweep(&world.db, later_ms).unwrap();
    assert_eq!(world.numbers(), [73]);
    let text = world.db.query("SELECT entry FROM register", &[]).unwrap();
    assert_eq!(text[0].text(0), Ok(""));
    assert_eq!(register::sweep_due_ms(&world.db), Ok(None));
    // The entries of a real register expire in the same way.
    let entry = |number, at_ms| RegisterEntry { number, at_ms, entry: "7".into() };
    world.registers.add(SOURCE, entry(1, START_MS));
    world.registers.add(SOURCE, entry(2, START_MS + SECOND_MS));
    let at_ms = world.registers.alarm(&address(SOURCE).name, START_MS);
    assert_eq!(at_ms, Some(START_MS + 31 * DAY_MS + 1));
    world.registers.alarm(&address(SOURCE).name, START_MS + 40 * DAY_MS);
    run(world.start(&Register::default())).unwrap();
    assert_eq!(*world.applied.borrow(), []);
}

//! The alarm of an object is set while anything is left to do, whatever fails.

use std::{cell::Cell, rc::Rc};

use futures_util::{FutureExt, future::pending};
use platform::{
    database::{Database, DatabaseError, Row, Value},
    failure::Failure,
    object_shell::{FAILED_ALARM_RETRY_MS, ObjectShell},
    traits::{Clock, ObjectStorage},
};

use crate::sqlite::Sqlite;

const NOW: i64 = 1_768_478_400_000;

/// An object's storage, the number of alarms that were set, and the last one.
struct Storage {
    db: Sqlite,
    alarm_ms: Cell<Option<i64>>,
    set: Cell<usize>,
}

#[derive(Clone)]
struct Shared(Rc<Storage>);

impl Database for Shared {
    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        self.0.db.query(sql, parameters)
    }

    fn transaction<T, E: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.0.db.transaction(work)
    }
}

impl ObjectStorage for Shared {
    async fn alarm(&self) -> Result<Option<i64>, DatabaseError> {
        Ok(self.0.alarm_ms.get())
    }

    fn set_alarm(&self, at_ms: Option<i64>) -> Result<(), DatabaseError> {
        self.0.alarm_ms.set(at_ms);
        self.0.set.set(self.0.set.get() + 1);
        Ok(())
    }

    async fn sync(&self) -> Result<(), DatabaseError> {
        Ok(())
    }

    fn size(&self) -> Result<i64, DatabaseError> {
        Ok(0)
    }
}

impl Clock for Shared {
    fn now_ms(&self) -> i64 {
        NOW
    }
}

fn shell() -> (ObjectShell<Shared, Shared>, Shared) {
    let storage = Shared(Rc::new(Storage {
        db: Sqlite::in_memory(),
        alarm_ms: Cell::new(None),
        set: Cell::new(0),
    }));
    let shell = ObjectShell::new("clicks", None, storage.clone(), storage.clone(), &[]);
    (shell, storage)
}

fn run(shell: &ObjectShell<Shared, Shared>, next: Result<Option<i64>, Failure>) {
    shell.wake(async |_| next).now_or_never().unwrap();
}

#[test]
fn the_first_run_sets_an_alarm_ahead_and_later_ones_do_not() {
    let (shell, storage) = shell();
    for (next, set) in [(Some(NOW + 7), 2), (Some(NOW + 9), 3), (None, 3)] {
        run(&shell, Ok(next));
        assert_eq!(storage.0.set.get(), set);
    }
    assert_eq!(
        storage.0.alarm_ms.get(),
        Some(NOW + 9),
        "it has fired, and another was not asked for"
    );
}

#[test]
fn a_run_that_fails_or_does_not_end_is_followed_by_another() {
    let (shell, storage) = shell();
    run(&shell, Ok(Some(NOW + 7)));
    run(&shell, Err(Failure::Internal("broken".into())));
    assert_eq!(storage.0.alarm_ms.get(), Some(NOW + FAILED_ALARM_RETRY_MS));
    run(&shell, Ok(Some(NOW + 7)));
    assert!(shell.wake(async |_| pending().await).now_or_never().is_none());
    // The runtime runs it again, and may drop it if that does not end either.
    assert!(shell.wake(async |_| pending().await).now_or_never().is_none());
    assert_eq!(storage.0.alarm_ms.get(), Some(NOW + FAILED_ALARM_RETRY_MS));
}

/// The alarm that a command sets during a run replaces the one that has fired, which would otherwise fire again if the process
/// ended.
#[test]
fn a_command_during_a_run_sets_no_later_alarm_than_that_of_its_retry() {
    let (shell, storage) = shell();
    run(&shell, Ok(Some(NOW + 7)));
    let mut waits = Box::pin(shell.wake(async |_| {
        futures_util::pending!();
        Ok(Some(NOW + 50))
    }));
    assert!((&mut waits).now_or_never().is_none());
    let command = || {
        let next = |_: &Shared, _| Ok(Some(NOW + 86_400_000));
        shell
            .command(|_, _| Ok::<_, Failure>(()), next)
            .now_or_never()
            .unwrap()
    };
    command().unwrap();
    assert_eq!(storage.0.alarm_ms.get(), Some(NOW + FAILED_ALARM_RETRY_MS));
    waits.as_mut().now_or_never().unwrap();
    assert_eq!(storage.0.alarm_ms.get(), Some(NOW + 50));
    run(&shell, Ok(None));
    command().unwrap();
    assert_eq!(storage.0.alarm_ms.get(), Some(NOW + 86_400_000));
}

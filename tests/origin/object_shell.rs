//! The alarm of an object is set while any work is left, whatever fails.

use futures_util::{FutureExt, future::pending};
use platform::{
    database::{Database, DatabaseError, Row, Value},
    failure::Failure,
    object_shell::{FAILED_ALARM_RETRY_MS, ObjectShell},
    params,
    traits::Clock,
};

use crate::{dump, sqlite::Sqlite, storage::Storage};

const NOW: i64 = 1_768_478_400_000;

struct Noon;

impl Clock for Noon {
    fn now_ms(&self) -> i64 {
        NOW
    }
}

fn shell<'a>(storage: &Storage<'a>) -> ObjectShell<Storage<'a>, Noon> {
    ObjectShell::new("clicks", None, storage.clone(), Noon, &[])
}

fn run(shell: &ObjectShell<Storage<'_>, Noon>, next: Result<Option<i64>, Failure>) {
    shell.wake(async |_| next).now_or_never().unwrap();
}

#[test]
fn the_first_run_sets_an_alarm_ahead_and_later_ones_do_not() {
    let db = Sqlite::in_memory();
    let storage = Storage::new(&db);
    let shell = shell(&storage);
    for (next, set) in [(Some(NOW + 7), 2), (Some(NOW + 9), 3), (None, 3)] {
        run(&shell, Ok(next));
        assert_eq!(storage.state.alarms.get(), set);
    }
    assert_eq!(storage.state.alarm_ms.get(), Some(NOW + 9), "it has fired, and another was not asked for");
}

#[test]
fn a_run_that_fails_or_does_not_end_is_followed_by_another() {
    let db = Sqlite::in_memory();
    let storage = Storage::new(&db);
    let shell = shell(&storage);
    run(&shell, Ok(Some(NOW + 7)));
    run(&shell, Err(Failure::Internal("broken".into())));
    assert_eq!(storage.state.alarm_ms.get(), Some(NOW + FAILED_ALARM_RETRY_MS));
    run(&shell, Ok(Some(NOW + 7)));
    assert!(shell.wake(async |_| pending().await).now_or_never().is_none());
    // The runtime runs the alarm again, and may drop it if that run does not end either.
    assert!(shell.wake(async |_| pending().await).now_or_never().is_none());
    assert_eq!(storage.state.alarm_ms.get(), Some(NOW + FAILED_ALARM_RETRY_MS));
}

/// An object that was put back names an alarm in its database that the runtime does not have.
#[test]
fn an_alarm_that_is_late_when_the_object_starts_is_set_again() {
    for (late_ms, next_ms, expected) in [
        (60_000, Some(NOW + 5), (1, NOW)),
        // The due work may be work that a command does not know of.
        (60_000, None, (1, NOW)),
        // The copy is seconds old.
        (1, None, (1, NOW)),
        (0, Some(NOW + 5), (0, NOW)),
        (-5, Some(NOW + 5), (0, NOW + 5)),
    ] {
        let db = Sqlite::in_memory();
        let storage = Storage::new(&db);
        storage.state.alarm_ms.set(Some(NOW - late_ms));
        let command = shell(&storage);
        let command = command.command(|_, _| Ok::<_, Failure>(()), |_, _| Ok(next_ms));
        command.now_or_never().unwrap().unwrap();
        let alarms = (storage.state.alarms.get(), storage.state.alarm_ms.get());
        assert_eq!(alarms, (expected.0, Some(expected.1)), "{late_ms} {next_ms:?}");
    }
}

/// If a command sets the alarm during its run, that replaces the fired alarm, which would otherwise fire again if the
/// process ended.
#[test]
fn a_command_during_a_run_sets_no_later_alarm_than_that_of_its_retry() {
    let db = Sqlite::in_memory();
    let storage = Storage::new(&db);
    let shell = shell(&storage);
    run(&shell, Ok(Some(NOW + 7)));
    let mut waits = Box::pin(shell.wake(async |_| {
        futures_util::pending!();
        Ok(Some(NOW + 50))
    }));
    assert!((&mut waits).now_or_never().is_none());
    let command = || {
        let next = |_: &Storage<'_>, _| Ok(Some(NOW + 86_400_000));
        shell.command(|_, _| Ok::<_, Failure>(()), next).now_or_never().unwrap()
    };
    command().unwrap();
    assert_eq!(storage.state.alarm_ms.get(), Some(NOW + FAILED_ALARM_RETRY_MS));
    waits.as_mut().now_or_never().unwrap();
    assert_eq!(storage.state.alarm_ms.get(), Some(NOW + 50));
    run(&shell, Ok(None));
    command().unwrap();
    assert_eq!(storage.state.alarm_ms.get(), Some(NOW + 86_400_000));
}

/// A copy that `make restore` has put in place is marked until the object has taken note of it.
#[test]
fn an_object_handles_its_restore_once() {
    let db = Sqlite::in_memory();
    let storage = Storage::new(&db);
    db.mark_put_back();
    let start = |mark: fn(&Storage<'_>, i64) -> Result<(), DatabaseError>| {
        let shell = shell(&storage).when_put_back(mark);
        let ready = shell.ready().now_or_never().unwrap();
        ready.map(drop)
    };
    let note = |storage: &Storage<'_>, now_ms| storage.execute("INSERT INTO notes VALUES (?)", params![now_ms]);
    assert!(start(note).is_err(), "there is no table for it");
    db.execute("CREATE TABLE notes (at_ms INTEGER)", &[]).unwrap();
    for _ in 0..2 {
        start(note).unwrap();
        assert_eq!(dump(&db, "notes"), [Row(vec![Value::Integer(NOW)])]);
    }
}

//! An object's storage over a test's database. The test fires its alarm.

use std::{cell::Cell, rc::Rc};

use platform::{
    database::{Database, DatabaseError, Row, Value},
    traits::ObjectStorage,
};

use crate::sqlite::Sqlite;

/// A handle, which the processes of an object share.
#[derive(Clone)]
pub struct Storage<'a> {
    db: &'a Sqlite,
    pub state: Rc<State>,
}

#[derive(Default)]
pub struct State {
    pub alarm_ms: Cell<Option<i64>>,
    /// How often the alarm was set.
    pub alarms: Cell<usize>,
    pub bytes: Cell<i64>,
}

impl<'a> Storage<'a> {
    pub fn new(db: &'a Sqlite) -> Self {
        Self { db, state: Rc::default() }
    }
}

impl Database for Storage<'_> {
    fn execute(&self, sql: &str, parameters: &[Value]) -> Result<(), DatabaseError> {
        self.db.execute(sql, parameters)
    }

    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        self.db.query(sql, parameters)
    }

    fn transaction<T, E: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.db.transaction(work)
    }
}

impl ObjectStorage for Storage<'_> {
    async fn sync(&self) -> Result<(), DatabaseError> {
        Ok(())
    }

    async fn alarm(&self) -> Result<Option<i64>, DatabaseError> {
        Ok(self.state.alarm_ms.get())
    }

    fn set_alarm(&self, at_ms: Option<i64>) -> Result<(), DatabaseError> {
        self.state.alarm_ms.set(at_ms);
        self.state.alarms.set(self.state.alarms.get() + 1);
        Ok(())
    }

    fn size(&self) -> Result<i64, DatabaseError> {
        Ok(self.state.bytes.get())
    }
}

//! The little of SQL that the origin needs, so that one text of it runs on a Durable Object's SQLite in production and
//! on `rusqlite` in native tests.
//!
//! What a Durable Object's SQLite forces on every caller (docs/PLATFORM.md): integers are bound as JavaScript numbers, so
//! one beyond 2^53 is refused rather than rounded; a column must belong to a STRICT table or be CAST, or a bound
//! integer becomes a REAL; there is no BEGIN; a value holds at most 2 MB and a statement 100 parameters; and an error
//! after a write rolls nothing back outside [`Database::transaction`].

use std::fmt;

use serde::Serialize;

/// The largest integer that survives a JavaScript number, 2^53.
pub const MAX_INTEGER: i64 = 1 << 53;

/// A bound parameter or a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Value {
    /// An integer as the JavaScript number that it is bound as.
    ///
    /// # Errors
    /// Beyond 2^53, where numbers are no longer whole.
    pub fn number(integer: i64) -> Result<f64, DatabaseError> {
        if integer.unsigned_abs() > MAX_INTEGER.unsigned_abs() {
            return Err(DatabaseError(format!("{integer} is beyond 2^53")));
        }
        #[expect(clippy::cast_precision_loss, reason = "with_timeout 2^53")]
        Ok(integer as f64)
    }

    /// A column that came back as a JavaScript number, which does not say whether SQLite held an integer.
    pub fn from_number(number: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "whole and with_timeout 2^53")]
        if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
            Self::Integer(number as i64)
        } else {
            Self::Real(number)
        }
    }
}

/// A list as one bound text, for `json_each`.
///
/// # Errors
/// What does not serialize, which no list of plain values does.
pub fn json(list: &impl Serialize) -> Result<String, DatabaseError> {
    serde_json::to_string(list).map_err(|error| DatabaseError(error.to_string()))
}

/// What the database said. It is for the log; a caller of Signpost never reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseError(pub String);

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "database: {}", self.0)
    }
}

impl std::error::Error for DatabaseError {}

/// One object's database. Nothing here waits: within a command no other request runs between two statements.
pub trait Database {
    /// Runs a statement that has no rows to return.
    fn execute(&self, sql: &str, parameters: &[Value]) -> Result<(), DatabaseError> {
        self.query(sql, parameters).map(drop)
    }

    /// Runs a statement to its end and returns its rows.
    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError>;

    /// Runs `work` as one transaction: an `Err` undoes every write in it. Transactions do not nest.
    fn transaction<T, E: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E>;

    /// The first row, if there is one.
    fn query_first(&self, sql: &str, parameters: &[Value]) -> Result<Option<Row>, DatabaseError> {
        Ok(self.query(sql, parameters)?.into_iter().next())
    }
}

/// One row of an answer, by column position.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(pub Vec<Value>);

impl Row {
    pub fn text(&self, column: usize) -> Result<&str, DatabaseError> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(text),
            other => Err(unexpected(column, "text", other)),
        }
    }

    pub fn optional_text(&self, column: usize) -> Result<Option<&str>, DatabaseError> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            _ => self.text(column).map(Some),
        }
    }

    /// An integer; a REAL that is whole comes back as one too ([`Value::from_number`]).
    pub fn integer(&self, column: usize) -> Result<i64, DatabaseError> {
        match self.0.get(column) {
            Some(Value::Integer(integer)) => Ok(*integer),
            other => Err(unexpected(column, "integer", other)),
        }
    }

    pub fn optional_integer(&self, column: usize) -> Result<Option<i64>, DatabaseError> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            _ => self.integer(column).map(Some),
        }
    }

    pub fn boolean(&self, column: usize) -> Result<bool, DatabaseError> {
        self.integer(column).map(|integer| integer != 0)
    }

    pub fn is_null(&self, column: usize) -> bool {
        matches!(self.0.get(column), Some(Value::Null))
    }

    pub fn blob(&self, column: usize) -> Result<&[u8], DatabaseError> {
        match self.0.get(column) {
            Some(Value::Blob(bytes)) => Ok(bytes),
            other => Err(unexpected(column, "blob", other)),
        }
    }
}

fn unexpected(column: usize, wanted: &str, found: Option<&Value>) -> DatabaseError {
    let found = match found {
        None => "no such column",
        Some(Value::Null) => "null",
        Some(Value::Integer(_)) => "an integer",
        Some(Value::Real(_)) => "a real",
        Some(Value::Text(_)) => "text",
        Some(Value::Blob(_)) => "a blob",
    };
    DatabaseError(format!("column {column}: {wanted} wanted, {found} found"))
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Integer(i64::from(value))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Integer(i64::from(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Blob(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Parameters of mixed types: `params![id, 3_i64, None::<&str>]`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::database::Value::from($value)),*] };
}

/// An object's SQL as constants, and [`ALL`](crate::migrations::ALL) of it, so that a conformance test can run
/// each text on workerd and a native one can show that there is no other.
#[macro_export]
macro_rules! statements {
    ($($(#[$attribute:meta])* pub const $name:ident = $sql:expr;)*) => {
        $($(#[$attribute])* pub const $name: &str = $sql;)*
        /// Every statement of this module.
        pub const ALL: &[&str] = &[$($name),*];
    };
}

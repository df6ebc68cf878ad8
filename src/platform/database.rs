//! The SQL interface of the origin. The same statements run on a Durable Object's SQLite in production and on
//! `rusqlite` in native tests.
//!
//! A Durable Object's SQLite has these limits (docs/PLATFORM.md, "SQLite in an object"):
//! - Integers are bound as JavaScript numbers, so one beyond 2^53 is refused instead of rounded.
//! - A bound integer becomes a REAL, unless its column belongs to a STRICT table or is CAST.
//! - There is no BEGIN, and outside [`Database::transaction`] an error after a write rolls nothing back.
//! - A value has at most 2 MB, and a statement at most 100 parameters.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The largest integer that a JavaScript number represents exactly, 2^53.
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
    /// Converts an integer to a JavaScript number, to bind it.
    ///
    /// # Errors
    /// The integer is beyond 2^53, so the number might not be exact.
    pub fn number(integer: i64) -> DbResult<f64> {
        if integer.unsigned_abs() > MAX_INTEGER.unsigned_abs() {
            return Err(DatabaseError(format!("{integer} is beyond 2^53")));
        }
        #[expect(clippy::cast_precision_loss, reason = "within 2^53")]
        Ok(integer as f64)
    }

    /// Converts a column from a JavaScript number, which does not say whether SQLite stored an integer.
    pub fn from_number(number: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
            Self::Integer(number as i64)
        } else {
            Self::Real(number)
        }
    }
}

/// Serializes a list to one text parameter for `json_each`. This cannot fail for plain values.
pub fn json(list: &impl Serialize) -> DbResult<String> {
    serde_json::to_string(list).map_err(|error| DatabaseError(error.to_string()))
}

/// The result of work on a database.
pub type DbResult<T = ()> = Result<T, DatabaseError>;

/// An error message of the database, for the log. It is never part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseError(pub String);

impl DatabaseError {
    /// Adds the stored item to the error: `of("offer", "23817")`.
    #[must_use]
    pub fn of(self, kind: &str, id: &str) -> Self {
        Self(format!("{kind} {id}: {}", self.0))
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "database: {}", self.0)
    }
}

impl std::error::Error for DatabaseError {}

/// One object's database. Its methods are synchronous, so no other request runs between two statements of a command.
pub trait Database {
    /// Runs a statement that returns no rows.
    fn execute(&self, sql: &str, parameters: &[Value]) -> DbResult {
        self.query(sql, parameters).map(drop)
    }

    /// Runs a statement and returns all its rows.
    fn query(&self, sql: &str, parameters: &[Value]) -> DbResult<Vec<Row>>;

    /// Runs `work` as one transaction. An `Err` or a panic rolls back its writes. Transactions do not nest.
    fn transaction<T, E: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E>;

    fn query_first(&self, sql: &str, parameters: &[Value]) -> DbResult<Option<Row>> {
        Ok(self.query(sql, parameters)?.into_iter().next())
    }

    /// Runs a statement and reads each of its rows.
    fn read_all<T>(&self, sql: &str, parameters: &[Value], read: impl FnMut(&Row) -> DbResult<T>) -> DbResult<Vec<T>> {
        self.query(sql, parameters)?.iter().map(read).collect()
    }

    /// Runs a statement and reads its first row, if any.
    fn read_first<T>(
        &self,
        sql: &str,
        parameters: &[Value],
        read: impl FnOnce(&Row) -> DbResult<T>,
    ) -> DbResult<Option<T>> {
        self.query_first(sql, parameters)?.as_ref().map(read).transpose()
    }

    /// The first column of the first row, unless it is null or there is no row.
    fn query_integer(&self, sql: &str, parameters: &[Value]) -> DbResult<Option<i64>> {
        let first = self.query_first(sql, parameters)?;
        first.map_or(Ok(None), |row| row.optional_integer(0))
    }

    /// The first column of the first row as a boolean; false without a row.
    fn query_boolean(&self, sql: &str, parameters: &[Value]) -> DbResult<bool> {
        Ok(self.query_integer(sql, parameters)?.is_some_and(|value| value != 0))
    }
}

/// One row of a result. Its columns are read by index.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(pub Vec<Value>);

impl Row {
    pub fn text(&self, column: usize) -> DbResult<&str> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(text),
            other => Err(unexpected(column, "text", other)),
        }
    }

    pub fn optional_text(&self, column: usize) -> DbResult<Option<&str>> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            _ => self.text(column).map(Some),
        }
    }

    /// An integer, or a whole REAL ([`Value::from_number`]).
    pub fn integer(&self, column: usize) -> DbResult<i64> {
        match self.0.get(column) {
            Some(Value::Integer(integer)) => Ok(*integer),
            other => Err(unexpected(column, "integer", other)),
        }
    }

    pub fn optional_integer(&self, column: usize) -> DbResult<Option<i64>> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            _ => self.integer(column).map(Some),
        }
    }

    pub fn boolean(&self, column: usize) -> DbResult<bool> {
        self.integer(column).map(|integer| integer != 0)
    }

    pub fn is_null(&self, column: usize) -> bool {
        matches!(self.0.get(column), Some(Value::Null))
    }

    pub fn blob(&self, column: usize) -> DbResult<&[u8]> {
        match self.0.get(column) {
            Some(Value::Blob(bytes)) => Ok(bytes),
            other => Err(unexpected(column, "blob", other)),
        }
    }

    pub fn optional_blob(&self, column: usize) -> DbResult<Option<&[u8]>> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            _ => self.blob(column).map(Some),
        }
    }

    /// A blob of a fixed length.
    pub fn bytes<const N: usize>(&self, column: usize) -> DbResult<[u8; N]> {
        let bytes = self.blob(column)?.try_into();
        bytes.map_err(|_| damaged(column, &format!("does not have {N} bytes")))
    }

    /// A text column, converted with `parse`.
    pub fn parse<T>(&self, column: usize, parse: impl FnOnce(&str) -> Option<T>) -> DbResult<T> {
        parse(self.text(column)?).ok_or_else(|| damaged(column, "cannot be parsed"))
    }

    /// Decodes a value from its stored code.
    pub fn decode<T>(&self, column: usize, decode: impl FnOnce(u8) -> Option<T>) -> DbResult<T> {
        decode(self.number(column)?).ok_or_else(|| damaged(column, "has an unknown code"))
    }

    pub fn json<'r, T: Deserialize<'r>>(&'r self, column: usize) -> DbResult<T> {
        serde_json::from_str(self.text(column)?).map_err(|error| damaged(column, &format!("cannot be parsed: {error}")))
    }

    /// An integer that fits the type `T`.
    pub fn number<T: TryFrom<i64>>(&self, column: usize) -> DbResult<T> {
        T::try_from(self.integer(column)?).map_err(|_| damaged(column, "is out of range"))
    }

    pub fn optional_number<T: TryFrom<i64>>(&self, column: usize) -> DbResult<Option<T>> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            _ => self.number(column).map(Some),
        }
    }
}

fn damaged(column: usize, problem: &str) -> DatabaseError {
    DatabaseError(format!("column {column} {problem}"))
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
    DatabaseError(format!("column {column}: expected {wanted}, found {found}"))
}

macro_rules! from {
    ($($(#[$doc:meta])* $type:ty: |$value:ident| $converted:expr;)*) => {$(
        $(#[$doc])*
        impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $converted
            }
        }
    )*};
}

from! {
    i64: |value| Self::Integer(value);
    u8: |value| Self::Integer(i64::from(value));
    u16: |value| Self::Integer(i64::from(value));
    u32: |value| Self::Integer(i64::from(value));
    bool: |value| Self::Integer(i64::from(value));
    /// A number beyond 2^53 stays beyond it, so binding it fails.
    u64: |value| Self::Integer(i64::try_from(value).unwrap_or(i64::MAX));
    usize: |value| Self::Integer(i64::try_from(value).unwrap_or(i64::MAX));
    &str: |value| Self::Text(value.to_owned());
    String: |value| Self::Text(value);
    Vec<u8>: |value| Self::Blob(value);
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

/// Declares an object's SQL statements as constants, and lists them in `ALL`. So a conformance test can run each
/// statement on workerd, and a native test can check that the object has no others.
#[macro_export]
macro_rules! statements {
    ($($(#[$attribute:meta])* pub const $name:ident = $sql:expr;)*) => {
        $($(#[$attribute])* pub const $name: &str = $sql;)*
        /// Every statement of this module.
        pub const ALL: &[&str] = &[$($name),*];
    };
}

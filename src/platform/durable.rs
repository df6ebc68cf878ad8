//! [`Database`] over a Durable Object's own SQLite, `ctx.storage.sql`.
//!
//! The bindings are ours because `worker`'s leave out `transactionSync`, and declare the cursor's methods as never
//! throwing: a throw would then skip every Rust frame and leave the caller waiting. Here everything catches.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use js_sys::{Array, ArrayBuffer, Promise, Uint8Array};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use worker::State;

use super::{
    database::{Database, DatabaseError, Row, Value},
    traits::ObjectStorage,
};
use crate::faults;

#[wasm_bindgen]
extern "C" {
    type DurableStorage;

    #[wasm_bindgen(method, getter, catch)]
    fn sql(this: &DurableStorage) -> Result<SqlStorage, JsValue>;

    #[wasm_bindgen(method, catch, js_name = transactionSync)]
    fn transaction_sync(
        this: &DurableStorage,
        work: &mut dyn FnMut() -> Result<JsValue, JsValue>,
    ) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = getAlarm)]
    fn get_alarm(this: &DurableStorage) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch, js_name = setAlarm)]
    fn set_alarm(this: &DurableStorage, at_ms: f64) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch, js_name = deleteAlarm)]
    fn delete_alarm(this: &DurableStorage) -> Result<Promise, JsValue>;

    type SqlStorage;

    #[wasm_bindgen(method, catch, variadic)]
    fn exec(this: &SqlStorage, sql: &str, bindings: &Array) -> Result<SqlCursor, JsValue>;

    #[wasm_bindgen(method, getter, catch, js_name = databaseSize)]
    fn database_size(this: &SqlStorage) -> Result<f64, JsValue>;

    type SqlCursor;

    #[wasm_bindgen(method, catch)]
    fn raw(this: &SqlCursor) -> Result<RawRows, JsValue>;

    type RawRows;

    #[wasm_bindgen(method, catch, js_name = toArray)]
    fn to_array(this: &RawRows) -> Result<Array, JsValue>;
}

/// One object's database, and its one alarm, which is stored in it.
pub struct DurableDatabase {
    storage: DurableStorage,
    sql: Result<SqlStorage, DatabaseError>,
    in_transaction: Cell<bool>,
}

impl DurableDatabase {
    /// The database of the object whose state this is. An object without one answers every statement with an error.
    pub fn new(state: &State) -> Self {
        let storage: DurableStorage = JsValue::from(state.storage().as_raw()).unchecked_into();
        let sql = storage.sql().map_err(thrown);
        Self {
            storage,
            sql,
            in_transaction: Cell::new(false),
        }
    }

    fn exec(&self, sql: &str, parameters: &[Value]) -> Result<SqlCursor, DatabaseError> {
        let bindings = Array::new();
        for parameter in parameters {
            bindings.push(&bound(parameter)?);
        }
        let storage = self.sql.as_ref().map_err(Clone::clone)?;
        faults::pass("before", sql);
        let cursor = storage.exec(sql, &bindings).map_err(thrown);
        faults::pass("after", sql);
        cursor
    }
}

impl Database for DurableDatabase {
    /// A statement without rows is through when `exec` returns, so the cursor is not asked for any.
    fn execute(&self, sql: &str, parameters: &[Value]) -> Result<(), DatabaseError> {
        self.exec(sql, parameters).map(drop)
    }

    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        let rows = self
            .exec(sql, parameters)?
            .raw()
            .and_then(|rows| rows.to_array())
            .map_err(thrown)?;
        rows.iter()
            .map(|row| {
                let columns = row.dyn_into::<Array>().map_err(thrown)?;
                columns.iter().map(fetched).collect::<Result<_, _>>().map(Row)
            })
            .collect()
    }

    fn transaction<T, E: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if self.in_transaction.replace(true) {
            return Err(DatabaseError("transactions do not nest".into()).into());
        }
        // Nothing looks at these two between a panic and the end of this function.
        let work = AssertUnwindSafe(Cell::new(Some(work)));
        let outcome = AssertUnwindSafe(Cell::new(None));
        let settled = self.storage.transaction_sync(&mut || {
            // A panic must not unwind through JavaScript's frames; it goes on below, when the rollback is done.
            let done = work.take().map(|work| catch_unwind(AssertUnwindSafe(work)));
            let keeps = matches!(done, Some(Ok(Ok(_))));
            outcome.set(done);
            if keeps {
                Ok(JsValue::UNDEFINED)
            } else {
                Err(JsValue::from_str("rolled back"))
            }
        });
        self.in_transaction.set(false);
        match (outcome.take(), settled) {
            (Some(Ok(Err(error))), _) => Err(error),
            (Some(Err(panic)), _) => resume_unwind(panic),
            (Some(Ok(Ok(done))), Ok(_)) => Ok(done),
            (Some(Ok(Ok(_))), Err(error)) => Err(thrown(error).into()),
            (None, settled) => Err(settled
                .map_or_else(thrown, |_| DatabaseError("the transaction did not run".into()))
                .into()),
        }
    }
}

impl ObjectStorage for DurableDatabase {
    fn size(&self) -> Result<i64, DatabaseError> {
        let storage = self.sql.as_ref().map_err(Clone::clone)?;
        #[expect(clippy::cast_possible_truncation, reason = "at most 10 GB")]
        storage.database_size().map(|bytes| bytes as i64).map_err(thrown)
    }

    async fn alarm(&self) -> Result<Option<i64>, DatabaseError> {
        let at_ms = JsFuture::from(self.storage.get_alarm().map_err(thrown)?)
            .await
            .map_err(thrown)?;
        #[expect(clippy::cast_possible_truncation, reason = "a time in milliseconds")]
        Ok(at_ms.as_f64().map(|at_ms| at_ms as i64))
    }

    /// Its promise needs no waiting for, since no answer leaves the object before its writes are durable.
    fn set_alarm(&self, at_ms: Option<i64>) -> Result<(), DatabaseError> {
        match at_ms {
            Some(at_ms) => self.storage.set_alarm(Value::number(at_ms)?),
            None => self.storage.delete_alarm(),
        }
        .map(drop)
        .map_err(thrown)
    }
}

fn bound(value: &Value) -> Result<JsValue, DatabaseError> {
    Ok(match value {
        Value::Null => JsValue::NULL,
        Value::Integer(integer) => JsValue::from_f64(Value::number(*integer)?),
        Value::Real(real) => JsValue::from_f64(*real),
        Value::Text(text) => JsValue::from_str(text),
        Value::Blob(bytes) => Uint8Array::from(bytes.as_slice()).into(),
    })
}

fn fetched(value: JsValue) -> Result<Value, DatabaseError> {
    if value.is_null() {
        Ok(Value::Null)
    } else if let Some(number) = value.as_f64() {
        Ok(Value::from_number(number))
    } else if value.is_instance_of::<ArrayBuffer>() {
        Ok(Value::Blob(Uint8Array::new(&value).to_vec()))
    } else if let Some(text) = value.as_string() {
        Ok(Value::Text(text))
    } else {
        value
            .dyn_into::<Uint8Array>()
            .map(|bytes| Value::Blob(bytes.to_vec()))
            .map_err(thrown)
    }
}

/// A JavaScript exception as text for the log.
pub(crate) fn thrown(error: JsValue) -> DatabaseError {
    let message = error
        .dyn_ref::<js_sys::Error>()
        .map(|error| String::from(error.message()));
    DatabaseError(
        message
            .or_else(|| error.as_string())
            .unwrap_or_else(|| format!("{error:?}")),
    )
}

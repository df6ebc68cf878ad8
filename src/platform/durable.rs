//! [`Database`] over a Durable Object's own SQLite, `ctx.storage.sql`.
//!
//! It declares its own bindings because those of the crate `worker` omit `transactionSync` and declare that a cursor's
//! methods never throw. An exception would then skip all Rust frames and leave the caller waiting. Here every method
//! catches exceptions.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use js_sys::{Array, ArrayBuffer, JsString, Promise, Uint8Array};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use worker::State;

use super::{
    database::{Database, DatabaseError, Row, Value},
    traits::ObjectStorage,
};
use crate::{DbResult, faults};

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

    #[wasm_bindgen(method, catch)]
    fn sync(this: &DurableStorage) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch, js_name = deleteAlarm)]
    fn delete_alarm(this: &DurableStorage) -> Result<Promise, JsValue>;

    type SqlStorage;

    #[wasm_bindgen(method, catch, variadic)]
    fn exec(this: &SqlStorage, sql: &JsString, bindings: &Array) -> Result<SqlCursor, JsValue>;

    #[wasm_bindgen(method, getter, catch, js_name = databaseSize)]
    fn database_size(this: &SqlStorage) -> Result<f64, JsValue>;

    type SqlCursor;

    #[wasm_bindgen(method, catch)]
    fn raw(this: &SqlCursor) -> Result<RawRows, JsValue>;

    type RawRows;

    #[wasm_bindgen(method, catch, js_name = toArray)]
    fn to_array(this: &RawRows) -> Result<Array, JsValue>;
}

thread_local! {
    /// The statements that have run, as JavaScript strings. They are constants, and converting a statement for each use
    /// would cost more time and garbage than binding its parameters.
    static STATEMENTS: RefCell<HashMap<Box<str>, JsString>> = RefCell::default();
}

fn statement(sql: &str) -> JsString {
    STATEMENTS.with_borrow_mut(|known| match known.get(sql) {
        Some(statement) => statement.clone(),
        None => known.entry(sql.into()).or_insert_with(|| sql.into()).clone(),
    })
}

/// One object's storage: its database, and the alarm stored in it.
pub struct DurableDatabase {
    storage: DurableStorage,
    sql: DbResult<SqlStorage>,
    in_transaction: Cell<bool>,
}

impl DurableDatabase {
    /// The storage of an object from its state. Without a SQLite database every statement fails.
    pub fn new(state: &State) -> Self {
        let storage: DurableStorage = JsValue::from(state.storage().as_raw()).unchecked_into();
        let sql = storage.sql().map_err(from_exception);
        Self { storage, sql, in_transaction: Cell::new(false) }
    }

    fn exec(&self, sql: &str, parameters: &[Value]) -> DbResult<SqlCursor> {
        let bindings = Array::new();
        for parameter in parameters {
            bindings.push(&to_js(parameter)?);
        }
        let storage = self.sql.as_ref().map_err(Clone::clone)?;
        faults::inject("before", sql);
        let cursor = storage.exec(&statement(sql), &bindings).map_err(from_exception);
        faults::inject("after", sql);
        cursor
    }
}

impl Database for DurableDatabase {
    /// Does not read the cursor: a statement without rows is complete when `exec` returns.
    fn execute(&self, sql: &str, parameters: &[Value]) -> DbResult {
        self.exec(sql, parameters).map(drop)
    }

    fn query(&self, sql: &str, parameters: &[Value]) -> DbResult<Vec<Row>> {
        let rows = self.exec(sql, parameters)?.raw().and_then(|rows| rows.to_array()).map_err(from_exception)?;
        rows.iter()
            .map(|row| {
                let columns = row.dyn_into::<Array>().map_err(from_exception)?;
                columns.iter().map(from_js).collect::<Result<_, _>>().map(Row)
            })
            .collect()
    }

    fn transaction<T, E: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if self.in_transaction.replace(true) {
            return Err(DatabaseError("transactions do not nest".into()).into());
        }
        // After a panic in `work`, neither cell is in an intermediate state.
        let work = AssertUnwindSafe(Cell::new(Some(work)));
        let outcome = AssertUnwindSafe(Cell::new(None));
        let transaction = self.storage.transaction_sync(&mut || {
            // A panic must not unwind through JavaScript frames. It is resumed below, after the rollback.
            let done = work.take().map(|work| catch_unwind(AssertUnwindSafe(work)));
            let commits = matches!(done, Some(Ok(Ok(_))));
            outcome.set(done);
            if commits { Ok(JsValue::UNDEFINED) } else { Err(JsValue::from_str("rolled back")) }
        });
        self.in_transaction.set(false);
        match (outcome.take(), transaction) {
            (Some(Ok(Err(error))), _) => Err(error),
            (Some(Err(panic)), _) => resume_unwind(panic),
            (Some(Ok(Ok(done))), Ok(_)) => Ok(done),
            (Some(Ok(Ok(_))), Err(error)) => Err(from_exception(error).into()),
            (None, transaction) => Err(transaction
                .map_or_else(from_exception, |_| DatabaseError("the transaction did not run".into()))
                .into()),
        }
    }
}

impl ObjectStorage for DurableDatabase {
    fn size(&self) -> DbResult<i64> {
        let storage = self.sql.as_ref().map_err(Clone::clone)?;
        #[expect(clippy::cast_possible_truncation, reason = "at most 10 GB")]
        storage.database_size().map(|bytes| bytes as i64).map_err(from_exception)
    }

    async fn sync(&self) -> DbResult {
        JsFuture::from(self.storage.sync().map_err(from_exception)?).await.map(drop).map_err(from_exception)
    }

    async fn alarm(&self) -> DbResult<Option<i64>> {
        let at_ms = JsFuture::from(self.storage.get_alarm().map_err(from_exception)?).await.map_err(from_exception)?;
        #[expect(clippy::cast_possible_truncation, reason = "a time in milliseconds")]
        Ok(at_ms.as_f64().map(|at_ms| at_ms as i64))
    }

    /// Does not await the promise: the runtime holds answers back until the object's writes are durable.
    fn set_alarm(&self, at_ms: Option<i64>) -> DbResult {
        match at_ms {
            Some(at_ms) => self.storage.set_alarm(Value::number(at_ms)?),
            None => self.storage.delete_alarm(),
        }
        .map(drop)
        .map_err(from_exception)
    }
}

/// A parameter as a JavaScript value.
fn to_js(value: &Value) -> DbResult<JsValue> {
    Ok(match value {
        Value::Null => JsValue::NULL,
        Value::Integer(integer) => JsValue::from_f64(Value::number(*integer)?),
        Value::Real(real) => JsValue::from_f64(*real),
        Value::Text(text) => JsValue::from_str(text),
        Value::Blob(bytes) => Uint8Array::from(bytes.as_slice()).into(),
    })
}

/// A column from a JavaScript value.
fn from_js(value: JsValue) -> DbResult<Value> {
    if value.is_null() {
        Ok(Value::Null)
    } else if let Some(number) = value.as_f64() {
        Ok(Value::from_number(number))
    } else if value.is_instance_of::<ArrayBuffer>() {
        Ok(Value::Blob(Uint8Array::new(&value).to_vec()))
    } else if let Some(text) = value.as_string() {
        Ok(Value::Text(text))
    } else {
        value.dyn_into::<Uint8Array>().map(|bytes| Value::Blob(bytes.to_vec())).map_err(from_exception)
    }
}

/// A JavaScript exception as an error with its message.
pub(crate) fn from_exception(error: JsValue) -> DatabaseError {
    let message = error.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    DatabaseError(message.or_else(|| error.as_string()).unwrap_or_else(|| format!("{error:?}")))
}

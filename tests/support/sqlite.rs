//! A Durable Object's SQLite, imitated over `rusqlite` for tests and benches: the same SQL, the values as JavaScript
//! brings them, workerd's limits and refusals (its `util/sqlite.c++`), and faults on demand.
//!
//! One thing is harsher than the platform: here every statement outside a transaction commits by itself, where workerd
//! joins all that run with no await between, unless a test says where such a step begins and ends.

#![allow(dead_code, reason = "no test binary uses all of it")]
#![expect(
    clippy::expect_used,
    reason = "a test whose database does not open has nothing to say"
)]

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeSet, VecDeque},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use rusqlite::{
    Connection,
    config::DbConfig,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
    types::{ToSqlOutput, ValueRef},
};

use platform::database::{Database, DatabaseError, Row, Value};

/// What goes wrong with a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It did not happen, and an error says so.
    Before,
    /// It happened, and an error is reported all the same.
    After,
}

/// Which of the coming writes go wrong. A write is a statement that may change something, or the commit of a
/// transaction; a statement within a transaction counts for itself.
#[derive(Clone, Debug, Default)]
pub struct Faults(VecDeque<Option<Fault>>);

impl Faults {
    pub fn none() -> Self {
        Self::default()
    }

    /// The `nth` write from now, counted from 1, and no other.
    pub fn at(nth: usize, fault: Fault) -> Self {
        let mut script = vec![None; nth.saturating_sub(1)];
        script.push(Some(fault));
        Self::script(script)
    }

    /// One entry for each write from now on; those beyond the end go well.
    pub fn script(script: impl IntoIterator<Item = Option<Fault>>) -> Self {
        Self(script.into_iter().collect())
    }
}

/// One object's database.
pub struct Sqlite {
    connection: Connection,
    /// Opened for this backend's own BEGIN, COMMIT and ROLLBACK.
    may_transact: Arc<AtomicBool>,
    in_transaction: Cell<bool>,
    in_step: Cell<bool>,
    faults: RefCell<Faults>,
    writes: Cell<usize>,
    statements: RefCell<BTreeSet<String>>,
}

impl Sqlite {
    pub fn in_memory() -> Self {
        Self::over(Connection::open_in_memory().expect("open a database in memory"))
    }

    pub fn open(path: &Path) -> Self {
        let connection = Connection::open(path).expect("open a database file");
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .expect("a write-ahead log, as workerd has");
        Self::over(connection)
    }

    fn over(mut connection: Connection) -> Self {
        for (limit, value) in LIMITS {
            connection.set_limit(*limit, *value).expect("set a limit");
        }
        for (setting, value) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            // A misspelt column in double quotes is an error and not a string.
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        ] {
            connection
                .set_db_config(setting, value)
                .expect("configure the database");
        }
        connection.set_prepared_statement_cache_capacity(256);
        let may_transact = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&may_transact);
        connection
            .authorizer(Some(move |context: AuthContext<'_>| {
                authorize(context.action, own.load(Relaxed))
            }))
            .expect("install the authorizer");
        Self {
            connection,
            may_transact,
            in_transaction: Cell::new(false),
            in_step: Cell::new(false),
            faults: RefCell::default(),
            writes: Cell::new(0),
            statements: RefCell::default(),
        }
    }

    /// Sets what goes wrong from now on, in place of what was set before, and counts writes from 0 again.
    pub fn inject(&self, faults: Faults) {
        self.faults.replace(faults);
        self.writes.set(0);
    }

    /// Writes attempted since the last [`inject`](Self::inject): a test that breaks the 1st, 2nd, … is through when
    /// the one to break was not reached.
    pub fn writes(&self) -> usize {
        self.writes.get()
    }

    /// Every distinct SQL text that was given to this database.
    pub fn statements(&self) -> BTreeSet<String> {
        self.statements.borrow().clone()
    }

    /// Joins what follows into one commit, up to [`end_step`](Self::end_step).
    pub fn begin_step(&self) {
        self.own("BEGIN IMMEDIATE").expect("begin a step");
        self.in_step.set(true);
    }

    /// Commits the step; or, if the process died in it, leaves nothing of it.
    pub fn end_step(&self, died: bool) {
        self.in_step.set(false);
        let end = if died { "ROLLBACK" } else { "COMMIT" };
        self.own(end).expect("end a step");
    }

    fn next_fault(&self) -> Option<Fault> {
        self.writes.set(self.writes.get() + 1);
        self.faults.borrow_mut().0.pop_front().flatten()
    }

    fn own(&self, sql: &str) -> Result<(), DatabaseError> {
        self.may_transact.store(true, Relaxed);
        let outcome = self.connection.execute_batch(sql);
        self.may_transact.store(false, Relaxed);
        outcome.map_err(told)
    }
}

impl Database for Sqlite {
    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        self.statements.borrow_mut().insert(sql.to_owned());
        let bound = parameters.iter().map(bound).collect::<Result<Vec<_>, _>>()?;
        let mut statement = self.connection.prepare_cached(sql).map_err(told)?;
        let fault = if statement.readonly() {
            None
        } else {
            self.next_fault()
        };
        if fault == Some(Fault::Before) {
            return Err(injected(Fault::Before));
        }
        let columns = statement.column_count();
        let mut cursor = statement.query(rusqlite::params_from_iter(bound)).map_err(told)?;
        let mut rows = vec![];
        while let Some(row) = cursor.next().map_err(told)? {
            let values = (0..columns).map(|column| fetched(row.get_ref(column).map_err(told)?));
            rows.push(Row(values.collect::<Result<_, _>>()?));
        }
        fault.map_or(Ok(rows), |fault| Err(injected(fault)))
    }

    fn transaction<T, E: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if self.in_transaction.replace(true) {
            return Err(DatabaseError("transactions do not nest".into()).into());
        }
        let (begin, commit, undo) = if self.in_step.get() {
            ("SAVEPOINT work", "RELEASE work", "ROLLBACK TO work; RELEASE work")
        } else {
            ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
        };
        let mut open = OpenTransaction { db: self, undo: None };
        self.own(begin)?;
        open.undo = Some(undo);
        let done = work()?;
        let fault = self.next_fault();
        if fault == Some(Fault::Before) {
            return Err(injected(Fault::Before).into());
        }
        self.own(commit)?;
        open.undo = None;
        fault.map_or(Ok(done), |fault| Err(injected(fault).into()))
    }
}

/// Undoes what was not committed, also when the work in it panics.
struct OpenTransaction<'a> {
    db: &'a Sqlite,
    undo: Option<&'static str>,
}

impl Drop for OpenTransaction<'_> {
    fn drop(&mut self) {
        // After some errors SQLite has undone it all by itself.
        if let Some(undo) = self.undo
            && !self.db.connection.is_autocommit()
        {
            let undone = self.db.own(undo);
            debug_assert!(undone.is_ok(), "{undone:?}");
        }
        self.db.in_transaction.set(false);
    }
}

/// As `SqlStorage` binds it: JavaScript has one kind of number.
fn bound(value: &Value) -> Result<ToSqlOutput<'_>, DatabaseError> {
    Ok(match value {
        Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
        Value::Integer(integer) => ToSqlOutput::Borrowed(ValueRef::Real(Value::number(*integer)?)),
        Value::Real(real) => ToSqlOutput::Borrowed(ValueRef::Real(*real)),
        Value::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        Value::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
    })
}

/// As `SqlStorage` hands it over.
fn fetched(value: ValueRef<'_>) -> Result<Value, DatabaseError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        #[expect(clippy::cast_precision_loss, reason = "so does workerd")]
        ValueRef::Integer(integer) => Value::from_number(integer as f64),
        ValueRef::Real(real) => Value::from_number(real),
        ValueRef::Text(text) => Value::Text(
            std::str::from_utf8(text)
                .map_err(|error| DatabaseError(error.to_string()))?
                .to_owned(),
        ),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    })
}

fn told(error: rusqlite::Error) -> DatabaseError {
    DatabaseError(error.to_string())
}

fn injected(fault: Fault) -> DatabaseError {
    DatabaseError(format!("injected: {fault:?}"))
}

/// `SqliteDatabase::setupSecurity`. It sets a value's length to 2,200,000; what is documented is 2 MB.
const LIMITS: &[(Limit, i32)] = &[
    (Limit::SQLITE_LIMIT_LENGTH, 2_000_000),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (Limit::SQLITE_LIMIT_COLUMN, 100),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 5),
    (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 127),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50),
    (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 100),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// `SqliteDatabase::isAuthorized`.
fn authorize(action: AuthAction<'_>, own: bool) -> Authorization {
    let allowed = match action {
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => own,
        AuthAction::Pragma { pragma_name, .. } => PRAGMAS.contains(&pragma_name),
        AuthAction::Function { function_name } => {
            FUNCTIONS.split_whitespace().any(|name| name == function_name)
        }
        AuthAction::CreateVtable { module_name, .. } | AuthAction::DropVtable { module_name, .. } => {
            module_name.eq_ignore_ascii_case("fts5")
        }
        AuthAction::CreateTable { table_name } | AuthAction::DropTable { table_name } => {
            !table_name.starts_with("_cf_")
        }
        AuthAction::Attach { .. }
        | AuthAction::Detach { .. }
        | AuthAction::CreateTempIndex { .. }
        | AuthAction::CreateTempTable { .. }
        | AuthAction::CreateTempTrigger { .. }
        | AuthAction::CreateTempView { .. }
        | AuthAction::DropTempIndex { .. }
        | AuthAction::DropTempTable { .. }
        | AuthAction::DropTempTrigger { .. }
        | AuthAction::DropTempView { .. } => false,
        _ => true,
    };
    if allowed {
        Authorization::Allow
    } else {
        Authorization::Deny
    }
}

const PRAGMAS: &[&str] = &[
    "case_sensitive_like",
    "data_version",
    "defer_foreign_keys",
    "foreign_key_check",
    "foreign_key_list",
    "foreign_keys",
    "ignore_check_constraints",
    "index_info",
    "index_list",
    "index_xinfo",
    "legacy_alter_table",
    "optimize",
    "quick_check",
    "recursive_triggers",
    "reverse_unordered_selects",
    "table_info",
    "table_list",
    "table_xinfo",
];

const FUNCTIONS: &str = "
    abs changes char coalesce concat concat_ws format glob hex ifnull iif instr last_insert_rowid length like
    likelihood likely lower ltrim max min nullif octet_length printf quote random randomblob replace round rtrim sign
    soundex substr substring total_changes trim typeof unhex unicode unlikely upper zeroblob
    date time datetime julianday unixepoch strftime timediff current_date current_time current_timestamp
    avg count group_concat string_agg sum total
    row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
    acos acosh asin asinh atan atan2 atanh ceil cos cosh degrees exp floor ln log log2 mod pi pow radians sin sinh sqrt
    tan tanh trunc
    json json_array json_array_length json_extract -> ->> json_insert json_object json_patch json_remove json_replace
    json_set json_type json_valid json_quote json_group_array json_group_object json_each json_tree
    match highlight bm25 snippet
    sqlite_rename_column sqlite_rename_table sqlite_rename_test sqlite_rename_quotefix sqlite_drop_column";

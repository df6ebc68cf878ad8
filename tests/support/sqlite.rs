//! Imitates a Durable Object's SQLite over `rusqlite` for tests and benches: the same SQL, numbers as JavaScript passes
//! them, workerd's limits and authorizer (its `util/sqlite.c++`), and faults on demand.
//!
//! One thing is stricter than the platform: every statement outside a transaction commits by itself. workerd joins all
//! statements that run without an await between them. A test can mark such a step with `begin_step` and `end_step`.

#![allow(dead_code, reason = "no test binary uses all of it")]
#![expect(clippy::expect_used, reason = "a test whose database does not open has nothing to say")]

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
    backup::Backup,
    config::DbConfig,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
    types::{ToSqlOutput, ValueRef},
};

use platform::database::{Database, DatabaseError, Row, Value};

/// How a write fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not carried out, and an error is returned.
    Before,
    /// It is carried out, and an error is returned nevertheless.
    After,
}

/// Which of the next writes fail. A write is a statement that may change something, or the commit of a transaction. A
/// statement within a transaction counts as a write of its own.
#[derive(Clone, Debug, Default)]
pub struct Faults(VecDeque<Option<Fault>>);

impl Faults {
    pub fn none() -> Self {
        Self::default()
    }

    /// Only the `nth` write from now fails, counted from 1.
    pub fn at(nth: usize, fault: Fault) -> Self {
        let mut script = vec![None; nth.saturating_sub(1)];
        script.push(Some(fault));
        Self::script(script)
    }

    /// One entry for each write from now on. Writes beyond the end succeed.
    pub fn script(script: impl IntoIterator<Item = Option<Fault>>) -> Self {
        Self(script.into_iter().collect())
    }
}

/// One object's database.
pub struct Sqlite {
    connection: Connection,
    /// Set while this backend runs its own BEGIN, COMMIT or ROLLBACK.
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
        connection.pragma_update(None, "journal_mode", "WAL").expect("a write-ahead log, as workerd has");
        Self::over(connection)
    }

    fn over(mut connection: Connection) -> Self {
        for (limit, value) in LIMITS {
            connection.set_limit(*limit, *value).expect("set a limit");
        }
        for (setting, value) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            // Makes a misspelt column in double quotes an error instead of a string.
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        ] {
            connection.set_db_config(setting, value).expect("configure the database");
        }
        connection.set_prepared_statement_cache_capacity(256);
        let may_transact = Arc::new(AtomicBool::new(false));
        let allowed = Arc::clone(&may_transact);
        connection
            .authorizer(Some(move |context: AuthContext<'_>| authorize(context.action, allowed.load(Relaxed))))
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

    /// A copy of the whole database.
    pub fn copy(&self) -> Self {
        let mut copy = Connection::open_in_memory().expect("open a database in memory");
        let backup = Backup::new(&self.connection, &mut copy).expect("begin a backup");
        backup.step(-1).expect("copy the database");
        drop(backup);
        Self::over(copy)
    }

    /// Replaces the faults, and counts writes from 0 again.
    pub fn inject(&self, faults: Faults) {
        self.faults.replace(faults);
        self.writes.set(0);
    }

    /// Marks the database as `make restore` does.
    #[allow(dead_code, reason = "not all test binaries put objects back")]
    pub fn mark_put_back(&self) {
        self.execute("CREATE TABLE IF NOT EXISTS put_back (at_ms INTEGER NOT NULL)", &[]).expect("a mark");
    }

    /// Writes attempted since the last [`inject`](Self::inject). A test that breaks the 1st, 2nd, … write ends when the
    /// one to break was not reached.
    pub fn writes(&self) -> usize {
        self.writes.get()
    }

    /// Every distinct SQL text that this database has run.
    pub fn statements(&self) -> BTreeSet<String> {
        self.statements.borrow().clone()
    }

    /// Joins all statements up to [`end_step`](Self::end_step) into one commit.
    pub fn begin_step(&self) {
        self.run_own("BEGIN IMMEDIATE").expect("begin a step");
        self.in_step.set(true);
    }

    /// Commits the step, or rolls it back if the process died in it.
    pub fn end_step(&self, died: bool) {
        self.in_step.set(false);
        let end = if died { "ROLLBACK" } else { "COMMIT" };
        self.run_own(end).expect("end a step");
    }

    fn next_fault(&self) -> Option<Fault> {
        self.writes.set(self.writes.get() + 1);
        self.faults.borrow_mut().0.pop_front().flatten()
    }

    fn run_own(&self, sql: &str) -> Result<(), DatabaseError> {
        self.may_transact.store(true, Relaxed);
        let outcome = self.connection.execute_batch(sql);
        self.may_transact.store(false, Relaxed);
        outcome.map_err(db_error)
    }
}

impl Database for Sqlite {
    /// workerd does not finish a statement whose rows are not read, and then no transaction commits.
    fn execute(&self, sql: &str, parameters: &[Value]) -> Result<(), DatabaseError> {
        let columns = self.connection.prepare_cached(sql).map(|sql| sql.column_count());
        match columns {
            Ok(1..) => Err(DatabaseError(format!("the rows are not read: {sql}"))),
            _ => self.query(sql, parameters).map(drop),
        }
    }

    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        self.statements.borrow_mut().insert(sql.to_owned());
        let bound = parameters.iter().map(bind).collect::<Result<Vec<_>, _>>()?;
        let mut statement = self.connection.prepare_cached(sql).map_err(db_error)?;
        let fault = if statement.readonly() { None } else { self.next_fault() };
        if fault == Some(Fault::Before) {
            return Err(injected(Fault::Before));
        }
        let columns = statement.column_count();
        let mut cursor = statement.query(rusqlite::params_from_iter(bound)).map_err(db_error)?;
        let mut rows = vec![];
        while let Some(row) = cursor.next().map_err(db_error)? {
            let values = (0..columns).map(|column| fetch(row.get_ref(column).map_err(db_error)?));
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
        self.run_own(begin)?;
        open.undo = Some(undo);
        let done = work()?;
        let fault = self.next_fault();
        if fault == Some(Fault::Before) {
            return Err(injected(Fault::Before).into());
        }
        self.run_own(commit)?;
        open.undo = None;
        fault.map_or(Ok(done), |fault| Err(injected(fault).into()))
    }
}

/// Rolls back a transaction that was not committed, also when its work panics.
struct OpenTransaction<'a> {
    db: &'a Sqlite,
    undo: Option<&'static str>,
}

impl Drop for OpenTransaction<'_> {
    fn drop(&mut self) {
        // After some errors SQLite has already rolled back.
        if let Some(undo) = self.undo
            && !self.db.connection.is_autocommit()
        {
            let undone = self.db.run_own(undo);
            debug_assert!(undone.is_ok(), "{undone:?}");
        }
        self.db.in_transaction.set(false);
    }
}

/// Binds a value as `SqlStorage` does: JavaScript has only one kind of number.
fn bind(value: &Value) -> Result<ToSqlOutput<'_>, DatabaseError> {
    Ok(match value {
        Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
        Value::Integer(integer) => ToSqlOutput::Borrowed(ValueRef::Real(Value::number(*integer)?)),
        Value::Real(real) => ToSqlOutput::Borrowed(ValueRef::Real(*real)),
        Value::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        Value::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
    })
}

/// Converts a column's value as `SqlStorage` does.
fn fetch(value: ValueRef<'_>) -> Result<Value, DatabaseError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        #[expect(clippy::cast_precision_loss, reason = "so does workerd")]
        ValueRef::Integer(integer) => Value::from_number(integer as f64),
        ValueRef::Real(real) => Value::from_number(real),
        ValueRef::Text(text) => {
            Value::Text(std::str::from_utf8(text).map_err(|error| DatabaseError(error.to_string()))?.to_owned())
        }
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    })
}

fn db_error(error: rusqlite::Error) -> DatabaseError {
    DatabaseError(error.to_string())
}

fn injected(fault: Fault) -> DatabaseError {
    DatabaseError(format!("injected: {fault:?}"))
}

/// The limits of `SqliteDatabase::setupSecurity`, but for a value's length: it sets 2,200,000, and 2 MB is documented.
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

/// Allows what `SqliteDatabase::isAuthorized` allows.
fn authorize(action: AuthAction<'_>, may_transact: bool) -> Authorization {
    let allowed = match action {
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => may_transact,
        AuthAction::Pragma { pragma_name, .. } => PRAGMAS.contains(&pragma_name),
        AuthAction::Function { function_name } => FUNCTIONS.split_whitespace().any(|name| name == function_name),
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
    if allowed { Authorization::Allow } else { Authorization::Deny }
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

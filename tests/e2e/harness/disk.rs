//! Reads and damages the objects' databases on disk directly, for state that no interface shows or sets.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OpenFlags, Row, types::ValueRef};

use super::Signpost;

impl Signpost {
    /// Runs a query on the databases of all objects of a namespace (`uniqueKey` in `workerd.capnp`).
    pub fn stored<T>(&self, namespace: &str, sql: &str, read: impl Fn(&Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
        let mut rows = Vec::new();
        for file in self.databases(namespace) {
            let database = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY);
            let database = database.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let mut statement = database.prepare(sql).expect("a query");
            let found = statement.query_map([], &read).expect("a query that runs");
            rows.extend(found.map(|row| row.expect("a row")));
        }
        rows
    }

    /// Calls `each` with the file, the table and the values of each row of a namespace's objects.
    fn each_row(&self, namespace: &str, mut each: impl FnMut(&Path, &str, &[ValueRef<'_>])) {
        let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
        let tables: BTreeSet<String> = self.stored(namespace, tables, |row| row.get(0)).into_iter().collect();
        for file in self.databases(namespace) {
            let database = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY);
            let database = database.expect("a database");
            for table in &tables {
                // Objects of a namespace may have tables of their own.
                let Ok(mut query) = database.prepare(&format!("SELECT * FROM \"{table}\"")) else {
                    continue;
                };
                let columns = query.column_count();
                let mut rows = query.query([]).expect("rows");
                while let Some(row) = rows.next().expect("a row") {
                    let values = (0..columns).map(|column| row.get_ref(column).expect("a value"));
                    each(&file, table, &values.collect::<Vec<_>>());
                }
            }
        }
    }

    /// All rows of a namespace's objects, in order, without the tables whose names begin like one of these.
    pub fn dump(&self, namespace: &str, without: &[&str]) -> BTreeSet<String> {
        let mut rows = BTreeSet::new();
        self.each_row(namespace, |file, table, values| {
            if !without.iter().any(|name| table.starts_with(name)) {
                rows.insert(format!("{} {table} {values:?}", file.display()));
            }
        });
        rows
    }

    /// Where a text of this kind is stored: in a column of an object's table, or in a value of KV.
    pub fn stored_with(&self, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let is_meant = |bytes: &[u8]| is_meant(&String::from_utf8_lossy(bytes));
        let mut found = Vec::new();
        let namespaces = std::fs::read_dir(self.state.path().join("objects")).expect("folders of objects");
        for namespace in namespaces.map(|folder| folder.expect("a folder").file_name()) {
            self.each_row(&namespace.to_string_lossy(), |file, table, values| {
                let mut texts = values.iter().filter_map(|value| match value {
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(*bytes),
                    _ => None,
                });
                if texts.any(is_meant) {
                    found.push(format!("{} {table}", file.display()));
                }
            });
        }
        let values = std::fs::read_dir(self.state.path().join("kv")).expect("the folder of KV");
        for file in values.map(|file| file.expect("a file").path()) {
            if file.is_file() && is_meant(&std::fs::read(&file).expect("a value")) {
                found.push(file.display().to_string());
            }
        }
        found
    }

    /// The files of all objects.
    pub fn object_files(&self) -> BTreeSet<PathBuf> {
        let namespaces = std::fs::read_dir(self.state.path().join("objects")).expect("folders of objects");
        namespaces.flat_map(|folder| self.databases(&folder.expect("a folder").file_name().to_string_lossy())).collect()
    }

    /// How often a text stands in the files of all objects, with unused pages and write-ahead logs.
    pub fn places_in_files(&self, text: &str) -> usize {
        let files = self.object_files().into_iter();
        let files = files.flat_map(|file| [file.with_extension("sqlite-wal"), file]);
        // A missing log has no bytes.
        let bytes = files.map(|file| std::fs::read(file).unwrap_or_default());
        let places = |bytes: Vec<u8>| {
            let parts = bytes.windows(text.len());
            parts.filter(|part| *part == text.as_bytes()).count()
        };
        bytes.map(places).sum()
    }

    /// Runs `VACUUM` on the databases of all objects. workerd must be down.
    pub fn vacuum(&self) {
        for file in self.object_files() {
            let database = Connection::open(&file).expect("a database");
            let made = database.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
            made.expect("a file without free pages");
        }
    }

    /// Runs a statement on the databases of all objects of a namespace. workerd must be down.
    pub fn damage(&self, namespace: &str, sql: &str) {
        for file in self.databases(namespace) {
            let database = Connection::open(&file).expect("a database");
            database.execute(sql, []).expect("a statement that runs");
        }
    }

    /// The database of a namespace that has a row for a query.
    pub fn database(&self, namespace: &str, sql: &str) -> PathBuf {
        self.find_database(namespace, sql).expect("a database with the row")
    }

    /// Returns the database of an object that has a row; none while there is no such object.
    pub fn find_database(&self, namespace: &str, sql: &str) -> Option<PathBuf> {
        let mut databases = self.databases(namespace).into_iter();
        databases.find(|file| {
            let database = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY);
            database.is_ok_and(|database| database.query_row(sql, [], |_| Ok(())).is_ok())
        })
    }

    fn databases(&self, namespace: &str) -> Vec<PathBuf> {
        let folder = self.state.path().join("objects").join(namespace);
        let files = std::fs::read_dir(folder).expect("a folder of objects");
        let files = files.map(|file| file.expect("a file").path());
        files
            .filter(|file| {
                file.extension().is_some_and(|extension| extension == "sqlite")
                    && file.file_stem().is_none_or(|stem| stem != "metadata")
            })
            .collect()
    }
}

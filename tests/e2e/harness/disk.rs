//! Reads and damages the objects' databases on disk directly, for state that no interface shows or sets.

use std::path::PathBuf;

use rusqlite::{Connection, OpenFlags, Row};

use super::Signpost;

impl Signpost {
    /// Runs a query on the databases of all objects of a namespace (`uniqueKey` in `workerd.capnp`).
    pub fn stored<T>(
        &self,
        namespace: &str,
        sql: &str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Vec<T> {
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

    /// Runs a statement on the databases of all objects of a namespace. workerd must be down.
    pub fn damage(&self, namespace: &str, sql: &str) {
        for file in self.databases(namespace) {
            let database = Connection::open(&file).expect("a database");
            database.execute(sql, []).expect("a statement that runs");
        }
    }

    /// The database of a namespace that has a row for a query.
    pub fn database(&self, namespace: &str, sql: &str) -> PathBuf {
        let mut databases = self.databases(namespace).into_iter();
        let found = databases.find(|file| {
            let database = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY);
            database.is_ok_and(|database| database.query_row(sql, [], |_| Ok(())).is_ok())
        });
        found.expect("a database with the row")
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

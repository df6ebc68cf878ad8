//! App names for reports: the name in the latest facts, or else the name in the catalog.

use std::collections::{BTreeMap, HashMap};

use super::sql;
use contract::catalog::APP_NAMES_PAGE;
use domain::model::MINUTE_MS;
use platform::{Database, DbResult, Row, database::json, params};

/// How long the catalog's names are used without a new request, in milliseconds.
pub const FRESH_MS: i64 = MINUTE_MS;

/// Stores the catalog's names, so that reports have them while the catalog does not answer.
pub fn store(db: &impl Database, names: &BTreeMap<String, String>) -> DbResult {
    let names: Vec<_> = names.iter().collect();
    names.chunks(APP_NAMES_PAGE).try_for_each(|names| {
        let names: BTreeMap<_, _> = names.iter().copied().collect();
        db.execute(sql::STORE_CATALOG_NAMES, params![json(&names)?])
    })
}

/// Returns the names of these apps, by app id.
pub fn look_up<'a>(db: &impl Database, apps: impl Iterator<Item = &'a str>) -> DbResult<HashMap<String, String>> {
    let mut apps: Vec<&str> = apps.collect();
    apps.sort_unstable();
    apps.dedup();
    by_app(db.query(sql::GET_NAMES, params![json(&apps)?])?)
}

/// Returns all names, by app id.
pub fn all(db: &impl Database) -> DbResult<HashMap<String, String>> {
    by_app(db.query(sql::LIST_NAMES, &[])?)
}

fn by_app(rows: Vec<Row>) -> DbResult<HashMap<String, String>> {
    rows.iter().map(|row| Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))).collect()
}

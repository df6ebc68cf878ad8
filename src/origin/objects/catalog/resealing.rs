//! Reseals stored secrets that are sealed with an old key of `STORE_KEYS` or `EDGE_KEYS`, so that the old key can be
//! removed. The alarm does this after the first key has changed.

use super::{Context, callback_sync, revisions, sql, tokens::pub_key_purpose, tracking_slots};
use contract::catalog::callback_purpose;
use domain::{
    model::{AppId, Vault},
    tracking::signature,
};
use platform::{Database, DbResult, Result, log, params};

/// Maximum rows that one step reads.
const ROWS: usize = 50;

/// Where copies of a column's values are.
#[derive(Clone, Copy)]
enum Copies {
    Nowhere,
    InOutboxes,
    InSnapshot,
}

/// A column of sealed values.
struct Column {
    vault: for<'a> fn(&Context<'a>) -> &'a Vault,
    purpose: fn(&str) -> String,
    count: &'static str,
    list: &'static str,
    set: &'static str,
    copies: Copies,
}

const COLUMNS: [Column; 3] = [
    Column {
        vault: |context| context.vault,
        purpose: pub_key_purpose,
        count: sql::COUNT_OLD_PUB_KEYS,
        list: sql::LIST_OLD_PUB_KEYS,
        set: sql::RESEAL_PUB_KEY,
        copies: Copies::Nowhere,
    },
    Column {
        vault: |context| context.vault,
        purpose: callback_purpose,
        count: sql::COUNT_OLD_CALLBACKS,
        list: sql::LIST_OLD_CALLBACKS,
        set: sql::RESEAL_CALLBACK,
        copies: Copies::InOutboxes,
    },
    Column {
        vault: |context| context.edge_vault,
        purpose: signature::purpose,
        count: sql::COUNT_OLD_CLICK_SECRETS,
        list: sql::LIST_OLD_CLICK_SECRETS,
        set: sql::RESEAL_CLICK_SECRETS,
        copies: Copies::InSnapshot,
    },
];

/// Returns a number that identifies the two keys that currently seal.
fn sealing(context: &Context<'_>) -> i64 {
    let [store, edge] = [context.vault, context.edge_vault].map(|vault| i64::from(vault.sealing_id()));
    (store << 8) + edge
}

/// Counts the values under old keys and makes a pass due if there are any, unless the last pass sealed all with the
/// current keys. Returns whether a pass is due.
pub fn begin(db: &impl Database, context: &Context<'_>) -> DbResult<bool> {
    if revisions::get(db, revisions::SEALED_BY)? == Some(sealing(context)) {
        return Ok(false);
    }
    let mut old = 0;
    for column in &COLUMNS {
        let sealing = vec![(column.vault)(context).sealing_id()];
        old += db.query_integer(column.count, params![sealing])?.unwrap_or_default();
    }
    db.transaction(|| {
        revisions::set(db, revisions::OLD_SEALS, old)?;
        match old {
            0 => revisions::set(db, revisions::SEALED_BY, sealing(context))?,
            _ => revisions::set(db, revisions::RESEAL_FROM, context.now_ms)?,
        }
        Ok(old > 0)
    })
}

/// A pass over all values, in steps.
#[derive(Default)]
pub struct Resealing {
    column: usize,
    /// The last id that was read.
    after: String,
    /// The number of values that no key decrypts. They stay as they are.
    kept: i64,
}

impl Resealing {
    /// Reseals the next values. Returns whether any are left.
    pub fn step(&mut self, db: &impl Database, context: &Context<'_>) -> Result<bool> {
        let Some(column) = COLUMNS.get(self.column) else {
            return Ok(false);
        };
        let vault = (column.vault)(context);
        let rows = db.query(column.list, params![vec![vault.sealing_id()], self.after.as_str(), ROWS])?;
        db.transaction(|| {
            for row in &rows {
                let (id, sealed) = (row.text(0)?, row.blob(1)?);
                let purpose = (column.purpose)(id);
                let Some(plain) = vault.open(&purpose, sealed) else {
                    log::error("catalog", format_args!("no listed key decrypts {purpose}, so it keeps its seal"));
                    self.kept += 1;
                    continue;
                };
                let again = context.seal(vault, &purpose, &plain)?;
                db.execute(column.set, params![again, id])?;
                match (column.copies, AppId::parse(id)) {
                    (Copies::InOutboxes, _) => callback_sync::enqueue(db, id, context.now_ms)?,
                    (Copies::InSnapshot, Some(app)) => {
                        tracking_slots::mark_app(db, app, revisions::record(db, context.now_ms)?)?;
                    }
                    _ => {}
                }
            }
            if let Some(last) = rows.last() {
                last.text(0)?.clone_into(&mut self.after);
            }
            if rows.len() < ROWS {
                self.column += 1;
                self.after.clear();
            }
            if self.column == COLUMNS.len() {
                revisions::set(db, revisions::OLD_SEALS, self.kept)?;
                if self.kept == 0 {
                    revisions::set(db, revisions::SEALED_BY, sealing(context))?;
                }
                revisions::clear(db, revisions::RESEAL_FROM)?;
            }
            Ok(self.column < COLUMNS.len())
        })
    }
}

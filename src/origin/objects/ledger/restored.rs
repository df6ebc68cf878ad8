//! A ledger that was restored from a copy gets its lost keys back. The operator is told which days to load again, and
//! the sources resend Signpost's own facts. Readers are told on which final days the figures have reverted.

use std::collections::BTreeSet;

use super::{day_changes, final_days, keys, lasting::Lasting, sql};
use crate::delivery::register::Restore;
use contract::attention::Doubt;
use domain::model::PublisherId;
use platform::{Database, DbResult, Result, params};

/// A ledger that was restored from a copy.
pub struct RestoredLedger;

impl Restore for RestoredLedger {
    type Entry = Lasting;

    fn apply(&self, db: &impl Database, _at_ms: i64, entry: Lasting) -> Result {
        match entry {
            Lasting::Key(key) => keys::store(db, &key)?,
            Lasting::RevokedKey(key_id) => drop(db.query(sql::REVOKE_KEY, params![key_id])?),
            Lasting::Suspension(signed) => db.execute(sql::SET_SUSPENSION, params![signed])?,
            Lasting::Changed(entry) => day_changes::take_again(db, &entry)?,
            Lasting::Loaded(days) => {
                for day in days {
                    db.execute(sql::DELETE_LOAD, params![day.number()])?;
                }
            }
        }
        Ok(())
    }

    fn doubts(&self, db: &impl Database, lost: &[&Lasting]) -> DbResult<(Option<PublisherId>, Vec<Doubt>)> {
        let loaded = lost.iter().filter_map(|entry| match entry {
            Lasting::Loaded(days) => Some(days),
            _ => None,
        });
        let days: BTreeSet<_> = loaded.flatten().collect();
        let doubts = days.iter().map(|day| Doubt::new(day.to_string(), "load_again"));
        Ok((final_days::publisher(db)?, doubts.collect()))
    }
}

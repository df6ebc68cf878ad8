//! Preserves the alarms' address across a restore of the activity object, in the object's
//! [register](crate::delivery::register). Otherwise a restore could silence later alarms.

use serde::{Deserialize, Serialize};

use super::sql;
use crate::delivery::register::Restore;
use contract::{attention::Doubt, operation::Bytes};
use domain::model::PublisherId;
use platform::{Database, DbResult, Result, params};

/// An entry of the register: a change of the address.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Address {
    pub publisher: Option<String>,
    /// The sealed settings; `None` if the address was deleted.
    pub sealed: Option<Bytes>,
}

/// Applies the lost entries to the alarms of a restored object.
pub struct RestoredAlarms;

impl Restore for RestoredAlarms {
    type Entry = Address;

    fn apply(&self, db: &impl Database, at_ms: i64, Address { publisher, sealed }: Address) -> Result {
        match sealed {
            Some(sealed) => db.execute(sql::SET_ADDRESS, params![publisher, sealed.0, at_ms])?,
            None => end(db)?,
        }
        Ok(())
    }

    fn doubts(&self, _db: &impl Database, _lost: &[&Address]) -> DbResult<(Option<PublisherId>, Vec<Doubt>)> {
        Ok((None, vec![]))
    }
}

/// Deletes the address, and all causes, groups and messages, within the caller's transaction.
pub fn end(db: &impl Database) -> DbResult {
    [sql::END_ADDRESS, sql::END_CAUSES, sql::END_GROUPS, sql::END_MESSAGES]
        .into_iter()
        .try_for_each(|sql| db.execute(sql, &[]))
}

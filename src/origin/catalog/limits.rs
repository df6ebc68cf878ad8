//! Caps that changed, to be told to the counters.

use std::collections::BTreeMap;

use super::{revisions, sql};
use contract::counters;
use contract::counters::{CapKind, Limit};
use domain::model::OfferId;
use platform::{
    database::{Database, DatabaseError},
    failure::Failure,
    params,
};

/// The change up to which the counters have been told.
const PUSHED: &str = "limits_pushed";
/// Offers told at a time: no more than a call to one object should carry.
const MOST: i64 = 2_000;

/// Caps to be told, by the counters object they belong to.
#[derive(Debug)]
pub struct Changed {
    pub by_object: BTreeMap<String, Vec<Limit>>,
    /// The change up to which these are all.
    pub through: i64,
}

/// The caps that changed since the counters were last told. An offer that never had one is not worth a word.
pub fn changed(db: &impl Database) -> Result<Changed, Failure> {
    let pushed = revisions::get(db, PUSHED)?.unwrap_or(0);
    let rows = db.query(sql::LIST_CHANGED_LIMITS, params![pushed, MOST])?;
    let mut changed = Changed {
        by_object: BTreeMap::new(),
        through: pushed,
    };
    for row in rows {
        let offer =
            OfferId::parse(row.text(0)?).ok_or_else(|| Failure::Internal("a stored id is none".into()))?;
        let revision = row.integer(3)?;
        let limits = changed
            .by_object
            .entry(counters::object_name(&offer))
            .or_default();
        for (column, kind) in [(1, CapKind::Click), (2, CapKind::Conversion)] {
            let limit = row
                .optional_integer(column)?
                .map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
            limits.push(Limit {
                kind,
                offer: offer.clone(),
                limit,
                revision,
            });
        }
        changed.through = changed.through.max(revision);
    }
    Ok(changed)
}

/// Notes that the counters know the caps up to a change.
pub fn pushed(db: &impl Database, through: i64) -> Result<(), DatabaseError> {
    revisions::set(db, PUSHED, through)
}

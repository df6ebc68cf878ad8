//! Finds the caps that changed and still have to be pushed to the counters.

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

/// The mark of the last revision whose caps the counters have.
const PUSHED: &str = "limits_pushed";
/// Offers pushed at a time, which bounds the size of a call to one counters object.
const MAX_OFFERS: i64 = 2_000;

/// Changed caps, by the name of the counters object that enforces them.
#[derive(Debug)]
pub struct Changed {
    pub by_object: BTreeMap<String, Vec<Limit>>,
    /// The last revision that is included.
    pub through: i64,
}

/// The caps that changed since the last push, of at most 2,000 offers. Offers that never had a cap are left out.
pub fn changed(db: &impl Database) -> Result<Changed, Failure> {
    let pushed = revisions::get(db, PUSHED)?.unwrap_or(0);
    let rows = db.query(sql::LIST_CHANGED_LIMITS, params![pushed, MAX_OFFERS])?;
    let mut changed = Changed {
        by_object: BTreeMap::new(),
        through: pushed,
    };
    for row in rows {
        let offer = OfferId::parse(row.text(0)?)
            .ok_or_else(|| Failure::Internal("a stored offer id is invalid".into()))?;
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

/// Records that the counters have all caps up to a revision.
pub fn pushed(db: &impl Database, through: i64) -> Result<(), DatabaseError> {
    revisions::set(db, PUSHED, through)
}

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
pub struct ChangedCaps {
    pub by_object: BTreeMap<String, Vec<Limit>>,
    /// The last revision that is included.
    pub through: i64,
}

/// The caps that changed since the last push, of at most 2,000 offers. Offers that never had a cap are left out.
pub fn changed_caps(db: &impl Database) -> Result<ChangedCaps, Failure> {
    let pushed = revisions::get(db, PUSHED)?.unwrap_or(0);
    let rows = db.query(sql::LIST_CHANGED_LIMITS, params![pushed, MAX_OFFERS])?;
    let mut changed = ChangedCaps {
        by_object: BTreeMap::new(),
        through: pushed,
    };
    for row in rows {
        let offer = row.parse(0, OfferId::parse)?;
        let revision = row.integer(3)?;
        let limits = changed
            .by_object
            .entry(counters::object_name(&offer))
            .or_default();
        for (column, kind) in [(1, CapKind::Click), (2, CapKind::Conversion)] {
            let limit = row.optional_number(column)?;
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
pub fn record_pushed(db: &impl Database, through: i64) -> Result<(), DatabaseError> {
    revisions::set(db, PUSHED, through)
}

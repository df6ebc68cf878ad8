//! Finds the caps that changed and still have to be pushed to the counters.

use std::collections::BTreeMap;

use super::{revisions, sql};
use contract::counters::{self, CapKind, Limit};
use domain::model::OfferId;
use platform::{
    database::{Database, DatabaseError, Row},
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
        let (offer, limits) = read_limits(&row)?;
        changed.through = changed.through.max(row.integer(3)?);
        let object = counters::object_name(&offer);
        changed.by_object.entry(object).or_default().extend(limits);
    }
    Ok(changed)
}

/// The caps of an offer, if one was changed since the last push. A first click cap needs no push: it is new to the edge as well.
pub fn changed_cap(db: &impl Database, offer: &OfferId) -> Result<Option<Vec<Limit>>, DatabaseError> {
    let pushed = revisions::get(db, PUSHED)?.unwrap_or(0);
    let row = db.query_first(sql::GET_CHANGED_LIMITS, params![offer.as_str(), pushed])?;
    row.map(|row| Ok(read_limits(&row)?.1)).transpose()
}

fn read_limits(row: &Row) -> Result<(OfferId, Vec<Limit>), DatabaseError> {
    let offer = row.parse(0, OfferId::parse)?;
    let limit = |(column, kind)| {
        Ok(Limit {
            kind,
            offer: offer.clone(),
            limit: row.optional_number(column)?,
            revision: row.integer(3)?,
        })
    };
    let kinds = [(1, CapKind::Click), (2, CapKind::Conversion)];
    let limits = kinds.into_iter().map(limit).collect::<Result<_, _>>()?;
    Ok((offer, limits))
}

/// Records that the counters have all caps up to a revision.
pub fn record_pushed(db: &impl Database, through: i64) -> Result<(), DatabaseError> {
    revisions::set(db, PUSHED, through)
}

//! Daily caps. Takes are counted per UTC day, so a cap renews itself at 00:00 UTC. A cap is never exceeded, because no
//! other command runs between a read and the write that depends on it.

use super::{sql, sweep};
use contract::counters::{CapKind, ReadTaken, SetCap, Take, Taken, TakenOfDay};
use domain::model::time::UtcDay;
use platform::{
    database::{Database, DatabaseError, Row},
    params,
};

/// How much of an offer's conversion cap of a day is taken.
pub fn read_taken(db: &impl Database, read: &ReadTaken) -> Result<TakenOfDay, DatabaseError> {
    let row = db.query_first(sql::GET_TAKEN, params![read.offer.as_str(), read.day.number()])?;
    let conversions = row.map_or(Ok(0), |row| row.number(0))?;
    Ok(TakenOfDay { conversions })
}

pub fn take(db: &impl Database, now_ms: i64, take: &Take) -> Result<Taken, DatabaseError> {
    let (kind, day) = (take.kind.number(), take.day.number());
    let state = db
        .query_first(
            sql::STANDING,
            params![kind, day, take.key.as_str(), take.offer.as_str()],
        )?
        .unwrap_or(Row(vec![]));
    let known_revision = state.optional_integer(1)?;
    let is_newer = known_revision.is_none_or(|known| take.revision > known);
    let limit = if is_newer {
        Some(take.limit)
    } else {
        state.optional_number(2)?
    }
    .unwrap_or(u32::MAX);
    let taken = state.optional_number(3)?.unwrap_or(0);

    // Takes of a swept day cannot be deduplicated. Tomorrow is allowed, as clocks differ; later days are not.
    let is_open = sweep::first_day_of_takes(take.kind, now_ms) <= take.day
        && take.day <= UtcDay::of_ms(now_ms).minus(-1);
    let repeated = state.optional_number(0)?;
    let free = limit.checked_sub(taken).and_then(|left| left.checked_sub(1));
    let allowed = free.or(take.by_force.then_some(0)).filter(|_| is_open);
    let left = repeated.or(allowed);

    let takes = repeated.is_none() && left.is_some();
    if is_newer || takes {
        db.transaction(|| {
            if is_newer {
                let limit = params![kind, take.offer.as_str(), take.limit, take.revision];
                db.execute(sql::LEARN_LIMIT, limit)?;
            }
            if takes {
                db.execute(sql::RECORD_TAKE, params![kind, day, take.key.as_str(), left])?;
                let (clicks, conversions) = match take.kind {
                    CapKind::Click => (1_u32, 0_u32),
                    CapKind::Conversion => (0, 1),
                };
                db.execute(
                    sql::ADD_TAKEN,
                    params![day, take.offer.as_str(), clicks, conversions],
                )?;
            }
            Ok::<_, DatabaseError>(())
        })?;
    }
    Ok(Taken {
        taken: left.is_some() || take.by_force,
        left: left.unwrap_or(0),
    })
}

/// Stores a conversion cap, and counts what an outbox paid before there was one as taken.
pub fn set_cap(db: &impl Database, now_ms: i64, cap: &SetCap) -> Result<(), DatabaseError> {
    let (day, offer, source) = (cap.day.number(), cap.offer.as_str(), cap.source.as_str());
    db.transaction(|| {
        let limit = params![CapKind::Conversion.number(), offer, cap.limit, cap.revision];
        db.execute(sql::LEARN_LIMIT, limit)?;
        let counted = db.query_integer(sql::GET_UNCAPPED, params![day, offer, source])?;
        let more = i64::from(cap.uncapped).saturating_sub(counted.unwrap_or(0));
        // As with takes, a swept day is over.
        if more <= 0 || cap.day < sweep::first_day_of_takes(CapKind::Conversion, now_ms) {
            return Ok(());
        }
        db.execute(sql::SET_UNCAPPED, params![day, offer, source, cap.uncapped])?;
        db.execute(sql::ADD_TAKEN, params![day, offer, 0_u32, more])
    })
}

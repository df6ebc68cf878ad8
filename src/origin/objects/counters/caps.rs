//! Daily caps. Takes are counted per UTC day, so a cap resets at 00:00 UTC. A cap is never exceeded, because no other
//! command runs between a read and the write that depends on it.

use std::cell::RefCell;

use super::{
    cap_alarms::{self, Change},
    log, sql, sweep,
};
use contract::counters::{CapKind, ReadTaken, SetCap, Take, Taken, TakenOfDay};
use domain::model::{OfferId, UtcDay, seeded_hash::SeededMap};
use platform::{Database, DbResult, Row, params};

/// Maximum counts that a process keeps, about 100 bytes each.
const KNOWN: usize = 50_000;

type Cap = (CapKind, UtcDay, OfferId);

/// The number of takes from each cap. A process counts the stored takes once and keeps the count in memory. A count in
/// the database would cost one more written row for each take.
#[derive(Debug, Default)]
pub struct TakenCounts(RefCell<SeededMap<Cap, u32>>);

impl TakenCounts {
    pub fn get(&self, db: &impl Database, cap: Cap) -> DbResult<u32> {
        if let Some(taken) = self.0.borrow().get(&cap) {
            return Ok(*taken);
        }
        let (kind, day, offer) = &cap;
        let stored = params![kind.number(), day.number(), offer.as_str()];
        let taken = db.read_first(sql::COUNT_TAKEN, stored, |row| row.number(0))?;
        let taken = taken.unwrap_or(0);
        self.set(cap, taken);
        Ok(taken)
    }

    fn set(&self, cap: Cap, taken: u32) {
        let mut counts = self.0.borrow_mut();
        if counts.len() >= KNOWN {
            counts.clear();
        }
        counts.insert(cap, taken);
    }

    pub fn forget(&self, cap: &Cap) {
        self.0.borrow_mut().remove(cap);
    }
}

/// Returns an offer's counted clicks on a day, and the takes from its conversion cap.
pub fn read_taken(db: &impl Database, counts: &TakenCounts, read: ReadTaken) -> DbResult<TakenOfDay> {
    log::count(db)?;
    let clicks = db.query_integer(sql::GET_CLICKS, params![read.day.number(), read.offer.as_str()])?;
    Ok(TakenOfDay {
        conversions: counts.get(db, (CapKind::Conversion, read.day, read.offer))?,
        clicks: clicks.unwrap_or(0),
    })
}

pub fn take(db: &impl Database, counts: &TakenCounts, now_ms: i64, take: &Take) -> DbResult<Taken> {
    let (kind, day) = (take.kind.number(), take.day.number());
    let state = db
        .query_first(sql::STANDING, params![kind, day, take.offer.as_str(), take.key.as_str()])?
        .unwrap_or(Row(vec![]));
    let known_revision = state.optional_integer(1)?;
    let is_newer = known_revision.is_none_or(|known| take.revision > known);
    let known_limit: Option<u32> = state.optional_number(2)?;
    let limit = if is_newer { Some(take.limit) } else { known_limit };
    let limit = limit.unwrap_or(u32::MAX);
    let cap = (take.kind, take.day, take.offer.clone());
    let taken = counts.get(db, cap.clone())?;

    // Retries of a swept day's takes would not be recognized, so the day is closed. Tomorrow is open, because clocks
    // differ.
    let is_open =
        sweep::first_day_of_takes(take.kind, now_ms) <= take.day && take.day <= UtcDay::of_ms(now_ms).minus(-1);
    let repeated = state.optional_number(0)?;
    let free = limit.checked_sub(taken).and_then(|left| left.checked_sub(1));
    let allowed = free.or(take.by_force.then_some(0)).filter(|_| is_open);
    let left = repeated.or(allowed);

    let takes = repeated.is_none() && left.is_some();
    if is_newer || takes {
        counts.forget(&cap);
        db.transaction(|| {
            if is_newer {
                let limit = params![kind, take.offer.as_str(), take.limit, take.revision];
                db.execute(sql::LEARN_LIMIT, limit)?;
            }
            if takes {
                let offer = take.offer.as_str();
                db.execute(sql::RECORD_TAKE, params![kind, day, offer, take.key.as_str(), left])?;
                if taken == 0 {
                    db.execute(sql::ADD_OFFER, params![day, offer])?;
                }
            }
            let change = Change {
                kind: take.kind,
                day: take.day,
                offer: take.offer.as_str(),
                limit,
                is_new: known_limit != Some(limit),
                taken: [taken, taken.saturating_add(takes.into())],
            };
            cap_alarms::note(db, now_ms, &change)
        })?;
        counts.set(cap, taken.saturating_add(takes.into()));
    }
    Ok(Taken { taken: left.is_some() || take.by_force, left: left.unwrap_or(0) })
}

/// Stores a conversion cap. Conversions that an outbox paid without a cap count as taken.
pub fn set_cap(db: &impl Database, counts: &TakenCounts, now_ms: i64, cap: &SetCap) -> DbResult {
    let (day, offer, source) = (cap.day.number(), cap.offer.as_str(), cap.source.as_str());
    counts.forget(&(CapKind::Conversion, cap.day, cap.offer.clone()));
    db.transaction(|| {
        let kind = CapKind::Conversion;
        let before = db.query_first(sql::STANDING, params![kind.number(), day, offer, ""])?;
        let known = before.map_or(Ok(None), |row| row.optional_integer(1))?;
        let limit = params![kind.number(), offer, cap.limit, cap.revision];
        db.execute(sql::LEARN_LIMIT, limit)?;
        // A swept day is closed for these conversions, as it is for takes.
        if cap.uncapped > 0 && cap.day >= sweep::first_day_of_takes(kind, now_ms) {
            db.execute(sql::SET_UNCAPPED, params![day, offer, source, cap.uncapped])?;
            db.execute(sql::ADD_OFFER, params![day, offer])?;
        }
        match cap.limit {
            Some(limit) if known.is_none_or(|known| known <= cap.revision) => {
                let taken = db.read_first(sql::COUNT_TAKEN, params![kind.number(), day, offer], |row| row.number(0))?;
                let change = Change { kind, day: cap.day, offer, limit, is_new: true, taken: [0, taken.unwrap_or(0)] };
                cap_alarms::note(db, now_ms, &change)
            }
            _ => Ok(()),
        }
    })
}

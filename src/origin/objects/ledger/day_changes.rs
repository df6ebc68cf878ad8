//! Changes of final days, for readers who keep a copy of the reports (docs/DECISIONS.md, "Reports").
//!
//! For readers, all days up to a certain day are final. That day never moves back, unless the ledger is restored from a
//! copy. Every later change of a final day adds an entry for each changed app, in the transaction of the change. An
//! entry has the app's sums on the day, before and after the change. So a reader who rereads the changed days and the
//! days that are not final has the same figures as after a full pull.

pub mod sql;

use std::collections::{BTreeMap, btree_map::Entry};

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::Xxh3;

use super::{
    lasting::Lasting,
    segments::{self, Layer},
    sql as state,
};
use crate::delivery::register;
use contract::ledger::{ChangeCause, DayChange, DayChanges, ListDayChanges};
use domain::{
    conversions::log_number::first_number,
    model::{
        MicroUsd,
        time::{DAY_MS, HOUR_MS, UtcDay},
    },
    reporting::{
        Measure,
        metric::{Sums, get},
    },
};
use platform::{Database, DatabaseError, DbResult, Row, database::json as as_json, params};

/// The row of `state` with the last day that is final for readers.
const FINAL_THROUGH: &str = "final_through";
/// The row of `state` with the last entry that was read.
const READ_THROUGH: &str = "day_changes_read";
/// The rows of `state` with the first and the last entry that a restored ledger had lost. They exist until new entries
/// record which figures have reverted.
const LOST_FROM: &str = "day_changes_lost_from";
const LOST_THROUGH: &str = "day_changes_lost_through";
/// How long entries are kept, in milliseconds.
const KEPT_MS: i64 = 400 * DAY_MS;
/// Maximum entries on a page.
pub const MAX_LIMIT: u32 = 1_000;

/// An app's sums on a day, and a hash of its rows.
type AppFigures = (Sums, u128);
type Figures = BTreeMap<String, AppFigures>;

/// Days that are about to change, with their figures before the change.
pub struct Watch(Vec<(UtcDay, Figures)>);

impl Watch {
    /// Reads the figures of the days among `days` that are final, within the transaction of the change.
    pub fn begin(db: &impl Database, days: &[UtcDay]) -> DbResult<Self> {
        Self::of_all(db, &final_of(db, days)?)
    }

    /// Reads the figures of all `days`.
    pub fn of_all(db: &impl Database, days: &[UtcDay]) -> DbResult<Self> {
        let days = days.iter().map(|day| Ok((*day, figures(db, *day)?)));
        days.collect::<DbResult<_>>().map(Self)
    }

    /// Adds entries for the changes, and returns whether there are any changes.
    pub fn end(self, db: &impl Database, now_ms: i64, cause: ChangeCause) -> DbResult<bool> {
        let differences = self.differences(db)?.into_iter();
        let entries = differences.map(|Difference { day, app, sums }| add(db, now_ms, (day, &app, cause), sums));
        let entries: Vec<_> = entries.collect::<Result<_, _>>()?;
        let has_changed = !entries.is_empty();
        register_all(db, now_ms, entries)?;
        Ok(has_changed)
    }

    /// Returns the apps whose figures have changed, by day.
    pub fn differences(self, db: &impl Database) -> DbResult<Vec<Difference>> {
        let mut differences = Vec::new();
        for (day, before) in self.0 {
            let before = before.into_iter().map(|(app, before)| (app, (before, Default::default())));
            let mut both: BTreeMap<String, (AppFigures, AppFigures)> = before.collect();
            for (app, after) in figures(db, day)? {
                both.entry(app).or_default().1 = after;
            }
            let changed = both.into_iter().filter(|(_, (before, after))| before != after);
            differences.extend(changed.map(|(app, (before, after))| Difference {
                day,
                app,
                sums: [before.0, after.0],
            }));
        }
        Ok(differences)
    }
}

/// An app's sums on a day before and after a change.
pub struct Difference {
    pub day: UtcDay,
    pub app: String,
    pub sums: [Sums; 2],
}

/// Returns the sums of an app on a day as the interfaces show them.
pub fn shown(sums: &Sums) -> Map<String, Value> {
    let value = |measure| match measure {
        Measure::Revenue => json!(MicroUsd(get(sums, measure))),
        _ => json!(get(sums, measure)),
    };
    let shown = Measure::ALL.map(|measure| (measure.as_str().to_owned(), value(measure)));
    shown.into_iter().collect()
}

/// Returns the days among `days` that are final for readers.
pub fn final_of(db: &impl Database, days: &[UtcDay]) -> DbResult<Vec<UtcDay>> {
    db.read_all(sql::LIST_FINAL, params![as_json(&days)?], |row| segments::day(row.integer(0)?))
}

fn figures(db: &impl Database, day: UtcDay) -> DbResult<Figures> {
    let mut figures = Figures::new();
    for layer in [Layer::Loaded, Layer::Offers] {
        // Damaged segments are skipped: their facts are unknown, and no report is made from them.
        segments::each_intact_row(db, day, layer, |key, sums| {
            let [app, ..] = *key;
            let (total, hash) = match figures.get_mut(app) {
                Some(known) => known,
                None => figures.entry(app.to_owned()).or_default(),
            };
            let mut row = Xxh3::new();
            for value in key {
                row.update(value.as_bytes());
                row.update(&[0]);
            }
            for (total, sum) in total.iter_mut().zip(sums) {
                row.update(&sum.to_le_bytes());
                *total = total.saturating_add(*sum);
            }
            *hash = hash.wrapping_add(row.digest128());
        })?;
    }
    Ok(figures)
}

/// Adds an entry. If an earlier change within the same hour has an entry that was not read yet, updates that entry
/// instead.
fn add(
    db: &impl Database,
    now_ms: i64,
    (day, app, cause): (UtcDay, &str, ChangeCause),
    [before, after]: [Sums; 2],
) -> DbResult<DayChange> {
    let (before, after) = (as_json(&before)?, as_json(&after)?);
    let read = db.query_integer(state::GET_STATE, params![READ_THROUGH])?.unwrap_or(0);
    let hour_ms = now_ms.saturating_sub(now_ms.rem_euclid(HOUR_MS));
    let (cause, number) = (u32::from(cause.number()), first_number(now_ms));
    let entry = params![number, day.number(), app, cause, now_ms, before, after].to_vec();
    let going_on = [entry.as_slice(), params![hour_ms, read]].concat();
    let added = match db.query_first(sql::GO_ON, &going_on)? {
        Some(row) => Some(row),
        None => db.query_first(sql::ADD, &entry)?,
    };
    let added = added.ok_or_else(|| DatabaseError("RETURNING returned no row".into()))?;
    change(&added)
}

/// Registers the entries, so that a restored ledger can store them again.
fn register_all(db: &impl Database, now_ms: i64, entries: Vec<DayChange>) -> DbResult {
    entries.into_iter().try_for_each(|entry| register::add(db, now_ms, &Lasting::Changed(entry)))
}

fn change(row: &Row) -> DbResult<DayChange> {
    Ok(DayChange {
        number: row.integer(0)?,
        day: segments::day(row.integer(1)?)?,
        app: row.text(2)?.to_owned(),
        cause: row.decode(3, ChangeCause::from_number)?,
        at_ms: row.integer(4)?,
        before: row.json(5)?,
        after: row.json(6)?,
    })
}

/// Returns the last day that is final for readers; none if no day is final yet.
pub fn final_through(db: &impl Database) -> DbResult<Option<UtcDay>> {
    let number = db.query_integer(state::GET_STATE, params![FINAL_THROUGH])?;
    number.map(segments::day).transpose()
}

/// Moves the last final day forward after the states of days were decided, and deletes old entries, within the caller's
/// transaction.
pub fn judged(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::SWEEP, params![first_number(now_ms.saturating_sub(KEPT_MS))])?;
    let through = db.query_integer(state::GET_STATE, params![FINAL_THROUGH])?;
    let first = match through {
        Some(through) => Some(through.saturating_add(1)),
        None => db.query_integer(sql::FIRST_LOADED, &[])?,
    };
    let Some(first) = first else {
        return Ok(());
    };
    let days: Vec<i64> = db.read_all(sql::LIST_JUDGED_FINAL, params![first], |row| row.integer(0))?;
    let in_a_row = days.into_iter().zip(first..).take_while(|(day, expected)| day == expected);
    match in_a_row.last() {
        Some((last, _)) => db.execute(state::RAISE_STATE, params![FINAL_THROUGH, last]),
        None => Ok(()),
    }
}

/// Returns a page of entries. The returned entries no longer change.
pub fn list(db: &impl Database, list: ListDayChanges) -> DbResult<DayChanges> {
    let limit = list.limit.clamp(1, MAX_LIMIT);
    let mut changes = match list.before {
        Some(before) => db.read_all(sql::LIST_NEWEST, params![before, limit + 1], change)?,
        None => db.read_all(sql::LIST, params![list.after, limit + 1], change)?,
    };
    let has_more = changes.len() > limit as usize;
    changes.truncate(limit as usize);
    if let Some(last) = changes.iter().map(|change| change.number).max() {
        db.execute(state::RAISE_STATE, params![READ_THROUGH, last])?;
    }
    Ok(DayChanges { changes, has_more, final_through: final_through(db)? })
}

/// Treats all entries as read. A process calls this once: an entry may have been read after the copy was made to which
/// the ledger was restored.
pub fn close_all(db: &impl Database) -> DbResult {
    match db.query_integer(sql::NEWEST, &[])? {
        Some(newest) => db.execute(state::RAISE_STATE, params![READ_THROUGH, newest]),
        None => Ok(()),
    }
}

/// Stores an entry that a restored ledger has lost, within the caller's transaction.
pub fn take_again(db: &impl Database, entry: &DayChange) -> DbResult {
    let (before, after) = (as_json(&entry.before)?, as_json(&entry.after)?);
    let cause = u32::from(entry.cause.number());
    let number = entry.number;
    db.execute(sql::PUT, params![number, entry.day.number(), entry.app.as_str(), cause, entry.at_ms, before, after])?;
    db.execute(state::LOWER_STATE, params![LOST_FROM, number])?;
    db.execute(state::RAISE_STATE, params![LOST_THROUGH, number])?;
    db.execute(state::RAISE_STATE, params![READ_THROUGH, number])
}

/// Adds entries for the days whose figures reverted because the ledger was restored from a copy. Each entry goes from
/// the figures of the last lost entry to the figures of the next entry or, if there is none, to the current figures.
pub fn went_back(db: &impl Database, now_ms: i64) -> DbResult {
    let Some(from) = db.query_integer(state::GET_STATE, params![LOST_FROM])? else {
        return Ok(());
    };
    let through = db.query_integer(state::GET_STATE, params![LOST_THROUGH])?;
    db.transaction(|| {
        let mut days: BTreeMap<UtcDay, Figures> = BTreeMap::new();
        let mut entries = Vec::new();
        for row in db.query(sql::LIST_LOST, params![from, through])? {
            let (day, app) = (segments::day(row.integer(0)?)?, row.text(1)?);
            let next = match row.optional_text(3)? {
                Some(_) => row.json(3)?,
                None => {
                    let figures = match days.entry(day) {
                        Entry::Occupied(read) => read.into_mut(),
                        Entry::Vacant(unread) => unread.insert(figures(db, day)?),
                    };
                    let now = figures.get(app);
                    now.map(|(sums, _)| *sums).unwrap_or_default()
                }
            };
            let of = (day, app, ChangeCause::Restored);
            entries.push(add(db, now_ms, of, [row.json(2)?, next])?);
        }
        register_all(db, now_ms, entries)?;
        db.execute(state::DELETE_STATE, params![LOST_FROM])?;
        db.execute(state::DELETE_STATE, params![LOST_THROUGH])
    })
}

/// Returns the version of the facts of the days `first` to `last`. Any change on one of these days raises the version.
pub fn version(db: &impl Database, first: UtcDay, last: UtcDay) -> DbResult<i64> {
    let version = db.query_integer(sql::GET_VERSION, params![first.number(), last.number()])?;
    Ok(version.unwrap_or(0))
}

/// Records that the facts of these days have changed, within the transaction that changes them.
pub fn set_versions(db: &impl Database, days: &[UtcDay], version: i64) -> DbResult {
    db.execute(sql::SET_VERSIONS, params![as_json(&days)?, version])
}

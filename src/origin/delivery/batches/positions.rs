//! The position of each receiver in the sender's log. All positions are in one row, which a round of batches writes
//! once.

use std::{cmp::Reverse, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use super::{BATCHES, Batch, Log, LogPage, Movement, SUMS, sql};
use domain::{conversions::log_number::NUMBERS_PER_MS, model::UtcDay};
use platform::{Database, DbResult, Row, database::json, params};

/// The row of positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Positions {
    /// The number up to which every receiver has its part of the log, except the receivers that are behind.
    pub seen: i64,
    known: BTreeMap<String, Position>,
}

/// The position of a receiver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    mark: i64,
    /// The last UTC day for which a sender of clicks has vouched to the receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vouched: Option<UtcDay>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    behind: Option<Behind>,
}

impl Position {
    /// The first day for which the sender has not vouched to the receiver.
    fn next_day(&self, [oldest, since, last]: [UtcDay; 3]) -> Option<UtcDay> {
        let day = self.vouched.map_or(since, |day| oldest.max(day.minus(-1)));
        (day <= last).then_some(day)
    }
}

/// The position of a receiver that lacks part of the log before `Positions::seen`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Behind {
    /// The number up to which the receiver has everything.
    seen: i64,
    attempts: u32,
    due_ms: i64,
}

/// A receiver to which the sender must still vouch for at least one day.
pub struct NotVouched {
    pub name: String,
    pub mark: i64,
    /// The number up to which the receiver has everything.
    pub seen: i64,
    /// The first day for which the sender has not vouched.
    pub day: UtcDay,
}

/// A batch that is being made.
pub struct Draft {
    pub batch: Batch,
    /// The number of failed attempts so far.
    pub attempts: u32,
    /// Before this batch, the receiver has everything up to `from`. After it, the receiver has everything up to `to`.
    from: i64,
    to: i64,
    is_full: bool,
}

impl Positions {
    pub fn read(db: &impl Database) -> DbResult<Self> {
        let row = db.query_first(sql::GET_POSITIONS, &[])?.unwrap_or(Row(vec![]));
        Ok(Self { seen: row.integer(0)?, known: row.json(1)? })
    }

    pub fn write(&self, db: &impl Database) -> DbResult {
        let highest = self.known.values().map(|position| position.mark).max();
        db.execute(sql::SET_POSITIONS, params![self.seen, highest.unwrap_or(0), json(&self.known)?])
    }

    /// Makes the due batches from one page of the log. Moves `seen` to the end of the page. Returns `None` if nothing
    /// is due.
    pub fn draft(&mut self, log: &impl Log, opens: bool, now_ms: i64) -> DbResult<Option<(LogPage, Vec<Draft>)>> {
        let is_due = |position: &Position| position.behind.as_ref().is_some_and(|behind| behind.due_ms <= now_ms);
        let due = self.known.iter().filter(|(_, position)| is_due(position));
        let due: Vec<String> = due.map(|(name, _)| name.clone()).collect();
        let starts = due.iter().map(|name| self.seen_by(name));
        let Some(start) = starts.chain(opens.then_some(self.seen)).min() else {
            return Ok(None);
        };
        let mut drafts: BTreeMap<String, Draft> = BTreeMap::new();
        let mut left: BTreeMap<String, (i64, u32)> = BTreeMap::new();
        let page = log.read(start, &mut |movement: Movement<'_>| {
            let destination = movement.destination;
            let position = self.known.get(destination);
            let mark = position.map_or(0, |position| position.mark);
            let (from, attempts) = match position.and_then(|position| position.behind.as_ref()) {
                Some(behind) if behind.due_ms > now_ms => return,
                Some(behind) => (behind.seen, behind.attempts),
                None if opens => (self.seen, 0),
                None => return,
            };
            let known = from.max(mark);
            if movement.number <= known || left.contains_key(destination) {
                return;
            }
            if !drafts.contains_key(destination) {
                if drafts.len() >= BATCHES {
                    left.insert(destination.to_owned(), (from, attempts));
                    return;
                }
                let batch =
                    Batch { destination: destination.to_owned(), after: mark, number: 0, sums: BTreeMap::new() };
                let draft = Draft { batch, attempts, from, to: 0, is_full: false };
                drafts.insert(destination.to_owned(), draft);
            }
            if let Some(draft) = drafts.get_mut(destination) {
                if movement.first <= known {
                    // A receiver that was restored from an earlier copy has an unknown part of this movement. The batch
                    // moves the receiver's mark past the movement, so that the day can be restated.
                    draft.batch.number = movement.number;
                } else {
                    draft.add(&movement);
                }
            }
        })?;
        // The log has nothing after the last page, so `end` is raised to `seen` if it is below.
        let end = if page.is_last { page.end.max(self.seen) } else { page.end };
        for draft in drafts.values_mut() {
            draft.to = if draft.is_full { draft.batch.number } else { end };
        }
        if opens {
            self.seen = self.seen.max(end);
        }
        for name in due {
            let is_before = self.seen_by(&name) < end;
            if is_before && !drafts.contains_key(&name) && !left.contains_key(&name) {
                self.set_seen(&name, end, self.attempts_of(&name), now_ms);
            }
        }
        for (name, (from, attempts)) in left {
            self.set_seen(&name, from, attempts, now_ms);
        }
        Ok(Some((page, drafts.into_values().collect())))
    }

    /// Records the mark with which a receiver answered a batch.
    pub fn learn(&mut self, draft: &Draft, mark: i64, now_ms: i64) {
        let batch = &draft.batch;
        self.set_mark(&batch.destination, mark);
        let seen = if mark == batch.number { draft.to } else { mark };
        self.set_seen(&batch.destination, seen, 0, now_ms);
    }

    /// Records a receiver's mark. The receiver has everything up to that mark.
    pub fn move_to(&mut self, destination: &str, mark: i64, now_ms: i64) {
        self.set_mark(destination, mark);
        self.set_seen(destination, mark, 0, now_ms);
    }

    /// Stores a receiver's mark. A lower mark than before means that the receiver was restored from an earlier copy.
    /// The sender then vouches again, beginning with the day before the day of the mark, because clicks of that earlier
    /// day may have numbers above the mark.
    fn set_mark(&mut self, destination: &str, mark: i64) {
        let position = self.known.entry(destination.to_owned()).or_default();
        if mark < position.mark {
            let before = UtcDay::of_ms(mark.div_euclid(NUMBERS_PER_MS)).minus(2);
            position.vouched = position.vouched.map(|vouched| vouched.min(before));
        }
        position.mark = mark;
    }

    /// Records that a batch failed. The batch is remade at `due_ms`.
    pub fn put_off(&mut self, draft: &Draft, due_ms: i64) {
        let attempts = draft.attempts.saturating_add(1);
        self.set_seen(&draft.batch.destination, draft.from, attempts, due_ms);
    }

    fn set_seen(&mut self, destination: &str, seen: i64, attempts: u32, due_ms: i64) {
        let position = self.known.entry(destination.to_owned()).or_default();
        position.behind = (seen < self.seen).then_some(Behind { seen, attempts, due_ms });
    }

    /// The number up to which a receiver has everything.
    pub fn seen_by(&self, destination: &str) -> i64 {
        self.behind_of(destination).map_or(self.seen, |behind| behind.seen)
    }

    fn attempts_of(&self, destination: &str) -> u32 {
        self.behind_of(destination).map_or(0, |behind| behind.attempts)
    }

    fn behind_of(&self, destination: &str) -> Option<&Behind> {
        self.known.get(destination)?.behind.as_ref()
    }

    pub fn mark_of(&self, destination: &str) -> i64 {
        self.known.get(destination).map_or(0, |position| position.mark)
    }

    /// True if there is a receiver to which the sender has not vouched for all days; see [`Self::not_vouched`].
    pub fn is_any_not_vouched(&self, days: [UtcDay; 3]) -> bool {
        self.known.values().any(|position| position.next_day(days).is_some())
    }

    /// Returns at most `most` receivers to which the sender has not vouched for all days up to the last of `days`, and
    /// whether these are all. Each comes with the next day to vouch for, which is never before the first of `days`; for
    /// a new receiver it is the second of `days`. Receivers that wait for the fewest days come first.
    pub fn not_vouched(&self, days: [UtcDay; 3], most: usize) -> (Vec<NotVouched>, bool) {
        let open = self.known.iter().filter_map(|(name, position)| {
            Some(NotVouched {
                day: position.next_day(days)?,
                name: name.clone(),
                mark: position.mark,
                seen: self.seen_by(name),
            })
        });
        let mut open: Vec<_> = open.collect();
        open.sort_by_key(|open| Reverse(open.day));
        let is_all = open.len() <= most;
        open.truncate(most);
        (open, is_all)
    }

    /// Records that the sender has vouched to a receiver for a day and for all days before it.
    pub fn set_vouched(&mut self, destination: &str, day: UtcDay) {
        self.known.entry(destination.to_owned()).or_default().vouched = Some(day);
    }

    pub fn settled_through(&self) -> i64 {
        self.behind().map(|behind| behind.seen).fold(self.seen, i64::min)
    }

    /// Returns the time of the first retry.
    pub fn due_ms(&self) -> Option<i64> {
        self.behind().map(|behind| behind.due_ms).min()
    }

    pub fn is_due(&self, now_ms: i64) -> bool {
        self.due_ms().is_some_and(|due_ms| due_ms <= now_ms)
    }

    fn behind(&self) -> impl Iterator<Item = &Behind> {
        self.known.values().filter_map(|position| position.behind.as_ref())
    }
}

impl Draft {
    fn add(&mut self, movement: &Movement<'_>) {
        let sums = &mut self.batch.sums;
        self.is_full |= sums.len() >= SUMS && movement.number > self.batch.number;
        if self.is_full {
            return;
        }
        sums.entry(movement.key.clone()).or_default().add(movement.amounts);
        self.batch.number = movement.number;
    }
}

//! Appends the isolates' batches of clicks to the log: one row for all batches that arrive within [`GATHER`].

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::BuildHasher,
    time::Duration,
};

use super::{log, sql};
use contract::counters::Flush;
use domain::{
    conversions::log_number::first_number,
    model::{
        AppId, Country, UtcDay,
        seeded_hash::{SeededHasher, SeededMap},
    },
    reporting::placements::{MAX_PLACEMENTS, OTHER_PLACEMENT},
    tracking::click_counts::ClickSum,
};
use platform::{Database, DbResult, database::json, params};

/// How long batches are gathered. An isolate waits for the answer to a batch before it sends the next batch.
pub const GATHER: Duration = Duration::from_millis(200);

/// Maximum sums of one row of the log: at most 300 bytes each make 1.2 MB, and a value may have 2 MB.
const SUMS: usize = 4_000;

/// The state of the log. A process reads it when it starts, and keeps it in memory.
pub struct Tally {
    /// The number of the last batch of each isolate.
    isolates: SeededMap<String, u64>,
    /// Hashes of the placements that are counted separately, by day and app.
    placements: BTreeMap<(UtcDay, AppId), BTreeSet<u64>>,
    hasher: SeededHasher,
    /// The last number of the log.
    last: i64,
}

impl Tally {
    pub fn read(db: &impl Database, now_ms: i64) -> DbResult<Self> {
        let mut tally = Self {
            isolates: SeededMap::default(),
            placements: BTreeMap::new(),
            hasher: SeededHasher::default(),
            last: log::last(db)?.max(db.query_integer(sql::FLOOR, &[])?.unwrap_or(0)),
        };
        for row in db.query(sql::LIST_MARKS, &[])? {
            tally.isolates.insert(row.text(0)?.to_owned(), row.number(1)?);
        }
        for row in db.query(sql::LIST_ISOLATES, &[])? {
            tally.isolates.extend(row.json::<Vec<(String, u64)>>(0)?);
        }
        let yesterday = UtcDay::of_ms(now_ms).minus(1);
        log::each(db, first_number(yesterday.start_ms()), None, &mut |sum| {
            if let Some(placement) = &sum.key.placement {
                tally.counts_separately(sum.key.day, sum.key.app, placement);
            }
        })?;
        Ok(tally)
    }

    /// True if a batch was appended before. An isolate has one batch in flight, and its batches' numbers rise.
    pub fn has(&self, flush: &Flush) -> bool {
        self.isolates.get(&flush.isolate).is_some_and(|last| flush.sequence <= *last)
    }

    /// True if a placement of an app is counted separately on a day. A new placement is counted separately until the
    /// day has `MAX_PLACEMENTS` of them.
    fn counts_separately(&mut self, day: UtcDay, app: AppId, placement: &str) -> bool {
        let hash = self.hasher.hash_one(placement);
        let known = self.placements.entry((day, app)).or_default();
        known.contains(&hash) || (known.len() < MAX_PLACEMENTS && known.insert(hash))
    }

    fn placement<'p>(&mut self, sum: &'p ClickSum) -> &'p str {
        match sum.placement.as_deref().filter(|placement| !placement.is_empty()) {
            Some(placement) if self.counts_separately(sum.day, sum.app, placement) => placement,
            Some(_) => OTHER_PLACEMENT,
            None => "",
        }
    }

    /// Appends batches to the log, each once. After an error, the tally is wrong and must be read from the database
    /// again.
    pub fn append(&mut self, db: &impl Database, now_ms: i64, flushes: &[Flush]) -> DbResult {
        let yesterday = UtcDay::of_ms(now_ms).minus(1);
        self.placements.retain(|(day, _), _| *day >= yesterday);
        let (mut isolates, mut sums) = (BTreeMap::new(), BTreeMap::new());
        for flush in flushes {
            if self.has(flush) {
                continue;
            }
            self.isolates.insert(flush.isolate.clone(), flush.sequence);
            isolates.insert(flush.isolate.as_str(), flush.sequence);
            for sum in flush.sums.iter() {
                let key = (
                    sum.publisher.as_str(),
                    sum.day.number(),
                    sum.app.number(),
                    sum.offer.as_str(),
                    sum.country.map_or("", Country::as_str),
                    self.placement(sum),
                );
                *sums.entry(key).or_insert(0_u64) += u64::from(sum.clicks);
            }
        }
        if isolates.is_empty() {
            return Ok(());
        }
        let isolates: Vec<_> = isolates.into_iter().collect();
        let sums: Vec<_> = sums.into_iter().collect();
        let mut rows = vec![sums.as_slice()];
        if sums.len() > SUMS {
            rows = sums.chunks(SUMS).collect();
        }
        db.transaction(|| {
            for (n, sums) in rows.into_iter().enumerate() {
                self.last = first_number(now_ms).max(self.last.saturating_add(1));
                let isolates = if n == 0 { isolates.as_slice() } else { &[] };
                db.execute(sql::APPEND, params![self.last, json(&isolates)?, json(&sums)?])?;
            }
            Ok(())
        })
    }
}

//! Sums by day and offer, each with the figures of its largest apps.

use std::collections::BTreeMap;

use super::sql;
use contract::counters::{AppStats, STATS_APPS};
use platform::{Database, DbResult, database::json, params};

/// Maximum apps of one row, at most 40 bytes each.
const APPS: usize = 100;
/// Maximum rows that are passed to the database as one JSON text. With 4.3 KB each they make 1.7 MB, and a value may
/// have 2 MB.
const ROWS_PER_STATEMENT: usize = 400;

/// Clicks and conversions by app number.
type Apps = BTreeMap<u32, (i64, i64)>;
/// The stored form of `Apps`.
type StoredApps = Vec<(u32, i64, i64)>;

/// Sums to add to the stored sums.
#[derive(Default)]
pub struct NewSums(BTreeMap<(i64, String), ([i64; 3], Apps)>);

impl NewSums {
    /// Adds an app's clicks, conversions and payout to the sums of a day and an offer.
    pub fn add(&mut self, row: (i64, String), app: Option<u32>, figures: [i64; 3]) {
        let (sums, apps) = self.0.entry(row).or_default();
        for (sum, more) in sums.iter_mut().zip(figures) {
            *sum += more;
        }
        if let Some(app) = app {
            add(apps, (app, figures[0], figures[1]));
        }
    }

    /// Writes one row for each day and offer, within the caller's transaction.
    pub fn write(self, db: &impl Database) -> DbResult {
        let mut rows: Vec<_> = self.0.into_iter().collect();
        for rows in rows.chunks_mut(ROWS_PER_STATEMENT) {
            let keys: Vec<_> = rows.iter().map(|(key, _)| key).collect();
            let mut stored = BTreeMap::new();
            for row in db.query(sql::APPS_OF, params![json(&keys)?])? {
                let key = (row.integer(0)?, row.text(1)?.to_owned());
                stored.insert(key, row.json::<StoredApps>(2)?);
            }
            let mut written = Vec::with_capacity(rows.len());
            for (key, (sums, apps)) in rows {
                for app in stored.remove(key).unwrap_or_default() {
                    add(apps, app);
                }
                let apps = largest(std::mem::take(apps), APPS);
                let [clicks, conversions, payout] = sums;
                written.push((key.0, &key.1, clicks, conversions, payout, apps));
            }
            db.execute(sql::ADD_SUMS, params![json(&written)?])?;
        }
        Ok(())
    }
}

fn add(apps: &mut Apps, (app, clicks, conversions): (u32, i64, i64)) {
    let sums = apps.entry(app).or_default();
    sums.0 += clicks;
    sums.1 += conversions;
}

/// Returns the `most` largest apps: first by conversions, which nobody can fake, then by clicks.
fn largest(apps: Apps, most: usize) -> StoredApps {
    let mut apps: Vec<_> = apps.into_iter().map(|(app, (clicks, conversions))| (app, clicks, conversions)).collect();
    apps.sort_by_key(|(_, clicks, conversions)| std::cmp::Reverse((*conversions, *clicks)));
    apps.truncate(most);
    apps
}

/// Adds up the apps of several days, and returns the largest.
pub fn add_up(days: Vec<StoredApps>) -> Vec<AppStats> {
    let mut sums = Apps::new();
    for app in days.into_iter().flatten() {
        add(&mut sums, app);
    }
    let positive = |sum| u64::try_from(sum).unwrap_or(0);
    let largest = largest(sums, STATS_APPS).into_iter();
    largest.map(|(app, clicks, conversions)| (app, positive(clicks), positive(conversions))).collect()
}

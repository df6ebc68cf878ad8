//! Deletes the facts of days that are older than `FACTS_DAYS`, some days at a time.

use super::{
    segments::{self, Layer},
    sql,
};
use domain::model::{MINUTE_MS, UtcDay};
use platform::{Database, DbResult, params};

/// The setting: for how many days facts are kept.
pub const SETTING: &str = "FACTS_DAYS";
pub const DEFAULT_DAYS: i32 = 800;
/// Maximum days that one alarm deletes. The next alarm continues.
const DAYS_AT_ONCE: usize = 8;

/// Parses the setting. The minimum is longer than the time in which a conversion can still change.
///
/// # Errors
/// The number is outside its range. The text names the setting.
pub fn facts_days(text: Option<&str>) -> Result<i32, String> {
    let Some(text) = text else {
        return Ok(DEFAULT_DAYS);
    };
    let days = text.parse().ok().filter(|days| (450..=3_650).contains(days));
    days.ok_or_else(|| format!("{SETTING}: must be 450 to 3650 days"))
}

/// Deletes the oldest days that are too old, at most `DAYS_AT_ONCE`. Each day is deleted in one transaction.
pub fn sweep(db: &impl Database, now_ms: i64, facts_days: i32) -> DbResult {
    let first_kept = UtcDay::of_ms(now_ms).minus(facts_days - 1).number();
    let days = db.read_all(sql::LIST_OLD_DAYS, params![first_kept, DAYS_AT_ONCE], |row| {
        row.integer(0)
    })?;
    days.into_iter()
        .filter_map(UtcDay::from_number)
        .try_for_each(|day| {
            db.transaction(|| {
                for layer in [Layer::Loaded, Layer::Offers] {
                    segments::delete_day(db, day, layer)?;
                    db.execute(sql::UNCROWD, params![day.number(), layer.number()])?;
                }
                db.execute(sql::DELETE_LOAD, params![day.number()])
            })
        })
}

/// Returns when the oldest day with facts becomes too old, a minute after midnight UTC; none without facts.
pub fn due_ms(db: &impl Database, facts_days: i32) -> DbResult<Option<i64>> {
    let first = db.query_integer(sql::FIRST_FACTS_DAY, &[])?;
    let first = first.and_then(UtcDay::from_number);
    Ok(first.map(|day| day.minus(-facts_days).start_ms() + MINUTE_MS))
}

//! Deletes the facts of days that are older than `FACTS_DAYS`, one day at a time.

use super::{
    freshness,
    segments::{self, Layer},
    sql,
};
use domain::model::{MINUTE_MS, UtcDay};
use platform::{Database, DbResult, params};

/// The setting: for how many days facts are kept.
pub const SETTING: &str = "FACTS_DAYS";
pub const DEFAULT_DAYS: i32 = 800;

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

/// The first day whose facts are kept. Facts of earlier days are refused.
pub fn first_kept(now_ms: i64, facts_days: i32) -> UtcDay {
    UtcDay::of_ms(now_ms).minus(facts_days - 1)
}

/// Deletes the oldest day if it is too old. The next alarm, which is then due at once, deletes the next day.
pub fn sweep(db: &impl Database, now_ms: i64, facts_days: i32) -> DbResult {
    let oldest = db.query_integer(sql::FIRST_FACTS_DAY, &[])?;
    let first_kept = first_kept(now_ms, facts_days);
    let Some(day) = oldest.and_then(UtcDay::from_number).filter(|day| *day < first_kept) else {
        return Ok(());
    };
    db.transaction(|| {
        for layer in [Layer::Loaded, Layer::Offers] {
            segments::delete_day(db, day, layer)?;
            db.execute(sql::UNCROWD, params![day.number(), layer.number()])?;
        }
        freshness::changed(db, now_ms, &[day])?;
        db.execute(sql::DELETE_LOAD, params![day.number()])
    })
}

/// Returns when the oldest day with facts becomes too old, a minute after midnight UTC; none without facts.
pub fn due_ms(db: &impl Database, facts_days: i32) -> DbResult<Option<i64>> {
    let first = db.query_integer(sql::FIRST_FACTS_DAY, &[])?;
    let first = first.and_then(UtcDay::from_number);
    Ok(first.map(|day| day.minus(-facts_days).start_ms() + MINUTE_MS))
}

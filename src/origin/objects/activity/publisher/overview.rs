//! The counts by day and app, the endpoints, and the object's lag behind its outboxes.

use std::collections::BTreeMap;

use contract::{
    activity::{Activity, AppActivity, Counts, DayCounts, EndpointStanding, ReadActivity},
    outbox::EndpointState,
    rewards::RewardState,
};
use domain::model::{AppId, UtcDay};
use platform::{Database, DatabaseError, DbResult, Row, params};

use super::sql;

/// Returns the lag: the age of the oldest change that an outbox announced but has not sent. A change that is not
/// announced yet does not count.
pub fn behind_ms(db: &impl Database, now_ms: i64) -> DbResult<i64> {
    let since_ms = db.query_integer(sql::MISSING_SINCE, params![now_ms])?;
    Ok(since_ms.map_or(0, |since_ms| now_ms.saturating_sub(since_ms).max(0)))
}

pub fn read(db: &impl Database, now_ms: i64, read: ReadActivity) -> DbResult<Activity> {
    let mut apps = BTreeMap::new();
    for row in db.query(sql::SUM_OUTBOXES, &[])? {
        let app = app_id(&row, 0)?;
        let endpoint = EndpointStanding {
            state: row.decode(1, EndpointState::from_number)?,
            disabled_ms: row.optional_integer(2)?,
            waiting: row.integer(3)?,
            dead: row.integer(4)?,
        };
        let counts = Counts::default();
        apps.insert(app, AppActivity { app, counts, endpoint });
    }
    let mut days = BTreeMap::<i64, Counts>::new();
    for row in db.query(sql::SUM_COUNTS, params![read.from.number()])? {
        let state = row.decode(2, RewardState::from_number)?;
        let (rewards, payout) = (row.integer(3)?, row.integer(4)?);
        if let Some(day) = row.optional_integer(0)? {
            days.entry(day).or_default().add(state, rewards, payout);
        } else if let Some(app) = apps.get_mut(&app_id(&row, 1)?) {
            app.counts.add(state, rewards, payout);
        }
    }
    let damaged = || DatabaseError("the day of a count is out of range".into());
    let of_day = |(day, counts): (i64, Counts)| {
        let day = UtcDay::from_number(day).ok_or_else(damaged)?;
        Ok(DayCounts { day, counts })
    };
    let firsts = db.query_first(sql::GET_FIRSTS, &[])?;
    let first = |column| match &firsts {
        Some(row) => row.optional_integer(column),
        None => Ok(None),
    };
    Ok(Activity {
        behind_ms: behind_ms(db, now_ms)?,
        days: days.into_iter().map(of_day).collect::<DbResult<_>>()?,
        apps: apps.into_values().collect(),
        first_conversion_ms: first(0)?,
        first_callback_ms: first(1)?,
    })
}

pub fn app_id(row: &Row, column: usize) -> DbResult<AppId> {
    let app = AppId::from_number(row.number(column)?);
    app.ok_or_else(|| DatabaseError("the stored app id is invalid".into()))
}

//! Causes of alarms that a ledger knows: final days that have changed, and facts that are late. The publisher's activity and the
//! operator's attention are told, until both have answered; they know a repeat by its cause.

use std::time::Duration;

use super::{day_changes::sql as changes, final_days, segments, sql};
use contract::{
    activity,
    alarms::{Alarm, AlarmKind, RaiseAlarms},
    attention,
    ledger::ChangeCause,
};
use domain::model::{HOUR_MS, MINUTE_MS, PublisherId, UtcDay};
use platform::{
    Database, DatabaseError, DbResult,
    database::json,
    log, params,
    traits::{Clock, ObjectCall},
};

/// The last change of a final day that was told.
const TOLD: &str = "alarms_told";
/// The last day that was told to be late.
const LATE: &str = "alarms_late";
/// When a failed call is made again.
const AGAIN: &str = "alarms_again_ms";
/// The changes of all days have one subject: many at once are one alarm.
const REPORTS: &str = "reports";
/// A day's facts are late at noon of the day after, in milliseconds after its start.
const LATE_MS: i64 = 36 * HOUR_MS;
/// After so many days without facts, nobody waits for them any longer.
const LATE_DAYS: i64 = 30;
const AGAIN_MS: i64 = MINUTE_MS;
const TIMEOUT: Duration = Duration::from_secs(5);

fn state(db: &impl Database, name: &str) -> DbResult<i64> {
    Ok(db.query_integer(sql::GET_STATE, params![name])?.unwrap_or(0))
}

/// The next day without facts, and when it is late; none where no facts are expected.
fn late(db: &impl Database, now_ms: i64) -> DbResult<Option<(UtcDay, i64)>> {
    let Some(last) = db.query_integer(sql::LAST_LOADED, &[])? else {
        return Ok(None);
    };
    // Of days that are long over, nobody needs to be told.
    let over = UtcDay::of_ms(now_ms).number().saturating_sub(3);
    let day = state(db, LATE)?.max(last).max(over).saturating_add(1);
    if day.saturating_sub(last) > LATE_DAYS {
        return Ok(None);
    }
    let day = segments::day(day)?;
    Ok(Some((day, day.start_ms().saturating_add(LATE_MS))))
}

/// When something is to be told; none if nothing is known.
pub fn due_ms(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    if final_days::publisher(db)?.is_none() {
        return Ok(None);
    }
    let has_changes = db.query_boolean(changes::HAS_AFTER, params![state(db, TOLD)?])?;
    let changed_ms = has_changes.then_some(now_ms);
    let late_ms = late(db, now_ms)?.map(|(_, at_ms)| at_ms);
    let again_ms = state(db, AGAIN)?;
    Ok(changed_ms
        .into_iter()
        .chain(late_ms)
        .min()
        .map(|ms| ms.max(again_ms)))
}

/// Tells what is due.
pub async fn tell(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    publisher: &PublisherId,
) -> DbResult {
    let now_ms = runtime.now_ms();
    if due_ms(db, now_ms)?.is_none_or(|due_ms| due_ms > now_ms) {
        return Ok(());
    }
    let late = late(db, now_ms)?.filter(|(_, at_ms)| *at_ms <= now_ms);
    let told = state(db, TOLD)?;
    let newest = db.query_integer(changes::NEWEST, &[])?.unwrap_or(told);
    // The operator knows of what it loaded or restated itself.
    let own = [ChangeCause::LateBatch, ChangeCause::Restored];
    let alarms_of = |causes: &[ChangeCause], publisher: Option<&PublisherId>| {
        let causes: Vec<_> = causes.iter().map(|cause| cause.number()).collect();
        let row = db.query_first(changes::COUNT_AFTER, params![told, newest, json(&causes)?])?;
        let (count, since_ms) = row.map_or(Ok((0, None)), |row| {
            Ok::<_, DatabaseError>((row.integer(0)?, row.optional_integer(1)?))
        })?;
        let alarm = |kind, subject: String, cause, since_ms, count| Alarm {
            kind,
            subject,
            cause,
            since_ms,
            count,
            publisher: publisher.cloned(),
        };
        let changed = since_ms.map(|since_ms| {
            let subject = publisher.map_or(REPORTS.to_owned(), ToString::to_string);
            alarm(AlarmKind::DayChanged, subject, newest, since_ms, count)
        });
        let late = late.map(|(day, at_ms)| {
            let subject = publisher.map_or(day.to_string(), |publisher| format!("{publisher} {day}"));
            alarm(AlarmKind::FactsLate, subject, day.number(), at_ms, 1)
        });
        let alarms = changed.into_iter().chain(late).collect();
        Ok::<_, DatabaseError>(RaiseAlarms { alarms })
    };
    let calls = [
        (activity::address(publisher), alarms_of(ChangeCause::ALL, None)?),
        (attention::address(), alarms_of(&own, Some(publisher))?),
    ];
    for (to, raise) in calls {
        if raise.alarms.is_empty() {
            continue;
        }
        if let Err(error) = runtime.call(&to, raise, TIMEOUT).await {
            log::warn("alarms", format_args!("{}: {error}", to.name));
            return db.execute(sql::RAISE_STATE, params![AGAIN, now_ms.saturating_add(AGAIN_MS)]);
        }
    }
    db.execute(sql::RAISE_STATE, params![TOLD, newest])?;
    match late {
        Some((day, _)) => db.execute(sql::RAISE_STATE, params![LATE, day.number()]),
        None => Ok(()),
    }
}

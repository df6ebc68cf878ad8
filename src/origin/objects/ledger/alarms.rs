//! Alarms that a ledger raises because final days have changed or facts are late. The ledger calls the publisher's
//! activity object and the operator's attention until both have answered. Both recognize a retry by the number of the
//! alarm's cause. A late day is an attention item until the day is loaded.

use std::time::Duration;

use super::{day_changes::sql as changes, segments, sql};
use crate::delivery::attention_feed;
use contract::{
    activity,
    alarms::{Alarm, AlarmKind, RaiseAlarms},
    attention::{self, Kind},
    ledger::ChangeCause,
};
use domain::model::{HOUR_MS, PublisherId, SECOND_MS, UtcDay};
use platform::{
    Database, DatabaseError, DbResult,
    database::json,
    log, params,
    traits::{Clock, ObjectCall},
};

/// The row of `state` with the number of the last announced change of a final day.
const TOLD: &str = "alarms_told";
/// The row of `state` with the last announced late day.
const LATE: &str = "alarms_late";
/// The row of `state` with the time at which a failed call is retried.
const AGAIN: &str = "alarms_again_ms";
/// The subject of every alarm about changed days. All days share it, so that many changes at once make one alarm.
const REPORTS: &str = "reports";
/// A day's facts are late at noon of the next day, this many milliseconds after the day's start.
const LATE_MS: i64 = 36 * HOUR_MS;
/// After this many days without facts, no further facts are expected.
const LATE_DAYS: i64 = 30;
const AGAIN_MS: i64 = 10 * SECOND_MS;
const TIMEOUT: Duration = Duration::from_secs(5);

/// The announced causes, and the causes that may have to be announced next.
struct Standing {
    told: i64,
    again_ms: i64,
    newest: i64,
    /// The last loaded day before today.
    loaded: Option<i64>,
    /// The first day that was not loaded after its end and was not announced.
    missing: Option<i64>,
}

impl Standing {
    /// Returns `None` before the first load, because the ledger learns its publisher from that load.
    fn read(db: &impl Database, now_ms: i64) -> DbResult<Option<Self>> {
        let today = UtcDay::of_ms(now_ms).number();
        let row = db.query_first(sql::ALARMS, params![TOLD, LATE, AGAIN, today])?;
        row.map(|row| {
            Ok(Self {
                told: row.integer(0)?,
                again_ms: row.integer(1)?,
                newest: row.integer(2)?,
                loaded: row.optional_integer(3)?,
                missing: row.optional_integer(4)?,
            })
        })
        .transpose()
    }

    /// Returns the first unannounced day that was not loaded after its end, and when it is late; none if no facts are
    /// expected.
    fn late(&self) -> DbResult<Option<(UtcDay, i64)>> {
        let (Some(last), Some(day)) = (self.loaded, self.missing) else {
            return Ok(None);
        };
        if day.saturating_sub(last) > LATE_DAYS {
            return Ok(None);
        }
        let day = segments::day(day)?;
        Ok(Some((day, day.start_ms().saturating_add(LATE_MS))))
    }

    fn due_ms(&self, now_ms: i64) -> DbResult<Option<i64>> {
        let changed_ms = (self.newest > self.told).then_some(now_ms);
        let late_ms = self.late()?.map(|(_, at_ms)| at_ms);
        let due_ms = changed_ms.into_iter().chain(late_ms).min();
        Ok(due_ms.map(|ms| ms.max(self.again_ms)))
    }
}

/// Returns when the next cause must be announced; none if no cause waits.
pub fn due_ms(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    Standing::read(db, now_ms)?.map_or(Ok(None), |standing| standing.due_ms(now_ms))
}

/// Announces the due causes.
pub async fn tell(db: &impl Database, runtime: &(impl Clock + ObjectCall), publisher: &PublisherId) -> DbResult {
    let now_ms = runtime.now_ms();
    let Some(standing) = Standing::read(db, now_ms)? else {
        return Ok(());
    };
    if standing.due_ms(now_ms)?.is_none_or(|due_ms| due_ms > now_ms) {
        return Ok(());
    }
    let late = standing.late()?.filter(|(_, at_ms)| *at_ms <= now_ms);
    let Standing { told, newest, .. } = standing;
    // The operator needs an alarm only for changes with these causes. All other causes are loads and restatements by
    // the operator.
    let own = [ChangeCause::LateBatch, ChangeCause::Restored];
    let alarms_of = |causes: &[ChangeCause], publisher: Option<&PublisherId>| {
        let causes: Vec<_> = causes.iter().map(|cause| cause.number()).collect();
        let row = db.query_first(changes::COUNT_AFTER, params![told, newest, json(&causes)?])?;
        let (count, since_ms) =
            row.map_or(Ok((0, None)), |row| Ok::<_, DatabaseError>((row.integer(0)?, row.optional_integer(1)?)))?;
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
        let alarms: Vec<_> = changed.into_iter().chain(late).collect();
        Ok::<_, DatabaseError>(RaiseAlarms::from(alarms))
    };
    let calls = [
        (activity::address(publisher), alarms_of(&ChangeCause::ALL, None)?),
        (attention::address(), alarms_of(&own, Some(publisher))?),
    ];
    for (to, raise) in calls {
        if raise.alarms.is_empty() {
            continue;
        }
        if let Err(error) = runtime.call(&to, raise, TIMEOUT).await {
            log::warn("alarms", format_args!("alarms did not reach {}, and are sent again: {error}", to.name));
            return db.execute(sql::RAISE_STATE, params![AGAIN, now_ms.saturating_add(AGAIN_MS)]);
        }
    }
    db.transaction(|| {
        db.execute(sql::RAISE_STATE, params![TOLD, newest])?;
        // The day may have been loaded during the calls.
        let is_late = Standing::read(db, now_ms)?.map_or(Ok(None), |standing| standing.late())? == late;
        if let Some((day, at_ms)) = late.filter(|_| is_late) {
            attention_feed::open_day(db, at_ms, Kind::FactsLate, day, "late")?;
            db.execute(sql::RAISE_STATE, params![LATE, day.number()])?;
        }
        Ok(())
    })
}

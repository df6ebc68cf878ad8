//! Tells the operator's attention that 80 % or all of a cap is used, on the day of the cap.

use std::time::Duration;

use super::sql;
use contract::{
    alarms::{Alarm, AlarmKind, RaiseAlarms},
    attention,
    counters::CapKind,
};
use domain::model::{SECOND_MS, UtcDay};
use platform::{Clock, Database, DatabaseError, DbResult, ObjectCall, Row, log, params};

/// Maximum caps in one call.
const MAX_ALARMS: u32 = 100;
const AGAIN_MS: i64 = 10 * SECOND_MS;
const TIMEOUT: Duration = Duration::from_secs(5);

/// How much of a cap is used. The database stores these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Low = 0,
    Near = 1,
    Spent = 2,
}

impl Level {
    fn of(taken: u32, limit: u32) -> Self {
        let (taken, limit) = (u64::from(taken), u64::from(limit));
        match limit {
            0 => Self::Low,
            _ if taken >= limit => Self::Spent,
            _ if taken * 5 >= limit * 4 => Self::Near,
            _ => Self::Low,
        }
    }
}

/// A cap, and the takes from it before and after a change.
pub struct Change<'c> {
    pub kind: CapKind,
    pub day: UtcDay,
    pub offer: &'c str,
    pub limit: u32,
    /// True if the limit differs from the previous one.
    pub is_new: bool,
    pub taken: [u32; 2],
}

/// Records that one of today's caps has reached a level, within the caller's transaction. Each level is announced once
/// for each limit.
pub fn note(db: &impl Database, now_ms: i64, change: &Change<'_>) -> DbResult {
    let [before, after] = change.taken.map(|taken| Level::of(taken, change.limit));
    let rises = after > before || change.is_new && after > Level::Low;
    if !rises || change.day != UtcDay::of_ms(now_ms) {
        return Ok(());
    }
    db.execute(
        sql::RAISE_CAP_ALARM,
        params![change.offer, change.kind.number(), change.day.number(), after as i64, change.limit, now_ms],
    )
}

/// Returns when attention must be told; none if attention knows all levels that were reached.
pub fn due_ms(db: &impl Database) -> DbResult<Option<i64>> {
    db.query_integer(sql::NEXT_CAP_ALARM, &[])
}

/// If an alarm is due, sends all levels that attention does not know yet. Attention accepts an offer's alarms only in
/// order, so none is left for later.
pub async fn tell(db: &impl Database, runtime: &(impl Clock + ObjectCall)) -> DbResult {
    let now_ms = runtime.now_ms();
    if due_ms(db)?.is_none_or(|due_ms| due_ms > now_ms) {
        return Ok(());
    }
    let alarms = db.read_all(sql::LIST_CAP_ALARMS, params![MAX_ALARMS], read)?;
    let raise = RaiseAlarms::from(alarms.clone());
    if let Err(error) = runtime.call(&attention::address(), raise, TIMEOUT).await {
        log::warn(
            "alarms",
            format_args!("the alarms of caps did not reach the attention object, and are sent again: {error}"),
        );
        let again_ms = now_ms.saturating_add(AGAIN_MS);
        return db.execute(sql::POSTPONE_CAP_ALARMS, params![again_ms]);
    }
    db.transaction(|| {
        alarms.iter().try_for_each(|alarm| db.execute(sql::END_CAP_ALARM, params![alarm.subject.as_str(), alarm.cause]))
    })
}

fn read(row: &Row) -> DbResult<Alarm> {
    const CLICK: i64 = CapKind::Click as i64;
    const CONVERSION: i64 = CapKind::Conversion as i64;
    const NEAR: i64 = Level::Near as i64;
    const SPENT: i64 = Level::Spent as i64;
    let at_ms = row.integer(2)?;
    Ok(Alarm {
        kind: match (row.integer(3)?, row.integer(1)?) {
            (CLICK, NEAR) => AlarmKind::ClickCapNear,
            (CLICK, SPENT) => AlarmKind::ClickCapSpent,
            (CONVERSION, NEAR) => AlarmKind::ConversionCapNear,
            (CONVERSION, SPENT) => AlarmKind::ConversionCapSpent,
            other => return Err(DatabaseError(format!("unknown cap kind and level: {other:?}"))),
        },
        subject: row.text(0)?.to_owned(),
        cause: at_ms,
        since_ms: at_ms,
        count: 1,
        publisher: None,
    })
}

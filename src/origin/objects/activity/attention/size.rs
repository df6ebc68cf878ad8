//! The sizes of large objects. A large object sends its size every night ([`crate::delivery::size`]). The item of an
//! object that no longer exists therefore expires.

use super::sql;
use crate::objects::activity::alarms::{causes::Noted, raise};
use contract::{alarms::AlarmKind, attention::ObjectSize, operation::Done};
use domain::model::DAY_MS;
use platform::{Database, DbResult, object_shell::NEARLY_FULL, params};

/// How long a size is kept, in milliseconds: long enough to miss one night.
const RETENTION_MS: i64 = 2 * DAY_MS;

/// Stores a size, and lists the object while it is nearly full. A size that is older than the last one is ignored.
pub fn put(db: &impl Database, now_ms: i64, size: &ObjectSize) -> DbResult<Done> {
    let source = size.source.as_str();
    let row = params![source, size.at_ms, size.bytes];
    db.transaction(|| {
        if db.query_first(sql::PUT_SIZE, row)?.is_none() {
            return Ok(());
        }
        if size.bytes > NEARLY_FULL {
            let noted = Noted { now_ms, publisher: None };
            let is_new = !db.query_boolean(sql::IS_LARGE, params![source])?;
            db.execute(sql::PUT_LARGE, row)?;
            let alarm = noted.alarm(AlarmKind::ObjectNearlyFull, source, size.at_ms);
            if is_new { raise(db, now_ms, &alarm) } else { Ok(()) }
        } else {
            db.execute(sql::END_LARGE, params![source])
        }
    })?;
    Ok(Done {})
}

/// Deletes sizes that were not resent, and their items.
pub fn sweep(db: &impl Database, now_ms: i64) -> DbResult {
    let kept_from_ms = now_ms.saturating_sub(RETENTION_MS);
    for sql in [sql::SWEEP_LARGE, sql::SWEEP_SIZES] {
        db.execute(sql, params![kept_from_ms])?;
    }
    Ok(())
}

//! The sizes of objects that are filling up. An object tells its size again while it is large, so one that is lost, or starts
//! on a smaller database, takes its item back by itself.

use std::time::Duration;

use contract::{
    attention::{self, SizeReport},
    operation::Done,
};
use domain::model::time::DAY_MS;
use platform::{
    database::{Database, DatabaseError},
    log,
    object_shell::{NEARLY_FULL, ObjectShell},
    params,
    traits::{Clock, ObjectCall, ObjectStorage},
};

use super::sql;

const TIMEOUT: Duration = Duration::from_secs(10);
/// A large object has an alarm every night.
const RETENTION_MS: i64 = 2 * DAY_MS;

/// Tells the size of an object, if that is due, and what its isolate counts. An object that its alarm started may not know its
/// name, and tells no size.
pub async fn tell<D: ObjectStorage, R: Clock + ObjectCall>(shell: &ObjectShell<D, R>, name: Option<&str>) {
    #[cfg(target_arch = "wasm32")]
    if let Some(figures) = crate::http::isolate::due_figures(shell.runtime().now_ms()) {
        platform::isolate_report::tell(shell.runtime(), figures).await;
    }
    let Some((name, bytes)) = name.and_then(|name| Some((name, shell.size_to_tell()?))) else {
        return;
    };
    let report = SizeReport {
        source: name.to_owned(),
        at_ms: shell.runtime().now_ms(),
        bytes,
    };
    let told = shell.runtime().call(&attention::address(), report, TIMEOUT).await;
    if let Err(error) = told {
        log::warn("attention", format_args!("{name}: {error}"));
    }
}

/// Stores a size, and lists the object while it is nearly full. An older report than the last one is ignored.
pub fn put(db: &impl Database, report: &SizeReport) -> Result<Done, DatabaseError> {
    let source = report.source.as_str();
    let row = params![source, report.at_ms, report.bytes];
    db.transaction(|| {
        if db.query_first(sql::PUT_SIZE, row)?.is_none() {
            return Ok(());
        }
        if report.bytes > NEARLY_FULL {
            db.execute(sql::PUT_LARGE, row)
        } else {
            db.execute(sql::END_LARGE, params![source])
        }
    })?;
    Ok(Done {})
}

/// Deletes what was not told again.
pub fn sweep(db: &impl Database, now_ms: i64) -> Result<(), DatabaseError> {
    let kept_from_ms = now_ms.saturating_sub(RETENTION_MS);
    for sql in [sql::SWEEP_LARGE, sql::SWEEP_SIZES] {
        db.execute(sql, params![kept_from_ms])?;
    }
    Ok(())
}

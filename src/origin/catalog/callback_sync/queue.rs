//! The queue of changed callback settings that must be pushed to their apps' outboxes. Only outboxes that have
//! requested terms are in it: any other has no callback to send, and requests the settings before its first.
//!
//! The PUT or import that changed the settings pushes first; the alarm pushes those that are still due afterwards.

use crate::callback_settings;
use crate::catalog::sql;
use contract::catalog::CallbackSettings;
use domain::model::{AppId, time::SECOND_MS};
use platform::{
    database::{Database, DatabaseError},
    params,
};

/// How long the operator's call has to push its changes before the alarm does, in milliseconds.
pub const FIRST_PUSH_MS: i64 = 5 * SECOND_MS;
/// The time from the start of a push by the alarm or an import to its retry, in milliseconds.
pub const RETRY_MS: i64 = 10 * SECOND_MS;

/// Callback settings that an app's outbox does not have yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedSettings {
    pub app: AppId,
    pub settings: CallbackSettings,
}

/// Records that an app has an outbox, and that it has the current settings.
pub fn record_outbox(db: &impl Database, app_id: &str) -> Result<(), DatabaseError> {
    db.execute(sql::RECORD_OUTBOX, params![app_id])
}

/// Queues an app's changed settings if it has an outbox, within the caller's transaction.
pub fn enqueue(db: &impl Database, app_id: &str, now_ms: i64) -> Result<(), DatabaseError> {
    let due_at_ms = now_ms.saturating_add(FIRST_PUSH_MS);
    db.execute(sql::QUEUE_SETTINGS, params![due_at_ms, app_id])
}

/// The queued settings of one app, whenever they are due.
pub fn settings_of(db: &impl Database, app: AppId) -> Result<Option<QueuedSettings>, DatabaseError> {
    let row = db.query_first(sql::GET_QUEUED_SETTINGS, params![app.to_string()])?;
    row.map(|row| {
        Ok(QueuedSettings {
            app,
            settings: callback_settings::read(&row, 0)?,
        })
    })
    .transpose()
}

/// Claims at most `limit` pushes that are due by `by_ms`, the longest due first. Each becomes due again [`RETRY_MS`]
/// after `now_ms` unless [`confirm`] removes it first, so that a push that hangs or fails neither delays the others nor
/// keeps the object awake.
pub fn claim(
    db: &impl Database,
    now_ms: i64,
    by_ms: i64,
    limit: u32,
) -> Result<Vec<QueuedSettings>, DatabaseError> {
    let mut claimed = Vec::new();
    for row in db.query(sql::LIST_DUE_SETTINGS, params![by_ms, limit])? {
        let id = row.text(0)?;
        db.execute(
            sql::POSTPONE_SETTINGS,
            params![now_ms.saturating_add(RETRY_MS), id],
        )?;
        claimed.push(QueuedSettings {
            app: row.parse(0, AppId::parse)?,
            settings: callback_settings::read(&row, 1)?,
        });
    }
    Ok(claimed)
}

/// Records that an app's outbox has the settings of a revision: unless there are newer ones, its push is done.
pub fn confirm(db: &impl Database, app: AppId, revision: i64) -> Result<(), DatabaseError> {
    db.execute(sql::UNQUEUE_SETTINGS, params![app.to_string(), revision])
}

/// When the next push is due; none if the queue is empty.
pub fn next_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
    db.query_integer(sql::GET_NEXT_DUE_SETTINGS, params![])
}

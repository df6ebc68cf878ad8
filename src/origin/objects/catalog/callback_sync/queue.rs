//! The queue of changed callback settings that must be pushed to their apps' outboxes. Only outboxes that have asked for
//! terms are in it: any other has no callback to send, and gets the settings with its first terms.
//!
//! The PUT or import that changed the settings pushes first; the alarm pushes those that are still due afterwards.

use crate::delivery::callback_settings;
use crate::objects::catalog::sql;
use contract::{catalog::CallbackSettings, outbox::Shard};
use domain::model::{AppId, time::SECOND_MS};
use platform::{
    database::{Database, DatabaseError, Row},
    params,
};

/// How long the operator's call has to push its changes before the alarm does, in milliseconds.
pub const FIRST_PUSH_MS: i64 = 5 * SECOND_MS;
/// The time from the start of a push by the alarm or an import to its retry, in milliseconds.
pub const RETRY_MS: i64 = 10 * SECOND_MS;

/// Callback settings that an outbox does not have yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedSettings {
    pub shard: Shard,
    pub settings: CallbackSettings,
}

impl QueuedSettings {
    fn read(row: &Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            shard: Shard {
                app: row.parse(0, AppId::parse)?,
                number: row.number(1)?,
            },
            settings: callback_settings::read(row, 2)?,
        })
    }
}

/// Records that an app has this outbox, and that it has the current settings.
pub fn record_outbox(db: &impl Database, app_id: &str, shard: u8) -> Result<(), DatabaseError> {
    db.execute(sql::RECORD_OUTBOX, params![app_id, u32::from(shard)])
}

/// Queues an app's changed settings for each of its outboxes, within the caller's transaction.
pub fn enqueue(db: &impl Database, app_id: &str, now_ms: i64) -> Result<(), DatabaseError> {
    let due_at_ms = now_ms.saturating_add(FIRST_PUSH_MS);
    db.execute(sql::QUEUE_SETTINGS, params![due_at_ms, app_id])
}

/// The outboxes of an app that do not have its settings yet, whenever they are due.
pub fn settings_of(db: &impl Database, app: AppId) -> Result<Vec<QueuedSettings>, DatabaseError> {
    let rows = db.query(sql::LIST_QUEUED_SETTINGS, params![app.to_string()])?;
    rows.iter().map(QueuedSettings::read).collect()
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
        let queued = QueuedSettings::read(&row)?;
        let Shard { app, number } = queued.shard;
        db.execute(
            sql::POSTPONE_SETTINGS,
            params![
                now_ms.saturating_add(RETRY_MS),
                app.to_string(),
                u32::from(number)
            ],
        )?;
        claimed.push(queued);
    }
    Ok(claimed)
}

/// Records that an outbox has the settings of a revision: unless there are newer ones, its push is done.
pub fn confirm(db: &impl Database, shard: Shard, revision: i64) -> Result<(), DatabaseError> {
    db.execute(
        sql::UNQUEUE_SETTINGS,
        params![shard.app.to_string(), u32::from(shard.number), revision],
    )
}

/// When the next push is due; none if the queue is empty.
pub fn next_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
    db.query_integer(sql::GET_NEXT_DUE_SETTINGS, params![])
}

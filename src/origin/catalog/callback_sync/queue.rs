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
pub const OWN_TRY_MS: i64 = 5 * SECOND_MS;
/// The time from the start of a push by the alarm or an import to its retry, in milliseconds.
pub const AGAIN_MS: i64 = 10 * SECOND_MS;

/// Callback settings that an app's outbox does not have yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    pub app: AppId,
    pub settings: CallbackSettings,
}

/// Records that an app has an outbox, and that it has the current settings.
pub fn note_outbox(db: &impl Database, app_id: &str) -> Result<(), DatabaseError> {
    db.execute(sql::NOTE_OUTBOX, params![app_id])
}

/// Queues an app's changed settings if it has an outbox, within the caller's transaction.
pub fn mark(db: &impl Database, app_id: &str, now_ms: i64) -> Result<(), DatabaseError> {
    let due_at_ms = now_ms.saturating_add(OWN_TRY_MS);
    db.execute(sql::MARK_HANDOVER, params![due_at_ms, app_id])
}

/// The queued settings of one app, whenever they are due.
pub fn of_app(db: &impl Database, app: AppId) -> Result<Option<Handover>, DatabaseError> {
    let row = db.query_first(sql::GET_HANDOVER, params![app.to_string()])?;
    row.map(|row| {
        Ok(Handover {
            app,
            settings: callback_settings::read(&row, 0)?,
        })
    })
    .transpose()
}

/// Claims at most `limit` pushes that are due by `by_ms`, the longest due first. Each becomes due again [`AGAIN_MS`]
/// after `now_ms` unless [`told`] confirms it first, so that a push that hangs or fails neither delays the others nor
/// keeps the object awake.
pub fn claim(
    db: &impl Database,
    now_ms: i64,
    by_ms: i64,
    limit: u32,
) -> Result<Vec<Handover>, DatabaseError> {
    let mut claimed = Vec::new();
    for row in db.query(sql::LIST_HANDOVERS, params![by_ms, limit])? {
        let id = row.text(0)?;
        db.execute(
            sql::PUT_OFF_HANDOVER,
            params![now_ms.saturating_add(AGAIN_MS), id],
        )?;
        claimed.push(Handover {
            app: AppId::parse(id)
                .ok_or_else(|| DatabaseError(format!("the stored app id {id} is invalid")))?,
            settings: callback_settings::read(&row, 1)?,
        });
    }
    Ok(claimed)
}

/// Records that an app's outbox has the settings of a revision: unless there are newer ones, its push is done.
pub fn told(db: &impl Database, app: AppId, revision: i64) -> Result<(), DatabaseError> {
    db.execute(sql::SETTLE_HANDOVER, params![app.to_string(), revision])
}

/// When the next push is due; none if the queue is empty.
pub fn next_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
    let row = db.query_first(sql::GET_NEXT_HANDOVER, params![])?;
    row.map(|row| row.integer(0)).transpose()
}

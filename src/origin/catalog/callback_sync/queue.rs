//! Callback settings that changed, to be handed over to the outboxes of their apps. Only an outbox that has asked for
//! terms is told: one that never did has nothing to send, and asks before it has.
//!
//! The PUT or the import that changed them tries first; what is still due after that is the alarm's.

use crate::callback_settings;
use crate::catalog::sql;
use contract::catalog::CallbackSettings;
use domain::model::{AppId, time::SECOND_MS};
use platform::{
    database::{Database, DatabaseError},
    params,
};

/// How long the operator's call has to hand over what it changed before the alarm does, in milliseconds.
pub const OWN_TRY_MS: i64 = 5 * SECOND_MS;
/// How long after a try that the alarm or an import has begun the next one is due, in milliseconds.
pub const AGAIN_MS: i64 = 10 * SECOND_MS;

/// Settings that an app's outbox does not have yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    pub app: AppId,
    pub settings: CallbackSettings,
}

/// Notes that an app has an outbox, which knows the settings as they are now.
pub fn note_outbox(db: &impl Database, app_id: &str) -> Result<(), DatabaseError> {
    db.execute(sql::NOTE_OUTBOX, params![app_id])
}

/// Notes that an app's settings have changed, if it has an outbox. The caller's transaction holds it.
pub fn mark(db: &impl Database, app_id: &str, now_ms: i64) -> Result<(), DatabaseError> {
    let due_at_ms = now_ms.saturating_add(OWN_TRY_MS);
    db.execute(sql::MARK_HANDOVER, params![due_at_ms, app_id])
}

/// What is to be handed over for one app, however soon.
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

/// At most `limit` hand-overs due at `by_ms` or before, the longest due first, to be tried now. Each is due again
/// [`AGAIN_MS`] after `now_ms` unless it is [`told`] until then, so that one that hangs or fails neither holds up the
/// others nor keeps the object awake.
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
            app: AppId::parse(id).ok_or_else(|| DatabaseError(format!("a stored app is {id}")))?,
            settings: callback_settings::read(&row, 1)?,
        });
    }
    Ok(claimed)
}

/// Notes that an app's outbox has the settings of a revision. Nothing is due any more, unless they have changed since.
pub fn told(db: &impl Database, app: AppId, revision: i64) -> Result<(), DatabaseError> {
    db.execute(sql::SETTLE_HANDOVER, params![app.to_string(), revision])
}

/// When the next hand-over is due, if there is one.
pub fn next_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
    let row = db.query_first(sql::GET_NEXT_HANDOVER, params![])?;
    row.map(|row| row.integer(0)).transpose()
}

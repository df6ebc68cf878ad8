//! The queue of changed callback settings for the apps' outboxes ([`push`](crate::delivery::push)). It contains only
//! outboxes that have asked for terms. Any other outbox has no callback to send, and gets the settings with its first
//! terms.

use super::{
    Context,
    lasting::{self, Lasting},
    sql,
};
use crate::delivery::{
    callback_settings,
    push::{FIRST_PUSH_MS, Push},
};
use contract::{catalog::CallbackSettings, operation::ObjectAddress, outbox::OutboxShard};
use domain::model::{AppId, PublisherId};
use platform::{Database, DbResult, Row, database::Value, params};

/// Callback settings that an outbox does not have yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedSettings {
    pub shard: OutboxShard,
    pub settings: CallbackSettings,
}

impl Push for QueuedSettings {
    type Operation = CallbackSettings;
    const NAME: &'static str = "callback settings";
    const REACHED: &'static str = "outboxes have its new settings";
    const LIST_DUE: &'static str = sql::LIST_DUE_SETTINGS;
    const NEXT_DUE: &'static str = sql::GET_NEXT_DUE_SETTINGS;
    const POSTPONE: &'static str = sql::POSTPONE_SETTINGS;
    const CONFIRM: &'static str = sql::UNQUEUE_SETTINGS;

    fn read(row: &Row) -> DbResult<Self> {
        Ok(Self {
            shard: OutboxShard::new(row.parse(0, AppId::parse)?, row.number(1)?),
            settings: callback_settings::read(row, 2, 4)?,
        })
    }

    fn key(&self) -> Vec<Value> {
        vec![self.shard.app.to_string().into(), self.shard.number.into()]
    }

    /// Settings that are resealed during the call keep their revision, and stay queued.
    fn version(&self) -> Vec<Value> {
        let sealed = self.settings.sealed.as_ref().map(|sealed| sealed.0.clone());
        params![self.settings.revision, sealed].to_vec()
    }

    fn receiver(&self) -> ObjectAddress {
        self.shard.address()
    }

    fn operation(&self) -> CallbackSettings {
        self.settings.clone()
    }
}

/// Records that an outbox of an app has the current settings, within the caller's transaction.
pub fn record_outbox(db: &impl Database, context: &Context<'_>, app: AppId, shard: u8) -> DbResult {
    db.execute(sql::RECORD_OUTBOX, params![app.to_string(), shard])?;
    lasting::add(db, context, &Lasting::Outbox(app, shard))
}

/// Queues an app's changed settings for each of its outboxes, within the caller's transaction.
pub fn enqueue(db: &impl Database, app_id: &str, now_ms: i64) -> DbResult {
    let due_at_ms = now_ms.saturating_add(FIRST_PUSH_MS);
    db.execute(sql::QUEUE_SETTINGS, params![due_at_ms, app_id])
}

/// Stores a new revision of the callback settings of all apps of a suspended or readmitted publisher, and queues the
/// settings for the apps' outboxes. Runs in the caller's transaction.
pub fn enqueue_publisher(db: &impl Database, publisher_id: &str, revision: i64, now_ms: i64) -> DbResult {
    let due_at_ms = now_ms.saturating_add(FIRST_PUSH_MS);
    db.execute(sql::SUSPEND_APPS, params![revision, publisher_id])?;
    db.execute(sql::QUEUE_SETTINGS_OF_PUBLISHER, params![due_at_ms, publisher_id])
}

/// Returns the outboxes of an app that do not have its settings yet, whether due or not.
pub fn settings_of(db: &impl Database, app: AppId) -> DbResult<Vec<QueuedSettings>> {
    QueuedSettings::list(db, sql::LIST_QUEUED_SETTINGS, params![app.to_string()])
}

/// Returns the outboxes of a publisher's apps that do not have their settings yet.
pub fn settings_of_publisher(db: &impl Database, publisher: &PublisherId) -> DbResult<Vec<QueuedSettings>> {
    let publisher = params![publisher.as_str()];
    QueuedSettings::list(db, sql::LIST_QUEUED_SETTINGS_OF_PUBLISHER, publisher)
}

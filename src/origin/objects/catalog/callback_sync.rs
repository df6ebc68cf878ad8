//! The queue of changed callback settings that must be pushed to their apps' outboxes ([`push`](crate::delivery::push)). Only
//! outboxes that have asked for terms are in it: any other has no callback to send, and gets the settings with its first
//! terms.

use super::sql;
use crate::delivery::{
    callback_settings,
    push::{FIRST_PUSH_MS, Push, PushQueue},
};
use contract::{catalog::CallbackSettings, operation::ObjectAddress, outbox::OutboxShard};
use domain::model::{AppId, PublisherId, api_error::common};
use platform::{
    database::{Database, DatabaseError, Row},
    failure::Failure,
    params,
    traits::{Clock, ObjectCall, Sleep},
};

/// The queue of what outboxes do not have yet.
pub type SettingsQueue<'a, D, R> = PushQueue<'a, D, R, QueuedSettings>;

/// Callback settings that an outbox does not have yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedSettings {
    pub shard: OutboxShard,
    pub settings: CallbackSettings,
}

impl QueuedSettings {
    fn read(row: &Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            shard: OutboxShard {
                app: row.parse(0, AppId::parse)?,
                number: row.number(1)?,
            },
            settings: callback_settings::read(row, 2, 4)?,
        })
    }
}

impl Push for QueuedSettings {
    type Operation = CallbackSettings;
    const NAME: &'static str = "callback settings";

    fn list_due(db: &impl Database, by_ms: i64, limit: u32) -> Result<Vec<Self>, DatabaseError> {
        let rows = db.query(sql::LIST_DUE_SETTINGS, params![by_ms, limit])?;
        rows.iter().map(Self::read).collect()
    }

    fn next_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
        db.query_integer(sql::GET_NEXT_DUE_SETTINGS, params![])
    }

    fn postpone(&self, db: &impl Database, due_ms: i64) -> Result<(), DatabaseError> {
        let OutboxShard { app, number } = self.shard;
        db.execute(
            sql::POSTPONE_SETTINGS,
            params![due_ms, app.to_string(), u32::from(number)],
        )
    }

    fn confirm(&self, db: &impl Database) -> Result<(), DatabaseError> {
        confirm(db, self.shard, self.settings.revision)
    }

    fn receiver(&self) -> ObjectAddress {
        self.shard.address()
    }

    fn operation(&self) -> CallbackSettings {
        self.settings.clone()
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

/// Gives each app of a publisher that is suspended, or admitted again, new settings, and queues them for the outboxes, within
/// the caller's transaction.
pub fn enqueue_publisher(
    db: &impl Database,
    publisher_id: &str,
    revision: i64,
    now_ms: i64,
) -> Result<(), DatabaseError> {
    let due_at_ms = now_ms.saturating_add(FIRST_PUSH_MS);
    db.execute(sql::SUSPEND_APPS, params![revision, publisher_id])?;
    db.execute(sql::QUEUE_SETTINGS_OF_PUBLISHER, params![due_at_ms, publisher_id])
}

/// The outboxes of a publisher's apps that do not have their settings yet, whenever they are due.
pub fn queued_of(db: &impl Database, publisher: &PublisherId) -> Result<Vec<QueuedSettings>, DatabaseError> {
    let rows = db.query(
        sql::LIST_QUEUED_SETTINGS_OF_PUBLISHER,
        params![publisher.as_str()],
    )?;
    rows.iter().map(QueuedSettings::read).collect()
}

/// Records that an outbox has the settings of a revision: unless there are newer ones, its push is done.
pub fn confirm(db: &impl Database, shard: OutboxShard, revision: i64) -> Result<(), DatabaseError> {
    db.execute(
        sql::UNQUEUE_SETTINGS,
        params![shard.app.to_string(), u32::from(shard.number), revision],
    )
}

/// Pushes the queued settings of one app, for a PUT of the app.
///
/// # Errors
/// 503 if an outbox did not take them: the operator may rely on a callback only once it is in use.
pub async fn push_app(
    queue: &SettingsQueue<'_, impl Database, impl Clock + Sleep + ObjectCall>,
    app: AppId,
) -> Result<(), Failure> {
    send(
        queue,
        settings_of(queue.db, app)?,
        "app",
        "whose callbacks must go by its new settings have them",
    )
    .await
}

/// Pushes the queued settings of a publisher's apps, for a PUT of the publisher.
///
/// # Errors
/// 503 if an outbox did not take them: the operator may rely on a suspension only once nobody is rewarded any more.
pub async fn push_publisher(
    queue: &SettingsQueue<'_, impl Database, impl Clock + Sleep + ObjectCall>,
    publisher: &PublisherId,
) -> Result<(), Failure> {
    send(
        queue,
        queued_of(queue.db, publisher)?,
        "publisher",
        "of its apps know whether it is suspended",
    )
    .await
}

async fn send(
    queue: &SettingsQueue<'_, impl Database, impl Clock + Sleep + ObjectCall>,
    queued: Vec<QueuedSettings>,
    kind: &str,
    that: &str,
) -> Result<(), Failure> {
    let all = queued.len();
    let taken = queue.send(queued).await?;
    if taken == all {
        return Ok(());
    }
    let message = format!(
        "the {kind} is kept as it was put, but {taken} of the {all} outboxes {that}; the others get them as soon as that can \
         be done, and the PUT may be repeated"
    );
    Err(common::UNAVAILABLE.with_message(message).into())
}

//! What an outbox knows of itself: whose it is, where the app's callbacks go, and how that endpoint has been doing.

use std::cell::Cell;

use super::sql;
use crate::callback_settings;
use contract::catalog::CallbackSettings;
use domain::{
    callbacks::health::Health,
    model::{AppId, PublisherId},
};
use platform::{
    database::{Database, DatabaseError},
    params,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxState {
    pub app: AppId,
    /// Known since the first conversion.
    pub publisher: Option<PublisherId>,
    pub callback: CallbackSettings,
    pub health: Health,
    /// When the endpoint said that it wants no more, in milliseconds.
    pub disabled_ms: Option<i64>,
}

impl OutboxState {
    pub fn has_callback(&self) -> bool {
        self.callback.sealed.is_some()
    }

    /// Whether callbacks may go out at all.
    pub fn has_endpoint(&self) -> bool {
        self.has_callback() && self.disabled_ms.is_none()
    }
}

/// `None` for an outbox that was never asked for anything.
///
/// # Errors
/// What the database says.
pub fn read(db: &impl Database) -> Result<Option<OutboxState>, DatabaseError> {
    let Some(row) = db.query_first(sql::GET_STATE, &[])? else {
        return Ok(None);
    };
    let app = u32::try_from(row.integer(6)?).ok().and_then(AppId::from_number);
    Ok(Some(OutboxState {
        app: app.ok_or_else(|| DatabaseError("the outbox's app is none".into()))?,
        publisher: row.optional_text(0)?.and_then(PublisherId::parse),
        callback: callback_settings::read(&row, 1)?,
        health: Health {
            failures: u32::try_from(row.integer(3)?).unwrap_or(u32::MAX),
            resumes_ms: row.integer(4)?,
        },
        disabled_ms: row.optional_integer(5)?,
    }))
}

/// What a process remembers of the outbox's row, so that it is not read for each conversion.
#[derive(Debug, Default)]
pub struct StateCache {
    /// Set once the row names a publisher: the lowest revision that its callback can have. Neither is ever taken back, so
    /// what was read once holds for as long as the process lives.
    revision: Cell<Option<i64>>,
    /// Whether callbacks can go nowhere as things are: the app has no callback, or its endpoint is disabled.
    nowhere: Cell<bool>,
}

impl StateCache {
    /// Whether nothing of this would be news.
    pub fn covers(&self, callback: &CallbackSettings) -> bool {
        self.revision
            .get()
            .is_some_and(|known| callback.revision <= known)
    }

    /// Remembers what [`learn`] has written, or found, with a publisher.
    pub fn note(&self, callback: &CallbackSettings) {
        self.revision
            .set(self.revision.get().max(Some(callback.revision)));
    }

    pub fn leads_nowhere(&self) -> bool {
        self.nowhere.get()
    }

    /// To be said right after it was read, and taken back before anything is written that may give callbacks a way: a
    /// write that reports an error may have happened.
    pub fn set_nowhere(&self, nowhere: bool) {
        self.nowhere.set(nowhere);
    }
}

/// Takes over what the catalog says, if it is news. A callback that was set or changed begins anew: an endpoint that
/// was disabled or failing is tried at once. `under_way_ms` is how far a try that is under way puts its callback off.
/// Returns whether the callback is another one.
///
/// # Errors
/// What the database says.
pub fn learn(
    db: &impl Database,
    now_ms: i64,
    app: AppId,
    publisher: Option<&PublisherId>,
    callback: &CallbackSettings,
    under_way_ms: i64,
) -> Result<bool, DatabaseError> {
    let known = read(db)?;
    let known_revision = known.as_ref().map(|known| known.callback.revision);
    let is_newer = known_revision.is_none_or(|known| callback.revision > known);
    let names_publisher = publisher.is_some() && known.as_ref().is_none_or(|known| known.publisher.is_none());
    if !is_newer && !names_publisher {
        return Ok(false);
    }
    let governs = match &known {
        Some(known) if !is_newer => &known.callback,
        _ => callback,
    };
    db.transaction(|| {
        db.execute(
            sql::SET_STATE,
            params![
                app.number(),
                publisher.map(PublisherId::as_str),
                governs.revision,
                governs.sealed.as_ref().map(|sealed| sealed.0.clone())
            ],
        )?;
        if is_newer {
            release(db, now_ms, under_way_ms)?;
        }
        Ok(is_newer)
    })
}

/// Lets the endpoint be tried again, and gives all that waits a whole new schedule, the first try at once. What is under
/// way is left alone: it would be sent twice.
///
/// # Errors
/// What the database says.
pub fn release(db: &impl Database, now_ms: i64, under_way_ms: i64) -> Result<(), DatabaseError> {
    set_health(db, Health::default(), None)?;
    let under_way_until = now_ms.saturating_add(under_way_ms);
    db.execute(sql::RELEASE_ALL, params![now_ms, under_way_until])
}

/// Notes how the endpoint is doing.
///
/// # Errors
/// What the database says.
pub fn set_health(db: &impl Database, health: Health, disabled_ms: Option<i64>) -> Result<(), DatabaseError> {
    db.execute(
        sql::SET_HEALTH,
        params![health.failures, health.resumes_ms, disabled_ms],
    )
}

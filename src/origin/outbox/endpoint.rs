//! The state of an outbox: its app and publisher, the app's callback settings, and the health of the endpoint.

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
    /// None before the catalog's terms were first received.
    pub publisher: Option<PublisherId>,
    pub callback: CallbackSettings,
    pub health: Health,
    /// When the endpoint disabled itself by its response, in milliseconds.
    pub disabled_ms: Option<i64>,
}

impl OutboxState {
    pub fn has_callback(&self) -> bool {
        self.callback.sealed.is_some()
    }

    /// Whether callbacks may be sent: there is a callback, and its endpoint is not disabled.
    pub fn has_endpoint(&self) -> bool {
        self.has_callback() && self.disabled_ms.is_none()
    }
}

/// Reads the state; `None` if the outbox has never received terms or settings.
pub fn read(db: &impl Database) -> Result<Option<OutboxState>, DatabaseError> {
    let Some(row) = db.query_first(sql::GET_STATE, &[])? else {
        return Ok(None);
    };
    let app = AppId::from_number(row.number(6)?);
    Ok(Some(OutboxState {
        app: app.ok_or_else(|| DatabaseError("the stored app id is invalid".into()))?,
        publisher: row.optional_text(0)?.and_then(PublisherId::parse),
        callback: callback_settings::read(&row, 1)?,
        health: Health {
            failures: row.number(3)?,
            resumes_ms: row.integer(4)?,
        },
        disabled_ms: row.optional_integer(5)?,
    }))
}

/// A process's cache of the outbox's row, so that it is not read for each conversion.
#[derive(Debug, Default)]
pub struct StateCache {
    /// Set once the row has a publisher: a lower bound of its callback's revision. The publisher stays and revisions
    /// only grow, so the bound holds for the life of the process.
    revision: Cell<Option<i64>>,
    /// Whether no callback can be sent: the app has no callback, or its endpoint is disabled.
    lacks_endpoint: Cell<bool>,
}

impl StateCache {
    /// Whether these settings are stored already, with a publisher, or older than the stored ones.
    pub fn covers(&self, callback: &CallbackSettings) -> bool {
        self.revision
            .get()
            .is_some_and(|known| callback.revision <= known)
    }

    /// Records settings that [`update`] has written, or found, together with a publisher.
    pub fn record(&self, callback: &CallbackSettings) {
        self.revision
            .set(self.revision.get().max(Some(callback.revision)));
    }

    pub fn lacks_endpoint(&self) -> bool {
        self.lacks_endpoint.get()
    }

    /// Set to true right after the state was read. Set to false before every write that may enable callbacks, because a
    /// write that reports an error may have happened.
    pub fn set_lacks_endpoint(&self, lacks_endpoint: bool) {
        self.lacks_endpoint.set(lacks_endpoint);
    }
}

/// Stores the catalog's callback settings if their revision is higher, and a publisher if none is stored. New settings
/// reset the endpoint's health and make waiting callbacks due. `claim_ms` is the duration of a claim. Returns
/// whether the settings were new.
pub fn update(
    db: &impl Database,
    now_ms: i64,
    app: AppId,
    publisher: Option<&PublisherId>,
    callback: &CallbackSettings,
    claim_ms: i64,
) -> Result<bool, DatabaseError> {
    let known = read(db)?;
    let known_revision = known.as_ref().map(|known| known.callback.revision);
    let is_newer = known_revision.is_none_or(|known| callback.revision > known);
    let names_publisher = publisher.is_some() && known.as_ref().is_none_or(|known| known.publisher.is_none());
    if !is_newer && !names_publisher {
        return Ok(false);
    }
    let current = match &known {
        Some(known) if !is_newer => &known.callback,
        _ => callback,
    };
    db.transaction(|| {
        db.execute(
            sql::SET_STATE,
            params![
                app.number(),
                publisher.map(PublisherId::as_str),
                current.revision,
                current.sealed.as_ref().map(|sealed| sealed.0.clone())
            ],
        )?;
        if is_newer {
            release(db, now_ms, claim_ms)?;
        }
        Ok(is_newer)
    })
}

/// Resets the endpoint's health, and restarts the schedule of every waiting callback with an attempt at once. Attempts
/// in flight are left alone, or their callbacks would be sent twice.
pub fn release(db: &impl Database, now_ms: i64, claim_ms: i64) -> Result<(), DatabaseError> {
    set_health(db, Health::default(), None)?;
    let claimed_until_ms = now_ms.saturating_add(claim_ms);
    db.execute(sql::RELEASE_ALL, params![now_ms, claimed_until_ms])
}

/// Stores the endpoint's health.
pub fn set_health(db: &impl Database, health: Health, disabled_ms: Option<i64>) -> Result<(), DatabaseError> {
    db.execute(
        sql::SET_HEALTH,
        params![health.failures, health.resumes_ms, disabled_ms],
    )
}

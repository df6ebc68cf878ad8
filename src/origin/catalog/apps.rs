//! An app is put: its document with the secrets masked, and its callback sealed and handed over to its outbox.
//!
//! To an outbox, new settings are the operator's word that the endpoint is to be tried again, and all that waits gets a
//! whole new schedule (docs/DECISIONS.md, "Completion callbacks"). An import of the whole catalog every day does not say so: under it, nothing
//! would ever be dead-lettered.

use super::{
    Context,
    callback_sync::queue,
    resources::{WriteSource, require_reference, to_document},
    revisions, sql,
};
use crate::callback_settings;
use contract::{
    catalog::{CallbackSettings, Resource, callback_purpose},
    operation::Bytes,
};
use domain::{
    catalog::app::App,
    model::{api_error::ApiError, document::FieldError},
};
use platform::{database::Database, failure::Failure, params};

/// Checks and keeps an app. Its callback settings get a new revision, and are handed over, when they change and with every
/// PUT: only an import leaves them alone that brings them as they are.
pub fn put(
    db: &impl Database,
    context: &Context<'_>,
    by: WriteSource,
    id: &str,
    app: &App,
) -> Result<(), Failure> {
    require_reference(db, Resource::Publisher, "publisher_id", app.publisher_id.as_str())?;
    if let Some(callback) = &app.callback {
        let checked = context.guard.check(&callback.url);
        checked.map_err(|problem| ApiError::from(FieldError::new("callback.url", problem)))?;
    }
    let document = to_document(&app.masked())?;
    let (mut is_stored, mut settings) = (false, CallbackSettings::default());
    if let Some(stored) = db.query_first(sql::GET_STORED_APP, params![id])? {
        if stored.text(0)? != app.publisher_id.as_str() {
            // Facts, callbacks and users' rewards are the owner's; an app that changed hands would carry them over.
            let error = FieldError::new("publisher_id", "an app does not change its publisher");
            return Err(ApiError::from(error).into());
        }
        is_stored = stored.text(1)? == document;
        settings = callback_settings::read(&stored, 2)?;
    }
    let purpose = callback_purpose(id);
    let callback = app.callback.as_ref().map(to_document).transpose()?;
    // The document does not show the secrets; a seal that no longer opens is no use to the outbox either.
    let keeps_settings = match (&settings.sealed, &callback) {
        (None, None) => true,
        (Some(sealed), Some(callback)) if by == WriteSource::Import => context
            .vault
            .open(&purpose, &sealed.0)
            .is_some_and(|stored| stored == callback.as_bytes()),
        _ => false,
    };
    if is_stored && keeps_settings {
        return Ok(());
    }
    let revision = revisions::record(db, context.now_ms)?;
    if !keeps_settings {
        let seal = |callback: String| {
            let sealed = context
                .vault
                .seal(&purpose, callback.as_bytes(), context.random()?);
            sealed.ok_or_else(|| Failure::Internal("the vault did not seal a callback".into()))
        };
        let sealed = callback.map(seal).transpose()?.map(Bytes);
        settings = CallbackSettings { revision, sealed };
        queue::mark(db, id, context.now_ms)?;
    }
    let (publisher_id, sealed) = (app.publisher_id.as_str(), settings.sealed.map(|sealed| sealed.0));
    db.execute(
        sql::PUT_APP,
        params![id, publisher_id, document, sealed, settings.revision],
    )?;
    Ok(())
}

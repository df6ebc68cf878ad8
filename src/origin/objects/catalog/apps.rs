//! Stores an app. The document is stored with masked secrets. The callback settings are sealed and queued for the app's
//! outboxes. The click secrets are sealed for the edge.
//!
//! New settings restart the schedule of every waiting callback (docs/DECISIONS.md, "Completion callbacks"). An import
//! with unchanged settings must not restart it: with a daily import, no callback would ever become a dead letter.

use serde_json::Value;

use super::{
    Context, answer, callback_sync, lasting,
    resource_tables::{Change, WriteSource, require_reference, unknown},
    revisions::{self, in_force},
    sql, terms, tracking_slots,
};
use crate::delivery::callback_settings;
use contract::{
    catalog::{AppOffering, AppSettings, CallbackSettings, ListTestOffers, Resource, callback_purpose},
    operation::{Bytes, OperatorReply},
};
use domain::{
    callbacks::{guard::Guard, settings::Callback, shards},
    catalog::app::App,
    conversions::terms::AppTerms,
    model::{ApiError, AppId, Document, FieldError, Vault, document::keep_unknown},
    offers::{request::OffersRequest, test_offers},
    snapshot::tracking::slots,
    tracking::signature,
};
use platform::{Database, DbResult, Failure, Result, Row, database::json, params};

/// Returns a stored app with its secrets; `None` for any other resource, and for an app whose secrets cannot be read.
pub fn opened(db: &impl Database, context: &Context<'_>, resource: Resource, id: &str) -> DbResult<Option<App>> {
    if resource != Resource::App {
        return Ok(None);
    }
    let row = db.query_first(sql::GET_SEALED_APP, params![id])?;
    Ok(row.and_then(|row| open(context, &row, id).ok()))
}

/// Decrypts an app with its secrets, from a row of [`sql::GET_OWN_APP`] or [`sql::GET_SEALED_APP`].
pub fn open(context: &Context<'_>, row: &Row, app_id: &str) -> Result<App> {
    let opened = |vault: &Vault, purpose: &str, sealed: &[u8]| {
        let broken = || Failure::Internal(format!("no listed key decrypts {purpose}"));
        vault.open(purpose, sealed).ok_or_else(broken)
    };
    let mut app: App = row.json(0)?;
    if let Some(sealed) = row.optional_blob(2)? {
        let callback = opened(context.vault, &callback_purpose(app_id), sealed)?;
        let callback = serde_json::from_slice(&callback)
            .map_err(|error| Failure::Internal(format!("the callback of app {app_id} cannot be parsed: {error}")))?;
        app.callback = Some(callback);
    }
    if let Some(sealed) = row.optional_blob(3)? {
        let secrets = opened(context.edge_vault, &signature::purpose(app_id), sealed)?;
        let (secret, previous) = signature::secrets_in(&secrets)
            .ok_or_else(|| Failure::Internal(format!("the click secrets of app {app_id} cannot be parsed")))?;
        (app.click_secret, app.previous_click_secret) = (Some(secret), previous);
    }
    Ok(app)
}

/// Parses the operator's document. A masked secret keeps its stored value, so that the operator can change an app whose
/// secrets the publisher has renewed.
pub fn read(db: &impl Database, context: &Context<'_>, id: &str, body: &str) -> Result<App> {
    let mut app = context.read(body, App::parse)?;
    if app.has_masks()
        && let Some(row) = db.query_first(sql::GET_SEALED_APP, params![id])?
    {
        app.keep_masked(open(context, &row, id)?);
    }
    // A change that is replayed after a restore is not checked again: it was already accepted, perhaps under older
    // rules.
    if !context.is_repeat {
        app.check().map_err(ApiError::from)?;
    }
    Ok(app)
}

/// Checks and stores an app. Changed callback settings get a new revision and are pushed to the outboxes. A PUT does so
/// even with unchanged settings; an import and a member's change do not.
pub fn put(db: &impl Database, context: &Context<'_>, source: WriteSource, id: &str, app: &App) -> Result<Change> {
    require_reference(db, source, Resource::Publisher, "publisher_id", app.publisher_id.as_str())?;
    let stored = db.query_first(sql::GET_STORED_APP, params![id])?;
    if !context.is_repeat {
        check_urls(context.guard, app, stored.as_ref())?;
    }
    let last = stored.as_ref().map(|row| in_force(row, 4)).transpose()?.unwrap_or_default();
    let mut masked = app.masked();
    masked.terms_since = terms::raised_since(context.now_ms, app.terms_since, last.since).map_err(ApiError::from)?;
    let shards = outbox_shards(app, stored.as_ref())?;
    masked.outbox_shards = Some(shards);
    let mut document = json(&masked)?;
    let (mut is_same, mut settings, mut click_secrets) = (false, CallbackSettings::default(), None);
    let is_stored = stored.is_some();
    if let Some(stored) = stored {
        if stored.text(0)? != app.publisher_id.as_str() {
            // Facts, callbacks and rewards belong to the publisher, and a moved app would take them to another
            // publisher.
            let error = FieldError::new("publisher_id", "cannot change for an existing app");
            return Err(ApiError::from(error).into());
        }
        document = keep_unknown::<App>(stored.text(1)?, document);
        is_same = stored.text(1)? == document;
        settings = callback_settings::read(&stored, 2, 8)?;
        click_secrets = stored.optional_blob(7)?.map(<[u8]>::to_vec);
    }
    let callback = app.callback.as_ref().map(json).transpose()?;
    let stored_callback = settings.sealed.as_ref().map(|sealed| sealed.0.as_slice());
    let callback =
        Secret::new(source, context.vault, callback_purpose(id), stored_callback, callback, keep_unknown::<Callback>);
    let signing = Secret::new(
        source,
        context.edge_vault,
        signature::purpose(id),
        click_secrets.as_deref(),
        app.click_secrets(),
        |_, secrets| secrets,
    );
    let (keeps_settings, keeps_click_secrets) = (callback.is_kept, signing.is_kept);
    let change = Change::of(is_stored, is_same && keeps_settings && keeps_click_secrets);
    if change == Change::Nothing || source.checked_import().is_some() {
        return Ok(change);
    }
    let revision = revisions::record(db, context.now_ms)?;
    let app_id = AppId::parse(id).ok_or_else(|| Failure::Internal("the app id is invalid".into()))?;
    tracking_slots::mark_app(db, app_id, revision)?;
    if !keeps_settings {
        let sealed = callback.seal(context)?.map(Bytes);
        settings = CallbackSettings { revision, sealed, ..settings };
        callback_sync::enqueue(db, id, context.now_ms)?;
    }
    if !keeps_click_secrets {
        click_secrets = signing.seal(context)?;
    }
    let app_terms = AppTerms::of(app);
    let terms_revision = terms::seal(db, context.now_ms, Resource::App, id, last.revision, &app_terms)?;
    let (publisher_id, sealed) = (app.publisher_id.as_str(), settings.sealed.map(|sealed| sealed.0));
    db.execute(
        sql::PUT_APP,
        params![
            id,
            publisher_id,
            document.as_str(),
            sealed,
            settings.revision,
            revision,
            terms_revision,
            masked.terms_since.unwrap_or_default(),
            shards,
            click_secrets,
            slots::hash_of_app(app_id),
        ],
    )?;
    let with_secrets = keep_unknown::<App>(&document, json(app)?);
    lasting::add_put(db, context, source, Resource::App, id, with_secrets)?;
    Ok(change)
}

/// Checks the callback URL and the fallback URL. A fallback URL that was stored before a rule existed is accepted until
/// it changes.
fn check_urls(guard: &Guard, app: &App, stored: Option<&Row>) -> Result {
    let refuse = |path: &str, problem: String| ApiError::from(FieldError::new(path, problem));
    if let Some(callback) = &app.callback {
        let checked = guard.check(&callback.url);
        checked.map_err(|problem| refuse("callback.url", problem))?;
    }
    let checked = app.fallback_url.as_ref().map(|url| guard.check_default_port(url));
    let Some(Err(problem)) = checked else {
        return Ok(());
    };
    let stored = stored.map(|row| row.json::<App>(1)).transpose()?;
    if stored.is_some_and(|stored| stored.fallback_url == app.fallback_url) {
        return Ok(());
    }
    Err(refuse("fallback_url", problem).into())
}

/// True if two secrets are the same text or the same JSON. Newer code may order the JSON's members differently.
fn is_same(one: &str, other: &str) -> bool {
    let json = |text| serde_json::from_str::<Value>(text).ok();
    one == other || json(one).is_some_and(|one| Some(one) == json(other))
}

/// The callback or the click secrets in an app's new document.
struct Secret<'a> {
    vault: &'a Vault,
    purpose: String,
    plain: Option<String>,
    /// True if the stored sealed value is kept.
    is_kept: bool,
}

impl<'a> Secret<'a> {
    /// Compares a secret with the stored sealed value, because stored documents contain only masked secrets. A stored
    /// value that the current keys cannot decrypt is replaced. A PUT always seals the secret again, with the newest
    /// key. `keep` adds the members that newer code has stored.
    fn new(
        source: WriteSource,
        vault: &'a Vault,
        purpose: String,
        stored: Option<&[u8]>,
        plain: Option<String>,
        keep: fn(&str, String) -> String,
    ) -> Self {
        let opened = stored.and_then(|sealed| vault.open(&purpose, sealed));
        let opened = opened.and_then(|opened| String::from_utf8(opened).ok());
        let plain = match (&opened, plain) {
            (Some(opened), Some(plain)) => Some(keep(opened, plain)),
            (_, plain) => plain,
        };
        let is_kept = match (stored, &plain) {
            (None, None) => true,
            (Some(_), Some(plain)) => {
                source != WriteSource::Put && opened.is_some_and(|opened| is_same(&opened, plain))
            }
            _ => false,
        };
        Self { vault, purpose, plain, is_kept }
    }

    fn seal(&self, context: &Context<'_>) -> Result<Option<Vec<u8>>> {
        let seal = |plain: &String| context.seal(self.vault, &self.purpose, plain);
        self.plain.as_ref().map(seal).transpose()
    }
}

/// Returns an app's number of outboxes: the stored number or, for a new app, the number in the document or the default.
fn outbox_shards(app: &App, stored: Option<&Row>) -> Result<u8> {
    let stored = stored.map(|row| row.number(6)).transpose()?;
    match (app.outbox_shards, stored) {
        (Some(put), Some(stored)) if put != stored => {
            // With another number, most users' next conversions would go to other outboxes than their earlier
            // conversions.
            let problem = format!("cannot change; it is {stored}");
            Err(ApiError::from(FieldError::new("outbox_shards", problem)).into())
        }
        (_, Some(stored)) => Ok(stored),
        (put, None) => Ok(put.unwrap_or(shards::DEFAULT_COUNT)),
    }
}

fn stored(db: &impl Database, app: AppId) -> Result<Row> {
    let row = db.query_first(sql::GET_STORED_APP, params![app.to_string()])?;
    row.ok_or_else(|| unknown(Resource::App, &app.to_string()).into())
}

/// Returns the fields of an app that decide which offers its users see.
pub fn offering(db: &impl Database, app: AppId) -> Result<AppOffering> {
    let row = stored(db, app)?;
    let document: App = row.json(1)?;
    Ok(AppOffering {
        publisher_id: document.publisher_id,
        platform: document.platform,
        currency: document.currency,
        blocked_offers: document.blocked_offers,
        click_secrets: row.optional_blob(7)?.map(|sealed| Bytes(sealed.to_vec())),
    })
}

/// Returns a page of test offers for a test app.
pub fn test_offers(db: &impl Database, list: &ListTestOffers) -> Result<OperatorReply> {
    let request = OffersRequest::parse(&list.request, list.is_query)?;
    let app = offering(db, list.app_id)?.listing(list.app_id);
    let page = test_offers::page(&app, &request, &list.tracking_url);
    let page = page.and_then(|(page, _)| String::from_utf8(page).ok());
    let page = page.ok_or_else(|| Failure::Internal("the test offers could not be rendered".into()))?;
    Ok(OperatorReply::new(200, page))
}

/// Returns the settings that the operator's calls to an app's outboxes need.
pub fn settings(db: &impl Database, app: AppId) -> Result<OperatorReply> {
    let row = stored(db, app)?;
    let document: App = row.json(1)?;
    answer(&AppSettings {
        outbox_shards: row.number(6)?,
        publisher_id: document.publisher_id,
        currency: document.currency,
        callback: callback_settings::read(&row, 2, 8)?,
    })
}

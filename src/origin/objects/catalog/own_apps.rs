//! The apps of a publisher, which its members read and change. A member's change is applied to the operator's document,
//! so that members and the operator follow the same rules.

use serde_json::{Value as Json, json};
use url::Url;

use super::{
    Context, answer, apps, import_claims,
    lasting::{self, Lasting, OwnAppKey},
    resource_tables::{WriteSource, require},
    sql,
};
use contract::{
    catalog::{
        ChangeOwnApp, CreateOwnApp, GetOwnApp, ListOwnApps, OWN_APPS_PAGE, OwnAppChange, PutTestApp, Resource,
        SecretChange, UNKNOWN_RESOURCE,
    },
    operation::{Bytes, OperatorReply},
};
use domain::{
    callbacks::{settings::Callback, signature::Secret},
    catalog::{
        app::App,
        own_app::{AppChange, NewApp, OwnApp, TestApp, renew_callback_secret, renew_click_secret},
        publisher::{PUBLISHER_NOT_APPROVED, Publisher},
    },
    model::{ApiError, AppId, DAY_MS, Document, FIRST_TEST_APP, PublisherId, credentials},
    tracking::signature::ClickSecret,
};
use platform::{Database, DbResult, Failure, Result, Row, params};

pub const CHANGED_MEANWHILE: ApiError =
    ApiError::new(412, "precondition_failed", "the app was changed since you read it; read the app again");
pub const NO_CALLBACK: ApiError = ApiError::new(409, "no_callback", "the app has no callback");
pub const TOO_MANY_APPS: ApiError = ApiError::new(
    409,
    "too_many_apps",
    "this publisher has its maximum number of apps; your account manager can raise it",
);
pub const TOO_MANY_TEST_APPS: ApiError =
    ApiError::new(409, "too_many_test_apps", "a publisher has at most 20 test apps; reuse one by its name");
pub const KEY_REUSED: ApiError =
    ApiError::new(409, "idempotency_key_reused", "this Idempotency-Key was used for another app; use a new key");

/// How long a retried request finds the app that the first request has set up.
const KEY_MS: i64 = 2 * DAY_MS;
/// Maximum attempts to generate a free id. There are 89,000,000 ids, and 1,000,000 ids for test apps, so a second
/// attempt is rare.
const DRAWS: usize = 16;
const FIRST_ID: u32 = 10_000_000;
const END: u32 = 100_000_000;
/// Maximum test apps of a publisher.
const MAX_TEST_APPS: usize = 20;

/// Returns a page of a publisher's apps, ordered by id. `cursor` is null on the last page.
pub fn list(db: &impl Database, command: &ListOwnApps) -> Result<OperatorReply> {
    let publisher = command.publisher_id.as_str();
    require(db, Resource::Publisher, publisher)?;
    let after = command.cursor.as_deref().unwrap_or_default();
    // One row more than the limit shows whether there is another page.
    let rows = db.query(sql::LIST_OWN_APPS, params![publisher, after, OWN_APPS_PAGE + 1])?;
    let page = rows.get(..OWN_APPS_PAGE);
    let cursor = page.and_then(<[Row]>::last).filter(|_| rows.len() > OWN_APPS_PAGE);
    let apps = page.unwrap_or(&rows).iter().map(row_of_list);
    let apps = apps.collect::<Result<Vec<_>>>()?;
    let cursor = cursor.map(|last| last.text(0)).transpose()?;
    Ok(OperatorReply::ok(&json!({ "apps": apps, "cursor": cursor })))
}

fn row_of_list(row: &Row) -> Result<Json> {
    let app: App = row.json(1)?;
    let host = |callback: &Callback| Some(Url::parse(&callback.url).ok()?.host_str()?.to_owned());
    Ok(json!({
        "app_id": row.text(0)?,
        "test": row.parse(0, AppId::parse)?.is_test(),
        "name": app.name,
        "platform": app.platform,
        "currency": app.currency,
        "callback_host": app.callback.as_ref().and_then(host),
        "signs_clicks": app.click_secret.is_some(),
        "blocked_offers": app.blocked_offers.len(),
    }))
}

pub fn get(db: &impl Database, context: &Context<'_>, command: &GetOwnApp) -> Result<OperatorReply> {
    let stored = stored(db, &command.publisher_id, command.app_id)?;
    answer(&shown(context, &stored, command.app_id)?)
}

/// Returns an app's row: the document with masked secrets, the revision, and the sealed secrets.
fn stored(db: &impl Database, publisher: &PublisherId, app: AppId) -> Result<Row> {
    let row = db.query_first(sql::GET_OWN_APP, params![app.to_string(), publisher.as_str()])?;
    row.ok_or_else(|| UNKNOWN_RESOURCE.into())
}

/// Returns the app with the full URL of its callback, which members need to change it.
fn shown(context: &Context<'_>, row: &Row, app_id: AppId) -> Result<Json> {
    let app = apps::open(context, row, &app_id.to_string())?;
    let shown = OwnApp::of(app_id, &app, row.integer(1)?);
    serde_json::to_value(shown).map_err(|error| Failure::Internal(error.to_string()))
}

/// Changes an app. Returns the changed app or the new secret.
pub fn change(db: &impl Database, context: &Context<'_>, command: &ChangeOwnApp) -> Result<OperatorReply> {
    let ChangeOwnApp { publisher_id, app_id, change } = command;
    let id = app_id.to_string();
    db.transaction(|| {
        let row = stored(db, publisher_id, *app_id)?;
        import_claims::refuse_claimed(db, context, Resource::App, &id)?;
        let before = apps::open(context, &row, &id)?;
        let mut app = before.clone();
        let new_secret = match change {
            OwnAppChange::Document { revision, .. } if *revision != row.integer(1)? => {
                return Err(CHANGED_MEANWHILE.into());
            }
            OwnAppChange::Document { body, .. } => change_document(context, *app_id, &mut app, body)?,
            OwnAppChange::Secret(change) => change_secret(context, &mut app, *change)?,
        };
        if app == before {
            return Ok(OperatorReply::ok(&shown(context, &row, *app_id)?));
        }
        apps::put(db, context, WriteSource::Member, &id, &app)?;
        let body = match (change, new_secret) {
            (OwnAppChange::Secret(_), Some(secret)) => json!({ "secret": secret }),
            (_, new_secret) => {
                let mut body = shown(context, &stored(db, publisher_id, *app_id)?, *app_id)?;
                if let (Some(members), Some(secret)) = (body.as_object_mut(), new_secret) {
                    members.insert("callback_secret".into(), secret.into());
                }
                body
            }
        };
        Ok(OperatorReply::created(&body))
    })
}

/// Applies a document to an app. Returns the callback's secret if the callback is new.
fn change_document(context: &Context<'_>, app_id: AppId, app: &mut App, body: &str) -> Result<Option<String>> {
    let is_first = app.callback.is_none();
    let secret = Secret::text(context.random()?);
    let change = AppChange::from_json(body)?;
    change.apply(app_id, app, secret.clone()).map_err(ApiError::from)?;
    Ok((is_first && app.callback.is_some()).then_some(secret))
}

/// Changes a secret of an app. Returns the new secret, if there is one.
fn change_secret(context: &Context<'_>, app: &mut App, change: SecretChange) -> Result<Option<String>> {
    match change {
        SecretChange::RenewCallback => {
            let callback = app.callback.as_mut().ok_or(NO_CALLBACK)?;
            let secret = Secret::text(context.random()?);
            renew_callback_secret(callback, secret.clone());
            return Ok(Some(secret));
        }
        SecretChange::EndPreviousCallback => {
            app.callback.as_mut().ok_or(NO_CALLBACK)?.previous_secret = None;
        }
        SecretChange::RenewClick => {
            let secret = ClickSecret::new(context.random()?);
            renew_click_secret(app, secret.clone());
            return Ok(Some(secret.0));
        }
        SecretChange::EndPreviousClick => app.previous_click_secret = None,
        SecretChange::EndClick => (app.click_secret, app.previous_click_secret) = (None, None),
    }
    Ok(None)
}

/// Sets up an app with a free id.
pub fn create(db: &impl Database, context: &Context<'_>, command: &CreateOwnApp) -> Result<OperatorReply> {
    let new = NewApp::from_json(&command.body)?;
    let publisher_id = &command.publisher_id;
    let (publisher, key) = (publisher_id.as_str(), command.key.as_str());
    let request = credentials::hash(&command.body).to_vec();
    db.transaction(|| {
        if let Some(made) = db.query_first(sql::GET_OWN_APP_KEY, params![publisher, key])? {
            if made.blob(1)? != request {
                return Err(KEY_REUSED.into());
            }
            let app_id = made.parse(0, AppId::parse)?;
            return get(db, context, &GetOwnApp { publisher_id: publisher_id.clone(), app_id });
        }
        check_room(db, publisher_id, new.test)?;
        let app_id = draw_id(db, context, new.test)?;
        let id = app_id.to_string();
        apps::put(db, context, WriteSource::Member, &id, &new.of(publisher_id.clone()))?;
        let expired_ms = context.now_ms.saturating_sub(KEY_MS);
        db.execute(sql::DELETE_OWN_APP_KEYS, params![expired_ms])?;
        let key = OwnAppKey {
            publisher_id: publisher.to_owned(),
            key: key.to_owned(),
            app_id: id,
            request_hash: Bytes(request),
        };
        store_key(db, context, &key)?;
        Ok(OperatorReply::created(&shown(context, &stored(db, publisher_id, app_id)?, app_id)?))
    })
}

/// Creates the test app with this name, or changes it if it exists.
pub fn put_test(db: &impl Database, context: &Context<'_>, command: &PutTestApp) -> Result<OperatorReply> {
    let test = TestApp::from_json(&command.body)?;
    let publisher_id = &command.publisher_id;
    let secret = Secret::text(context.random()?);
    db.transaction(|| {
        let tests = test_apps(db, publisher_id)?;
        let known = tests.iter().find(|row| row.text(1) == Ok(test.name()));
        let known = known.map(|row| row.parse(0, AppId::parse)).transpose()?;
        let (app_id, before) = match known {
            Some(app_id) => {
                import_claims::refuse_claimed(db, context, Resource::App, &app_id.to_string())?;
                let row = stored(db, publisher_id, app_id)?;
                (app_id, Some(apps::open(context, &row, &app_id.to_string())?))
            }
            None => {
                check_room(db, publisher_id, true)?;
                (draw_id(db, context, true)?, None)
            }
        };
        let name = test.name().to_owned();
        let app = test.apply(app_id, before, publisher_id.clone(), secret.clone()).map_err(ApiError::from)?;
        apps::put(db, context, WriteSource::Member, &app_id.to_string(), &app)?;
        let body = json!({ "app_id": app_id, "name": name, "test": true, "callback_secret": secret });
        Ok(OperatorReply::created(&body))
    })
}

/// Returns the ids and names of a publisher's test apps.
fn test_apps(db: &impl Database, publisher: &PublisherId) -> Result<Vec<Row>> {
    let of = params![publisher.as_str(), FIRST_TEST_APP.to_string()];
    Ok(db.query(sql::LIST_TEST_APPS, of)?)
}

/// Refuses a new app if the publisher is not approved or already has the maximum number of apps.
fn check_room(db: &impl Database, publisher: &PublisherId, is_test: bool) -> Result {
    let document = db.query_first(sql::GET_PUBLISHER_DOCUMENT, params![publisher.as_str()])?;
    let document: Publisher = document.ok_or(UNKNOWN_RESOURCE)?.json(0)?;
    if !document.approved {
        return Err(PUBLISHER_NOT_APPROVED.into());
    }
    if is_test {
        let has_room = test_apps(db, publisher)?.len() < MAX_TEST_APPS;
        return has_room.then_some(()).ok_or(TOO_MANY_TEST_APPS.into());
    }
    let of = params![publisher.as_str(), FIRST_TEST_APP.to_string()];
    let apps = db.query_integer(sql::COUNT_OWN_APPS, of)?;
    if apps.unwrap_or_default() >= i64::from(document.max_apps()) {
        return Err(TOO_MANY_APPS.into());
    }
    Ok(())
}

/// Stores the idempotency key of a request that set up an app, so that a retry finds the app.
pub fn store_key(db: &impl Database, context: &Context<'_>, key: &OwnAppKey) -> DbResult {
    let stored = params![
        key.publisher_id.as_str(),
        key.key.as_str(),
        key.app_id.as_str(),
        key.request_hash.0.clone(),
        context.now_ms
    ];
    db.execute(sql::ADD_OWN_APP_KEY, stored)?;
    lasting::add(db, context, &Lasting::OwnAppKey(key.clone()))
}

/// Generates an id that no app has, neither in the catalog nor in an import that is being applied.
fn draw_id(db: &impl Database, context: &Context<'_>, is_test: bool) -> Result<AppId> {
    let ids = if is_test { FIRST_TEST_APP..END } else { FIRST_ID..FIRST_TEST_APP };
    for _ in 0..DRAWS {
        let drawn = u32::from_le_bytes(context.random()?) % (ids.end - ids.start);
        let id = ids.start.saturating_add(drawn).to_string();
        let is_taken = db.query_first(sql::GET_STORED_APP, params![id.as_str()])?.is_some()
            || import_claims::refuse_claimed(db, context, Resource::App, &id).is_err();
        if let Some(app_id) = AppId::parse(&id).filter(|_| !is_taken) {
            return Ok(app_id);
        }
    }
    Err(Failure::Internal(format!("all {DRAWS} generated app ids are taken")))
}

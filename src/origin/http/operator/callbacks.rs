//! The state of all apps' callbacks.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{ask_catalog, read_page};
use crate::http::{HandlerResult, RequestContext, calls::until_found, site::outboxes::Outboxes};
use contract::{
    catalog::{List, Resource},
    operation::OperatorReply,
};
use domain::model::AppId;
use platform::CONNECTIONS;

/// Maximum apps on a page of `GET …/callbacks`.
const MAX_ASKED: u32 = 100;
/// The timeout of each call. It is short because few calls run at a time, and all of them may hang.
const STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// The catalog's answer with a page of apps.
#[derive(Deserialize)]
struct Apps {
    apps: Vec<App>,
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct App {
    app_id: AppId,
    publisher_id: String,
    /// Only its presence is read.
    callback: Option<serde::de::IgnoredAny>,
}

/// `GET …/callbacks`: the health of the endpoints of a page of apps, as the apps' outboxes report it. Apps without a
/// callback are left out, so a page may be short, but only the last page may be empty. If an outbox does not answer,
/// its app's state is `unknown`.
pub async fn list(context: &RequestContext, query: &str) -> HandlerResult {
    let (limit, cursor) = read_page(query, MAX_ASKED)?;
    let mut list = List::of(Resource::App, limit, cursor);
    until_found(async || {
        let Apps { apps, cursor } = ask_catalog(context, list.clone()).await?;
        let with_callback = apps.into_iter().filter(|app| app.callback.is_some());
        let callbacks: Vec<_> =
            stream::iter(with_callback).map(|app| status(context, app)).buffered(CONNECTIONS).collect().await;
        if !callbacks.is_empty() || cursor.is_none() {
            return Ok(Some(OperatorReply::ok(&json!({ "callbacks": callbacks, "cursor": cursor })).into()));
        }
        list.cursor = cursor;
        Ok(None)
    })
    .await
}

async fn status(context: &RequestContext, app: App) -> Map<String, Value> {
    let outboxes = async {
        let outboxes = Outboxes::of(context, app.app_id).await.ok()?;
        outboxes.standing(STATUS_TIMEOUT).await.ok()
    };
    let mut status = match outboxes.await.map(serde_json::to_value) {
        Some(Ok(Value::Object(standing))) => standing,
        _ => [("state".to_owned(), "unknown".into())].into_iter().collect(),
    };
    status.insert("app_id".into(), app.app_id.to_string().into());
    status.insert("publisher_id".into(), app.publisher_id.into());
    status
}

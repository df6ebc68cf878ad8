//! The operator's calls to an app's outbox: the log of conversions, and its callbacks.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::form_urlencoded;
use worker::Request;

use super::{MAX_DOCUMENT, TIMEOUT, ask, read_page, segment};
use crate::{isolate::RequestContext, outbox::replay::replay_in_steps, routes::OutboxCall};
use contract::{
    catalog::{self, AppSettings, GetAppSettings, MAX_PAGE, Resource},
    operation::Reply,
    outbox::{Enable, Erase, Get, GetStatus, List, Replay, ReplayMany, Shard, Test},
};
use domain::model::{
    AppId,
    api_error::{ApiError, common},
};
use platform::{
    CONNECTIONS,
    http::{
        answer::{Answer, JSON},
        body,
    },
    log,
    traits::ObjectCall,
};

/// Apps on one page of `GET …/callbacks`.
const MAX_ASKED: u32 = 100;
/// The timeout of each call. It is short because few run at a time, and if one outbox hangs, all may.
const STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// A page of apps, as the catalog answers it.
#[derive(Deserialize)]
struct Apps {
    apps: Vec<App>,
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct App {
    app_id: AppId,
    publisher_id: String,
    /// Read only to see whether there is one.
    callback: Option<serde::de::IgnoredAny>,
}

/// `GET …/callbacks`: the health of a page of apps' endpoints, from each app's outbox. Apps without a callback are left
/// out, so a page may be short. An outbox that does not answer is `unknown`.
pub async fn list_callbacks(context: &RequestContext, query: &str) -> Result<Answer, ApiError> {
    let (limit, cursor) = read_page(query, MAX_ASKED)?;
    let list = catalog::List {
        resource: Resource::App,
        limit,
        cursor,
    };
    let catalog = catalog::address(catalog::COMMAND_PATH);
    let page = match context.workers.call(&catalog, list, TIMEOUT).await {
        Ok(reply) => reply,
        Err(error) => return Ok(error.into()),
    };
    let Apps { apps, cursor } = serde_json::from_str(&page.body).map_err(|_| {
        log::error("operator", "the catalog's list of apps does not parse");
        common::INTERNAL_ERROR
    })?;
    let with_callback = apps.into_iter().filter(|app| app.callback.is_some());
    let callbacks: Vec<_> = stream::iter(with_callback)
        .map(|app| status(context, app))
        .buffered(CONNECTIONS)
        .collect()
        .await;
    Ok(Reply::ok(&json!({ "callbacks": callbacks, "cursor": cursor })).into())
}

async fn status(context: &RequestContext, app: App) -> Map<String, Value> {
    let shard = Shard {
        app: app.app_id,
        number: 0,
    };
    let reply = context
        .workers
        .call(&shard.address(), GetStatus {}, STATUS_TIMEOUT)
        .await;
    let mut status: Map<_, _> = reply
        .ok()
        .and_then(|reply| serde_json::from_str(&reply.body).ok())
        .unwrap_or_else(|| [("state".to_owned(), "unknown".into())].into_iter().collect());
    status.insert("app_id".into(), app.app_id.to_string().into());
    status.insert("publisher_id".into(), app.publisher_id.into());
    status
}

/// An app's settings from the catalog; or the answer to the operator, for example 404 for an app that there is not.
async fn settings(context: &RequestContext, app: AppId) -> Result<AppSettings, Answer> {
    let catalog = catalog::address(catalog::COMMAND_PATH);
    let get = GetAppSettings { app_id: app };
    let reply = context.workers.call(&catalog, get, TIMEOUT).await?;
    serde_json::from_str(&reply.body).map_err(|_| {
        log::error("operator", "the catalog's settings of an app do not parse");
        common::INTERNAL_ERROR.into()
    })
}

pub async fn call(
    context: &RequestContext,
    call: OutboxCall,
    segments: &[&str],
    mut request: Request,
    query: &str,
) -> Result<Answer, ApiError> {
    let segment = |at| segment(segments, at);
    let app =
        AppId::parse(&segment(0)).ok_or_else(|| common::NOT_FOUND.with_message("there is no such app"))?;
    let settings: AppSettings = match settings(context, app).await {
        Ok(settings) => settings,
        Err(answer) => return Ok(answer),
    };
    let outbox = Shard { app, number: 0 }.address();
    Ok(match call {
        OutboxCall::ListConversions => {
            let (limit, cursor) = read_page(query, MAX_PAGE)?;
            let filter = |name: &str| {
                form_urlencoded::parse(query.as_bytes())
                    .find(|(found, _)| found == name)
                    .map(|(_, value)| value.into_owned())
            };
            let list = List {
                status: filter("status"),
                state: filter("state"),
                limit,
                cursor,
            };
            ask(context, &outbox, list).await
        }
        OutboxCall::ReadConversion => {
            let transaction_id = segment(1);
            ask(context, &outbox, Get { transaction_id }).await
        }
        OutboxCall::ReplayConversion => {
            let transaction_id = segment(1);
            ask(context, &outbox, Replay { transaction_id }).await
        }
        OutboxCall::ReplayConversions => {
            body::check_media_type(&request, &[JSON], false)?;
            let body = body::read_text(&mut request, MAX_DOCUMENT).await?;
            let step = async |step: ReplayMany| context.workers.call(&outbox, step, TIMEOUT).await;
            replay_in_steps(&body, step)
                .await
                .map_or_else(Answer::from, Answer::from)
        }
        OutboxCall::ReadCallback => ask(context, &outbox, GetStatus {}).await,
        OutboxCall::EnableCallback => ask(context, &outbox, Enable {}).await,
        OutboxCall::TestCallback => {
            let test = Test {
                currency: settings.currency,
                callback: settings.callback,
            };
            ask(context, &outbox, test).await
        }
        // User ids may contain an @, which a client may percent-encode.
        OutboxCall::EraseUser => {
            let user_id = percent_decode_str(&segment(1)).decode_utf8_lossy().into_owned();
            ask(context, &outbox, Erase { user_id }).await
        }
    })
}

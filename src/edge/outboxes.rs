//! The operator's way to an app's outbox: the log of conversions, and its callbacks.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::form_urlencoded;
use worker::Request;

use super::{
    answer::{Answer, JSON},
    body,
    isolate::Visit,
    operator::{self, MAX_DOCUMENT},
    routes::Handler,
};
use crate::{
    catalog::AppId,
    log,
    origin::{
        CONNECTIONS,
        catalog::{self, Resource, resources::MAX_PAGE},
        command::Reply,
        outbox::{Command, client, operating::replay_in_steps},
    },
    refusal::{Refusal, common},
};

/// Outboxes asked for one page of `GET …/callbacks`.
const MAX_ASKED: u32 = 100;
/// How long each is waited for: few are asked at a time, and where one hangs all may.
const STANDING_TIMEOUT: Duration = Duration::from_secs(2);

/// A page of the catalog's apps.
#[derive(Deserialize)]
struct Apps {
    apps: Vec<App>,
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct App {
    app_id: AppId,
    publisher_id: String,
    /// Only whether there is one.
    callback: Option<serde::de::IgnoredAny>,
}

/// `GET …/callbacks`: how the endpoints of a page of apps are, as each app's outbox says. Apps without a callback are left
/// out, so a page may be short; one whose outbox does not answer is `unknown`.
pub async fn callbacks(visit: &Visit, query: &str) -> Result<Answer, Refusal> {
    let (limit, cursor) = operator::read_page(query, MAX_ASKED)?;
    let list = catalog::Command::List {
        resource: Resource::App,
        limit,
        cursor,
    };
    let page = match catalog::client::call(&visit.env, &list).await {
        Ok(reply) => reply,
        Err(error) => return Ok(error.into()),
    };
    let Apps { apps, cursor } = serde_json::from_str(&page.body).map_err(|_| {
        log::error("operator", "the catalog's list of apps does not read");
        common::INTERNAL_ERROR
    })?;
    let asked = apps.into_iter().filter(|app| app.callback.is_some());
    let callbacks: Vec<_> = stream::iter(asked)
        .map(|app| standing(visit, app))
        .buffered(CONNECTIONS)
        .collect()
        .await;
    let told = json!({ "callbacks": callbacks, "cursor": cursor });
    Ok(operator::told(Ok(Reply::ok(&told))))
}

async fn standing(visit: &Visit, app: App) -> Map<String, Value> {
    let status = Command::Status {};
    let told = client::operate_within(&visit.env, app.app_id, &status, STANDING_TIMEOUT).await;
    let mut standing: Map<_, _> = told
        .ok()
        .and_then(|reply| serde_json::from_str(&reply.body).ok())
        .unwrap_or_else(|| [("state".to_owned(), "unknown".into())].into_iter().collect());
    standing.insert("app_id".into(), app.app_id.to_string().into());
    standing.insert("publisher_id".into(), app.publisher_id.into());
    standing
}

pub async fn operate(
    visit: &Visit,
    handler: Handler,
    segments: &[&str],
    mut request: Request,
    query: &str,
) -> Result<Answer, Refusal> {
    let segment = |at| operator::segment(segments, at);
    let app = AppId::parse(&segment(0)).ok_or_else(|| common::NOT_FOUND.because("there is no such app"))?;
    let command = match handler {
        Handler::ListConversions => {
            let (limit, cursor) = operator::read_page(query, MAX_PAGE)?;
            let filter = |name: &str| {
                form_urlencoded::parse(query.as_bytes())
                    .find(|(found, _)| found == name)
                    .map(|(_, value)| value.into_owned())
            };
            Command::List {
                status: filter("status"),
                state: filter("state"),
                limit,
                cursor,
            }
        }
        Handler::ReadConversion => Command::Get {
            transaction_id: segment(1),
        },
        Handler::ReplayConversion => Command::Replay {
            transaction_id: segment(1),
        },
        Handler::ReplayConversions => {
            body::check_media_type(&request, &[JSON], false)?;
            let body = body::read_text(&mut request, MAX_DOCUMENT).await?;
            let ask = async |command: Command| client::operate(&visit.env, app, &command).await;
            return Ok(operator::told(replay_in_steps(&body, ask).await));
        }
        Handler::ReadCallback => Command::Status {},
        Handler::EnableCallback => Command::Enable {},
        Handler::TestCallback => Command::Test {},
        // The alphabet of user ids has an @, which a client may encode.
        Handler::EraseUser => Command::Erase {
            user_id: percent_decode_str(&segment(1)).decode_utf8_lossy().into_owned(),
        },
        _ => return Err(common::NOT_FOUND),
    };
    Ok(operator::told(client::operate(&visit.env, app, &command).await))
}

//! The operator's interface (`design.md` section 10): a thin way to `origin/catalog`, which checks and keeps everything.

use std::time::Duration;

use serde_json::json;
use url::form_urlencoded;
use worker::Request;

use super::{
    answer::{Answer, JSON},
    body,
    isolate::Visit,
    metrics,
    routes::Handler,
    snapshots,
};
use crate::{
    catalog::{document::INVALID_FIELD, snapshot::tracking::Tracking},
    log,
    offers::selection::Selector,
    origin::{
        catalog::{
            Command, Reply,
            client::{self, Refreshed},
            resources::MAX_PAGE,
        },
        command::{CallError, code_in},
    },
    refusal::{Refusal, common},
};

/// The longest document, in bytes.
pub const MAX_DOCUMENT: usize = 1 << 20;
/// Resources on a page of a list unless `limit` says otherwise.
const DEFAULT_PAGE: u32 = 100;
/// How long a scrape waits for the catalog: what an isolate counted is wanted most while that does not answer.
const SCRAPE_TIMEOUT: Duration = Duration::from_millis(1_500);

pub async fn operate(
    visit: &Visit,
    handler: Handler,
    segments: &[&str],
    mut request: Request,
    query: &str,
) -> Result<Answer, Refusal> {
    let segment = |at| segment(segments, at);
    let command = match handler {
        Handler::List(resource) => {
            let (limit, cursor) = read_page(query, MAX_PAGE)?;
            Command::List {
                resource,
                limit,
                cursor,
            }
        }
        Handler::Read(resource) => Command::Get {
            resource,
            id: segment(0),
        },
        Handler::Write(resource) => {
            body::check_media_type(&request, &[JSON], false)?;
            let body = body::read_text(&mut request, MAX_DOCUMENT).await?;
            Command::Put {
                resource,
                id: segment(0),
                body,
            }
        }
        Handler::IssuePubKey => Command::IssuePubKey {
            publisher_id: segment(0),
        },
        Handler::ReadPubKey => Command::GetPubKey {
            publisher_id: segment(0),
        },
        Handler::IssueToken => Command::IssueToken {
            advertiser_id: segment(0),
        },
        Handler::RevokeToken => Command::RevokeToken {
            advertiser_id: segment(0),
            token_id: segment(1),
        },
        Handler::Import => {
            body::check_media_type(&request, &["application/x-ndjson"], true)?;
            return Ok(told(client::import(&visit.env, &request).await));
        }
        Handler::Refresh => return refresh(visit).await,
        Handler::Metrics => return Ok(metrics(visit).await),
        // The entry has answered these.
        _ => return Err(common::NOT_FOUND),
    };
    Ok(told(client::call(&visit.env, &command).await))
}

/// A part of the path that varies; nothing where there is none.
pub fn segment(segments: &[&str], at: usize) -> String {
    segments
        .get(at)
        .map(|segment| (*segment).to_owned())
        .unwrap_or_default()
}

/// What an object says to the operator, or that it says nothing.
pub fn told(outcome: Result<Reply, CallError>) -> Answer {
    outcome.map_or_else(Answer::from, answer)
}

fn answer(reply: Reply) -> Answer {
    let code = (reply.status >= 400).then(|| code_in(&reply.body)).flatten();
    let answer = match reply.status {
        204 => Answer::new(204),
        status => Answer::json(status, reply.body),
    }
    .header("Cache-Control", "no-store");
    match code {
        Some(code) => answer.coded(code),
        None => answer,
    }
}

/// The `limit`, of at most `most`, and the `cursor` of a list.
pub fn read_page(query: &str, most: u32) -> Result<(u32, Option<String>), Refusal> {
    let (mut limit, mut cursor) = (DEFAULT_PAGE, None);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match name.as_ref() {
            "limit" => {
                limit = value
                    .parse()
                    .ok()
                    .filter(|limit| (1..=most).contains(limit))
                    .ok_or_else(|| {
                        INVALID_FIELD.because(format!("limit: must be an integer from 1 to {most}"))
                    })?;
            }
            "cursor" => cursor = Some(value.into_owned()),
            _ => {}
        }
    }
    Ok((limit, cursor))
}

/// Rebuilds and publishes both snapshots, and takes them over from the catalog itself, so that what the operator asks
/// of this isolate next is answered from them whatever KV shows by then.
async fn refresh(visit: &Visit) -> Result<Answer, Refusal> {
    let Refreshed { tracking, listing } = match client::refresh(&visit.env).await {
        Ok(refreshed) => refreshed,
        Err(error) => return Ok(error.into()),
    };
    let unavailable = |error: String| {
        log::error("refresh", error);
        common::UNAVAILABLE
    };
    snapshots::load_from_catalog::<Tracking>(&visit.env, &visit.isolate)
        .await
        .map_err(unavailable)?;
    snapshots::load_from_catalog::<Selector>(&visit.env, &visit.isolate)
        .await
        .map_err(unavailable)?;
    let body = json!({ "tracking_version": tracking, "listing_version": listing });
    Ok(Answer::json(200, body.to_string()).header("Cache-Control", "no-store"))
}

async fn metrics(visit: &Visit) -> Answer {
    let told = client::call_within(&visit.env, &Command::Status, SCRAPE_TIMEOUT).await;
    let catalog = told
        .inspect_err(|error| log::error("objects", error))
        .ok()
        .and_then(|reply| serde_json::from_str(&reply.body).ok());
    Answer::new(200)
        .body(
            "text/plain; version=0.0.4",
            metrics::exposition(visit, catalog.as_ref()),
        )
        .header("Cache-Control", "no-store")
}

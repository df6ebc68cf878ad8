//! The operator's interface (docs/OPERATING.md, "The operator's API"): each call is one operation of an object, which
//! validates and stores everything.

mod accounts;
mod activity;
mod attention;
mod audit_words;
mod callbacks;
mod catalog;
mod conversion_query;
mod copy;
mod ledger;
mod lists;
mod offers;
mod outbox;
mod postback_check;
mod postbacks;
mod reconcile;
mod replays;
mod restore;
mod search;
mod service;

use worker::Request;

use crate::http::{
    HandlerResult, RequestContext, alarms,
    calls::{
        TIMEOUT, answer, ask, ask_catalog, internal, is_dry_run, none_if_unknown, parameter, parse,
        publisher_in, read_document, read_json, read_page, read_place, read_reply, read_resource, require,
        segment, unknown_publisher,
    },
    description::DESCRIPTION,
    health, metrics,
    routes::Handler,
    site::gate::Member,
};
use domain::model::common;
use platform::http::Answer;

/// Maximum length of a document, in bytes.
pub const MAX_DOCUMENT: usize = 1 << 20;

/// `GET /openapi.json`. It changes only with a deployment.
pub fn describe() -> Answer {
    Answer::json(200, DESCRIPTION).header("Cache-Control", "public, max-age=3600")
}

/// Runs the handler of a routed request. `by` is the console's calling member; `None` with the operator's token.
pub async fn call(
    context: &RequestContext,
    handler: Handler,
    by: Option<&Member>,
    segments: &[&str],
    request: Request,
    query: &str,
) -> HandlerResult {
    let answer = match handler {
        Handler::Health => Ok(health::health(context).await),
        Handler::Describe => return Ok(describe()),
        Handler::Metrics => Ok(metrics::answer(context).await),
        Handler::ListCallbacks => callbacks::list(context, query).await,
        Handler::Reconcile => reconcile::reconcile(context, query).await,
        Handler::ListPostbacks => postbacks::list(context, segments, query).await,
        Handler::CheckPostback => postback_check::check(context, request).await,
        Handler::ListAttention => attention::list(context, query).await,
        Handler::EndAttentionItem => attention::end(context, segments).await,
        Handler::Alarms(call) => alarms::of_operator(context, call, request).await,
        Handler::CopyObject => copy::copy(context, segments, query).await,
        Handler::RestoreObject => restore::restore(context, segments, request).await,
        Handler::Invite => accounts::invite(context, segments, request).await,
        Handler::PublisherAccount(call) => accounts::of_publisher(context, call, segments, query).await,
        Handler::ReadActivity => activity::read(context, segments).await,
        Handler::ReadPublisherFigures => activity::read_figures(context, request).await,
        Handler::Replay(call) => replays::call(context, call, by, segments, request).await,
        Handler::Search => search::search(context, request).await,
        Handler::ReadService => Ok(service::read(context).await),
        Handler::Offer(call) => offers::call(context, call, segments, request).await,
        Handler::InviteMember => accounts::invite_member(context, by, request).await,
        Handler::Catalog(call) => catalog::call(context, call, by, segments, request, query).await,
        Handler::Ledger(call) => ledger::call(context, call, by, segments, request, query).await,
        Handler::Outbox(call) => outbox::call(context, call, segments, request, query).await,
        // These handlers do not belong to the operator, so this function is never called with them.
        Handler::Dashboard(_) | Handler::Console(_) | Handler::Keyed(_) | Handler::TestPage(_) => {
            Err(common::NOT_FOUND.into())
        }
    }?;
    Ok(answer.header("Cache-Control", "no-store"))
}

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
        TIMEOUT, answer, ask, ask_catalog, internal, is_dry_run, none_if_unknown, parameter, parse, publisher_in,
        read_document, read_json, read_page, read_place, read_reply, read_resource, require, segment,
        unknown_publisher,
    },
    description::DESCRIPTION,
    handlers::OperatorCall,
    metrics,
    site::gate::Member,
};
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
    call: OperatorCall,
    by: Option<&Member>,
    segments: &[&str],
    request: Request,
    query: &str,
) -> HandlerResult {
    let answer = match call {
        OperatorCall::Metrics => Ok(metrics::answer(context).await),
        OperatorCall::ListCallbacks => callbacks::list(context, query).await,
        OperatorCall::Reconcile => reconcile::reconcile(context, query).await,
        OperatorCall::ListPostbacks => postbacks::list(context, segments, query).await,
        OperatorCall::ListRefusedPostbacks => postbacks::list_refused(context, query).await,
        OperatorCall::CheckPostback => postback_check::check(context, request).await,
        OperatorCall::ListAttention => attention::list(context, query).await,
        OperatorCall::EndAttentionItem => attention::end(context, segments).await,
        OperatorCall::Alarms(call) => alarms::of_operator(context, call, request).await,
        OperatorCall::CopyObject => copy::copy(context, segments, query).await,
        OperatorCall::LoadObject => copy::load(context, segments, query, request).await,
        OperatorCall::GiveUpLoad => copy::give_up(context, segments).await,
        OperatorCall::StartLoaded => copy::start(context, segments, query).await,
        OperatorCall::RestoreObject => restore::restore(context, segments, request).await,
        OperatorCall::Invite => accounts::invite(context, by, segments, request).await,
        OperatorCall::PublisherAccount(call) => accounts::of_publisher(context, call, by, segments, query).await,
        OperatorCall::ReadActivity => activity::read(context, segments).await,
        OperatorCall::ReadPublisherFigures => activity::read_figures(context, request).await,
        OperatorCall::Replay(call) => replays::call(context, call, by, segments, request).await,
        OperatorCall::Search => search::search(context, request).await,
        OperatorCall::ReadService => Ok(service::read(context).await),
        OperatorCall::Offer(call) => offers::call(context, call, segments, request).await,
        OperatorCall::InviteMember => accounts::invite_member(context, by, request).await,
        OperatorCall::Catalog(call) => catalog::call(context, call, by, segments, request, query).await,
        OperatorCall::Ledger(call) => ledger::call(context, call, by, segments, request, query).await,
        OperatorCall::Outbox(call) => outbox::call(context, call, segments, request, query).await,
    }?;
    Ok(answer.header("Cache-Control", "no-store"))
}

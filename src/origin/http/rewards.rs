//! `GET /v1/core/rewards`: the state of each reward, so that a publisher can keep its own copy.

use serde::Serialize;
use serde_json::{to_vec, value::RawValue};
use worker::Request;

use crate::http::{
    HandlerResult, Refusal, RequestContext, api_key,
    calls::{TIMEOUT, ask_catalog, internal, parameter, parse, read_limit},
    reward_changes::{self, Cursor, Page, Question},
};
use contract::catalog::{ListPublisherOutboxes, OUTBOXES_PAGE};
use domain::{
    model::{AppId, PublisherId, common},
    reporting::{format::Format, keys::Scope},
};
use platform::{
    ObjectCall,
    http::{Answer, header},
};

/// Maximum rewards on a page. A reward takes about 1 KB.
const MAX_LIMIT: u32 = 1_000;

pub async fn read(context: &RequestContext, request: &Request, query: &str) -> Answer {
    api_key::answer_for(context, request, Scope::Rewards, async |publisher| {
        let format = Format::from_accept(header(request, "Accept").as_deref());
        page(context, &question(publisher, query)?, format).await
    })
    .await
}

async fn page(context: &RequestContext, question: &Question, format: Format) -> HandlerResult {
    let page = reward_changes::read(
        question,
        context.now_ms,
        async |from, to| apps(context, question, from, to).await,
        async |outbox, changes| Ok(context.workers.call(&outbox.address(), changes, TIMEOUT).await?),
    )
    .await?;
    answer(&page, format)
}

fn question(publisher: PublisherId, query: &str) -> Result<Question, Refusal> {
    Ok(Question {
        publisher,
        app: parse(parameter(query, "app"), AppId::parse, "app: must be exactly 8 digits")?,
        cursor: parse(parameter(query, "after"), Cursor::parse, "after: must be the cursor of an earlier answer")?
            .unwrap_or_default(),
        limit: read_limit(query, MAX_LIMIT)?,
    })
}

/// Reads the publisher's apps, each with its number of outboxes. Also returns whether more apps may follow.
async fn apps(
    context: &RequestContext,
    question: &Question,
    from: Option<AppId>,
    to: Option<AppId>,
) -> Result<(Vec<(AppId, u8)>, bool), Refusal> {
    let list = ListPublisherOutboxes { publisher_id: question.publisher.clone(), from, to };
    let apps: Vec<(AppId, u8)> = ask_catalog(context, list).await?;
    if question.app.is_some() && apps.is_empty() {
        return Err(common::NOT_FOUND.with_message("no app has this id").into());
    }
    let outboxes: u32 = apps.iter().map(|(_, count)| u32::from(*count)).sum();
    Ok((apps, outboxes >= OUTBOXES_PAGE))
}

#[derive(Serialize)]
struct Body<'p> {
    rewards: &'p [Box<RawValue>],
    cursor: &'p str,
    has_more: bool,
}

/// The cursor is also a header, because NDJSON has no other place for it.
fn answer(page: &Page, format: Format) -> HandlerResult {
    let cursor = page.cursor.to_text();
    let answer = if format == Format::Ndjson {
        let lines = page.rewards.iter().map(|reward| format!("{}\n", reward.get()));
        Answer::new(200).body(format.media_type(), lines.collect::<String>())
    } else {
        let body = Body { rewards: &page.rewards, cursor: &cursor, has_more: page.has_more };
        Answer::json(200, to_vec(&body).map_err(|error| internal("rewards", error))?)
    };
    let answer = answer.header("X-Has-More", page.has_more.to_string());
    Ok(answer.header("X-Cursor", cursor))
}

//! The newest postbacks of an advertiser, and the newest refused ones of all, each with an explanation of its answer.

use serde::Serialize;
use serde_json::json;

use super::{parameter, read_page, read_place, require, segment};
use crate::{
    http::{HandlerResult, RequestContext, refusal::Refusal},
    objects::postbacks::MAX_PAGE,
};
use contract::{
    catalog::Resource,
    operation::{ObjectAddress, OperatorReply},
    postbacks::{ListPostbacks, ReceivedPostback, address, refused_address},
};
use domain::{
    conversions::{
        received::ShownParameter,
        verdict::{self, Explanation},
    },
    model::{AdvertiserId, AppId, FieldError, SECOND_MS, common},
};

#[derive(Serialize)]
struct ListedPostback {
    at: i64,
    method: String,
    parameters: Vec<ShownParameter>,
    http_status: u16,
    code: String,
    verdict: &'static str,
    remedy: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advertiser_id: Option<AdvertiserId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<AppId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offer_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal_id: Option<String>,
}

impl From<ReceivedPostback> for ListedPostback {
    fn from(received: ReceivedPostback) -> Self {
        let Explanation { verdict, remedy } = verdict::of_code(&received.code);
        Self {
            at: received.at_ms.div_euclid(SECOND_MS),
            method: received.method,
            parameters: received.parameters,
            http_status: received.http_status,
            code: received.code,
            verdict,
            remedy,
            transaction_id: received.transaction_id,
            advertiser_id: received.advertiser,
            app_id: received.app,
            offer_id: received.offer,
            goal_id: received.goal,
        }
    }
}

/// `GET advertisers/{advertiser_id}/postbacks`. The advertiser must exist.
pub async fn list(context: &RequestContext, segments: &[&str], query: &str) -> HandlerResult {
    let list = read_list(query)?;
    let id = segment(segments, 0);
    let advertiser =
        AdvertiserId::parse(&id).ok_or_else(|| common::NOT_FOUND.with_message("no advertiser has this id"))?;
    require(context, Resource::Advertiser, &id).await?;
    answer(context, &address(&advertiser), list).await
}

/// `GET refused_postbacks`.
pub async fn list_refused(context: &RequestContext, query: &str) -> HandlerResult {
    answer(context, &refused_address(), read_list(query)?).await
}

fn read_list(query: &str) -> Result<ListPostbacks, Refusal> {
    let (limit, cursor) = read_page(query, MAX_PAGE)?;
    let list = ListPostbacks {
        limit,
        before: read_place(cursor)?,
        code: parameter(query, "code").filter(|code| !code.is_empty()),
    };
    if list.code.as_deref().is_some_and(|code| !verdict::is_known(code)) {
        return Err(FieldError::new("code", "must be a code of an answer to postbacks").into());
    }
    Ok(list)
}

async fn answer(context: &RequestContext, object: &ObjectAddress, list: ListPostbacks) -> HandlerResult {
    let page = context.call(object, list).await?;
    let postbacks: Vec<_> = page.postbacks.into_iter().map(ListedPostback::from).collect();
    let tokens: Vec<_> = page
        .tokens
        .iter()
        .map(|(serial, ms)| json!({ "token_id": serial.to_string(), "last_used_at": ms.div_euclid(SECOND_MS) }))
        .collect();
    Ok(OperatorReply::ok(&json!({
        "tokens": tokens,
        "postbacks": postbacks,
        "not_shown": page.not_shown,
        "since": page.since_ms.map(|ms| ms.div_euclid(SECOND_MS)),
        "cursor": page.next.map(|number| number.to_string()),
    }))
    .into())
}

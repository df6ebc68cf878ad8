//! The operator's calls to an app's outboxes: the log of conversions, and the app's callback.

use serde::Deserialize;
use serde_json::{Value, json, value::to_raw_value};
use worker::Request;

use super::{
    MAX_DOCUMENT, TIMEOUT, answer, audit_words, conversion_query, internal, read_document, read_json, segment,
};
use crate::{
    http::{
        HandlerResult, RequestContext, offer_names,
        routes::OutboxCall,
        site::outboxes::{Outboxes, SETTLE_TIMEOUT},
        users,
    },
    objects::outbox::conversions::settlement::{Place, SettleBody, SettleManyBody},
};
use contract::{
    catalog::AppSettings,
    outbox::{Get, List, Replay, Test},
};
use domain::model::{AppId, Document, FieldError, MicroUsd, SECOND_MS, common, trimmed};

#[derive(Deserialize)]
struct EraseBody {
    #[serde(deserialize_with = "trimmed")]
    user_id: String,
}

impl Document for EraseBody {
    fn check(&self) -> Result<(), FieldError> {
        if self.user_id.is_empty() {
            return Err(FieldError::new("user_id", "must not be empty"));
        }
        Ok(())
    }
}

pub async fn call(
    context: &RequestContext,
    call: OutboxCall,
    segments: &[&str],
    mut request: Request,
    query: &str,
) -> HandlerResult {
    let segment = |at| segment(segments, at);
    let app = AppId::parse(&segment(0)).ok_or_else(|| common::NOT_FOUND.with_message("no app has this id"))?;
    let outboxes = Outboxes::of(context, app).await?;
    match call {
        OutboxCall::ListConversions => list(context, &outboxes, &conversion_query::of_query(query)?).await,
        OutboxCall::FindConversions => {
            let body = read_json(&mut request, MAX_DOCUMENT).await?;
            list(context, &outboxes, &conversion_query::of_body(&body)?).await
        }
        OutboxCall::ReadConversion => {
            let transaction_id = segment(1);
            let get = Get { transaction_id: transaction_id.clone() };
            let entry = outboxes.of_transaction(&transaction_id, get, TIMEOUT).await?;
            answer(&offer_names::add_to_one(context, &entry).await?)
        }
        OutboxCall::ReadStory => {
            let story = outboxes.read_story(&segment(1)).await?;
            let mut story = offer_names::add_to_one(context, &story).await?;
            let publisher = to_raw_value(&outboxes.settings.publisher_id);
            let publisher = publisher.map_err(|error| internal("operator", error))?;
            story.insert("publisher_id".into(), publisher);
            answer(&story)
        }
        OutboxCall::ReplayConversion => {
            let transaction_id = segment(1);
            let replay = Replay { transaction_id: transaction_id.clone() };
            Ok(outboxes.of_transaction(&transaction_id, replay, TIMEOUT).await?.into())
        }
        OutboxCall::Settle(action) => {
            let order: SettleBody = read_document(&mut request, MAX_DOCUMENT).await?;
            let settle = order.into_settle(segment(1), action);
            let detail = audit_words::of_order(&settle.reason, &settle.despite);
            let transaction_id = settle.transaction_id.clone();
            let settled = outboxes.of_transaction(&transaction_id, settle, SETTLE_TIMEOUT).await?;
            Ok(answer(&settled)?.audited(detail))
        }
        OutboxCall::SettleMany(action) => {
            let order: SettleManyBody = read_document(&mut request, MAX_DOCUMENT).await?;
            order.check_action(action)?;
            // Conversion times are whole seconds, so "until now" includes the current second.
            let until = context.now_ms.div_euclid(SECOND_MS).saturating_add(1);
            let from = order.place();
            let first = order.into_first_step(action, until);
            let (all, next) = outboxes.settle_many(&first, from).await?;
            let (until, next) = (first.filter.until, next.map(Place::to_text));
            if first.dry_run {
                let body = json!({
                    "count": all.count, "payout": MicroUsd(all.payout_micro_usd), "until": until, "next": next,
                });
                return Ok(answer(&body)?.dry_run(true));
            }
            let body = json!({
                "count": all.count, "payout": MicroUsd(all.payout_micro_usd), "settled": all.settled,
                "settled_payout": MicroUsd(all.settled_micro_usd), "refused": all.refused, "until": until, "next": next,
            });
            Ok(answer(&body)?.audited(audit_words::of_many(&first, all.count, all.settled)))
        }
        OutboxCall::ReadCallback => answer(&outboxes.standing(TIMEOUT).await?),
        OutboxCall::EnableCallback => answer(&outboxes.enable().await?),
        OutboxCall::TestCallback => {
            let AppSettings { currency, callback, .. } = outboxes.settings.clone();
            let test = Test { currency, callback };
            Ok(outboxes.call(0, test, TIMEOUT).await?.into())
        }
        OutboxCall::EraseUser => {
            let EraseBody { user_id } = read_document(&mut request, MAX_DOCUMENT).await?;
            let erased = outboxes.erase(user_id.clone()).await?;
            users::end_replays_of(context, &outboxes.settings.publisher_id, user_id, Some(app)).await?;
            Ok(erased.into())
        }
    }
}

async fn list(context: &RequestContext, outboxes: &Outboxes<'_>, list: &List) -> HandlerResult {
    let page = outboxes.list(list).await?;
    let mut page = serde_json::to_value(&page).map_err(|error| internal("operator", error))?;
    if let Some(rows) = page.get_mut("conversions").and_then(Value::as_array_mut) {
        offer_names::add(context, rows).await;
    }
    answer(&page)
}

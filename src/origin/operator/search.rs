//! The console's search: what a text that somebody pastes is. It may name a user, so it comes in a body, and nothing of it is
//! stored.

use serde::Deserialize;
use serde_json::{Value, json};
use worker::Request;

use super::{TIMEOUT, ask_catalog, outbox};
use crate::{isolate::RequestContext, outbox::merge, refusal::Refusal};
use contract::{
    catalog::{Get, Resource, Search},
    clicks,
    operation::Bytes,
    outbox::{ClickOutcome, List, ReadClick, Shard},
};
use domain::{
    conversions::ids,
    model::{
        AppId, PublisherId,
        api_error::ApiError,
        document::{Document, FieldError},
        time::SECOND_MS,
    },
    reporting::keys,
    tracking::{
        click::Click,
        click_id::{self, Nonce, Opened},
        keys::KeyRing,
    },
};
use platform::{
    http::{
        answer::{Answer, JSON},
        body,
    },
    traits::ObjectCall,
};

const MAX_BODY: usize = 8 << 10;
/// The longest text, in bytes: a click id has at most 1,000 characters, a user id 1,024.
const MAX_TEXT: usize = 2_048;
/// The rewards of a user that are shown.
const REWARDS: u32 = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchBody {
    text: String,
    #[serde(default)]
    app_id: Option<AppId>,
}

impl Document for SearchBody {
    fn check(&self) -> Result<(), FieldError> {
        match self.text.trim().len() {
            1..=MAX_TEXT => Ok(()),
            _ => Err(FieldError::new(
                "text",
                format!("must have 1 to {MAX_TEXT} bytes"),
            )),
        }
    }
}

/// `POST /v1/operator/search`.
pub async fn search(context: &RequestContext, mut request: Request) -> Result<Answer, ApiError> {
    body::check_media_type(&request, &[JSON], false)?;
    let SearchBody { text, app_id } = Document::from_json(&body::read_text(&mut request, MAX_BODY).await?)?;
    let found = find(context, text.trim(), app_id).await;
    Ok(found.map_or_else(Refusal::into_answer, |found| {
        Answer::json(200, found.to_string()).header("Cache-Control", "no-store")
    }))
}

async fn find(context: &RequestContext, text: &str, app: Option<AppId>) -> Result<Value, Refusal> {
    let search = Search {
        text: text.to_owned(),
    };
    let mut found: Value = ask_catalog(context, search).await?;
    let mut matches = match found.get_mut("matches").map(Value::take) {
        Some(Value::Array(matches)) => matches,
        _ => Vec::new(),
    };
    matches.extend(report_key(context, text).await?);
    matches.extend(click(context, text).await?);
    let app_of_reward = ids::app_of(text).or(app.filter(|_| ids::shard_of(text).is_some()));
    if let Some(app) = app_of_reward {
        matches.extend(reward(context, app, text).await?);
    }
    // Whatever else it is, it may be a user's id.
    if let Some(app) = app.filter(|_| app_of_reward.is_none()) {
        matches.extend(user(context, app, text).await?);
    }
    let needs_app = matches.is_empty() && app.is_none();
    Ok(json!({ "matches": matches, "needs_app": needs_app }))
}

/// A report key, or the beginning of one, names its publisher. Which of its keys it is, its page shows.
async fn report_key(context: &RequestContext, text: &str) -> Result<Option<Value>, Refusal> {
    let Some(rest) = text.strip_prefix(keys::PREFIX) else {
        return Ok(None);
    };
    let publisher = rest.split('_').next().and_then(PublisherId::parse);
    let Some(publisher) = publisher else {
        return Ok(None);
    };
    let is_issued = keys::publisher(&context.isolate.config.report_keys, text).is_some();
    let get = Get {
        resource: Resource::Publisher,
        id: publisher.to_string(),
    };
    match ask_catalog::<_, Value>(context, get).await {
        Ok(_) => Ok(Some(json!({
            "kind": "report_key", "publisher_id": publisher, "key_id": null, "label": null, "is_issued": is_issued,
        }))),
        Err(refusal) if refusal.status() == 404 => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// A click id with what it holds, and what became of the click. It is opened and shown, never stored.
async fn click(context: &RequestContext, text: &str) -> Result<Option<Value>, Refusal> {
    let Some(keys) = context.isolate.config.click_keys.as_ref() else {
        return Ok(None);
    };
    let Ok(opened) = click_id::open(keys, text) else {
        return Ok(None);
    };
    let (shard, nonce, click) = match opened {
        Opened::Whole { click, nonce } => (click.shard, nonce, Some(click)),
        Opened::Short { app, shard, nonce } => {
            (shard, nonce, record(context, keys, app, shard, nonce).await?)
        }
    };
    let Some(click) = click else {
        return Ok(None);
    };
    let shard = Shard {
        app: click.app,
        number: shard,
    };
    let read = ReadClick {
        nonce: Bytes(nonce.to_vec()),
    };
    let outcome: ClickOutcome = context.workers.call(&shard.address(), read, TIMEOUT).await?;
    let [c1, c2, c3, c4, c5] = &click.custom;
    Ok(Some(json!({
        "kind": "click",
        "app_id": click.app,
        "offer_id": click.offer,
        "goal_id": click.goal,
        "user_id": click.user_id,
        "clicked_at": click.clicked_at_ms.div_euclid(SECOND_MS),
        "country": click.country,
        "placement_id": click.placement,
        "gaid": click.gaid,
        "idfa": click.idfa,
        "c1": c1, "c2": c2, "c3": c3, "c4": c4, "c5": c5,
        "offer_terms": click.offer_terms,
        "app_terms": click.app_terms,
        "shard": click.shard,
        "rewards": outcome.rewards,
    })))
}

/// The click of a short id. None if its record has left.
async fn record(
    context: &RequestContext,
    keys: &KeyRing,
    app: AppId,
    shard: u8,
    nonce: Nonce,
) -> Result<Option<Click<'static>>, Refusal> {
    let get = clicks::Get {
        nonce: Bytes(nonce.to_vec()),
    };
    let found = context
        .workers
        .call(&clicks::address(&nonce), get, TIMEOUT)
        .await?;
    let record = found.record;
    Ok(record.and_then(|record| click_id::open_record(keys, &record.0, app, shard, nonce).ok()))
}

/// A transaction id that its app knows.
async fn reward(context: &RequestContext, app: AppId, text: &str) -> Result<Option<Value>, Refusal> {
    let Some(outboxes) = outbox::of_app(context, app).await? else {
        return Ok(None);
    };
    let known = outboxes.read_story(text).await;
    match known {
        Ok(reply) => {
            let story: Value = serde_json::from_str(&reply.body).unwrap_or_default();
            Ok(Some(json!({
                "kind": "reward",
                "app_id": app,
                "transaction_id": story.get("transaction_id"),
                "state": story.get("state"),
            })))
        }
        Err(refusal) if refusal.status() == 404 => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// The newest rewards of a user of an app.
async fn user(context: &RequestContext, app: AppId, text: &str) -> Result<Option<Value>, Refusal> {
    let Some(outboxes) = outbox::of_app(context, app).await? else {
        return Ok(None);
    };
    let list = List {
        status: None,
        state: None,
        reason: None,
        user_id: Some(text.to_owned()),
        limit: REWARDS,
        max_text: merge::MAX_TEXT,
        before: None,
    };
    let page = outboxes.list(&list).await?;
    let has_rewards = !page.conversions.is_empty();
    Ok(has_rewards
        .then(|| json!({ "kind": "user", "app_id": app, "user_id": text, "rewards": page.conversions })))
}

//! The console's search: finds the records that a pasted text refers to. The text may be a user's id, so it comes in a
//! body and is not stored.

use std::{collections::BTreeSet, pin::pin};

use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use worker::Request;

use super::{ask_catalog, none_if_unknown, read_document, read_reply, require};
use crate::http::{
    HandlerResult, Refusal, RequestContext,
    calls::SPARE_TIMEOUT,
    clicks::{click_outcome, record},
    offer_names,
    site::{merge, outboxes::Outboxes},
};
use contract::{
    activity::{self, ListRewards, ListedReward},
    catalog::{ListEarning, Resource, Search},
    ledger::{self, FindKey, OPERATOR},
    operation::{Bytes, OperatorReply},
    outbox::{List, OutboxShard},
    rewards::RewardFilter,
};
use domain::{
    conversions::{ids, reward::check_life},
    model::{AppId, Document, FieldError, PublisherId, SECOND_MS, credentials},
    reporting::keys,
    tracking::{Opened, click_id, parameters::is_user_id},
};
use platform::{CONNECTIONS, ObjectCall};

const MAX_BODY: usize = 8 << 10;
/// Maximum length of the text, in bytes. A click id has at most 1,000 characters, and a user id has at most 1,024.
const MAX_TEXT: usize = 2_048;
/// Maximum rewards of a user that are shown.
const REWARDS: u32 = 100;
/// Maximum publishers whose newest rewards are searched for a user. An invocation may make at most 1,000 calls.
const MAX_PUBLISHERS: u32 = 500;
/// Maximum apps whose rewards of a user are shown.
const MAX_APPS: usize = 20;
/// The number of publishers without an answer at which the search stops.
const MAX_FAILURES: u32 = 3;

#[derive(Deserialize)]
struct SearchBody {
    text: String,
    app_id: Option<AppId>,
}

impl Document for SearchBody {
    fn check(&self) -> Result<(), FieldError> {
        match self.text.trim().len() {
            1..=MAX_TEXT => Ok(()),
            _ => Err(FieldError::new("text", format!("must have 1 to {MAX_TEXT} bytes"))),
        }
    }
}

/// The catalog's matches.
#[derive(Deserialize)]
struct Matches {
    matches: Vec<Value>,
}

/// A report key that the ledger knows.
#[derive(Default, Deserialize)]
struct Key {
    key_id: Option<String>,
    label: Option<String>,
}

/// `POST /v1/operator/search`.
pub async fn search(context: &RequestContext, mut request: Request) -> HandlerResult {
    let SearchBody { text, app_id } = read_document(&mut request, MAX_BODY).await?;
    Ok(OperatorReply::ok(&find(context, text.trim(), app_id).await?).into())
}

/// The matches so far.
#[derive(Default)]
struct SearchResult {
    matches: Vec<Value>,
    /// The refusal of the last lookup that failed.
    missing: Option<Refusal>,
}

impl SearchResult {
    /// Adds the result of one lookup. If a lookup fails, the results of the other lookups are still shown.
    fn add(&mut self, part: Result<Option<Value>, Refusal>) {
        match part {
            Ok(found) => self.matches.extend(found),
            Err(refusal) => self.missing = Some(refusal),
        }
    }
}

async fn find(context: &RequestContext, text: &str, app: Option<AppId>) -> Result<Value, Refusal> {
    let search = Search { text: text.to_owned() };
    let Matches { matches } = ask_catalog(context, search).await?;
    let ids = matches.len();
    let mut found = SearchResult { matches, missing: None };
    found.add(report_key(context, text).await);
    found.add(click(context, text).await);
    let is_reward = add_reward(context, text, app, &mut found).await;
    // A user id may equal any other id, and may look like a transaction id.
    if let Some(app) = app.filter(|_| !is_reward) {
        found.add(user(context, app, text).await);
    } else if found.matches.is_empty() && is_user_id(text) {
        add_user(context, text, &mut found).await;
    }
    let SearchResult { matches, missing } = found;
    match missing {
        Some(refusal) if matches.is_empty() => Err(refusal),
        missing => Ok(json!({
            "needs_app": matches.len() == ids && app.is_none(),
            "is_incomplete": missing.is_some(),
            "matches": matches,
        })),
    }
}

/// Adds the reward with this transaction id, if it exists, and returns whether it was added. A transaction id names its
/// app. A user id may look like a transaction id of another app, so the chosen app is also asked.
async fn add_reward(context: &RequestContext, text: &str, chosen: Option<AppId>, found: &mut SearchResult) -> bool {
    if ids::shard_of(text).is_none() {
        return false;
    }
    let named = ids::app_of(text);
    let before = found.matches.len();
    for app in named.into_iter().chain(chosen.filter(|_| chosen != named)) {
        found.add(reward(context, app, text).await);
    }
    found.matches.len() > before
}

/// Finds a report key. Even the beginning of a key names the publisher. The MAC proves that a complete key was issued,
/// and the ledger knows whether the key was revoked.
async fn report_key(context: &RequestContext, text: &str) -> Result<Option<Value>, Refusal> {
    let Some(rest) = text.strip_prefix(keys::PREFIX) else {
        return Ok(None);
    };
    let publisher = rest.split('_').next().and_then(PublisherId::parse);
    let Some(publisher) = publisher else {
        return Ok(None);
    };
    if none_if_unknown(require(context, Resource::Publisher, publisher.as_str()).await)?.is_none() {
        return Ok(None);
    }
    let is_issued = keys::publisher(&context.isolate.config.report_keys, text).is_some();
    let Key { key_id, label } = if is_issued {
        let hash = Bytes(credentials::hash(text).to_vec());
        let ledger = ledger::address(&publisher, OPERATOR);
        read_reply(&context.call(&ledger, FindKey { hash }).await?)?
    } else {
        Key::default()
    };
    Ok(Some(json!({
        "kind": "report_key", "publisher_id": publisher, "is_issued": is_issued, "key_id": key_id, "label": label,
    })))
}

/// Finds a click by its id, with its data and its rewards. The opened id is shown and never stored.
async fn click(context: &RequestContext, text: &str) -> Result<Option<Value>, Refusal> {
    let Some(keys) = context.isolate.config.click_keys.as_ref() else {
        return Ok(None);
    };
    let Ok(opened) = click_id::open(keys, text) else {
        return Ok(None);
    };
    let (app, number, nonce, click) = match opened {
        Opened::Whole { click, nonce } => (click.app, click.shard, nonce, Some(click)),
        Opened::Short { app, shard, nonce } => {
            let click = record(context, keys, app, shard, nonce).await?;
            (app, shard, nonce, click)
        }
    };
    let shard = OutboxShard { app, number };
    let outcome = click_outcome(context, shard, nonce, click.as_ref()).await?;
    if outcome.is_erased {
        return Ok(Some(json!({
            "kind": "click", "app_id": app, "shard": number, "not_shown": "erased", "rewards": outcome.rewards,
        })));
    }
    let Some(click) = click.filter(|click| check_life(click.clicked_at_ms, context.now_ms).is_ok()) else {
        // The click is too old for postbacks. At this age the record of a short click id may already be deleted. So
        // that both kinds of click ids give the same answer, the data of a sealed click id is not shown either.
        return Ok(Some(json!({
            "kind": "click", "app_id": app, "shard": number, "not_shown": "expired", "rewards": outcome.rewards,
        })));
    };
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

/// Finds a reward by its transaction id in an app.
async fn reward(context: &RequestContext, app: AppId, text: &str) -> Result<Option<Value>, Refusal> {
    let Some(outboxes) = none_if_unknown(Outboxes::of(context, app).await)? else {
        return Ok(None);
    };
    let Some(story) = none_if_unknown(outboxes.read_story(text).await)? else {
        return Ok(None);
    };
    let story: Value = read_reply(&story)?;
    Ok(Some(json!({
        "kind": "reward",
        "app_id": app,
        "transaction_id": story.get("transaction_id"),
        "state": story.get("state"),
    })))
}

/// Finds a user by the id alone. Searches the newest rewards of up to [`MAX_PUBLISHERS`] publishers for the user's
/// rewards, and adds the user once for each app in which such rewards were found.
async fn add_user(context: &RequestContext, text: &str, found: &mut SearchResult) {
    let earning = ListEarning { limit: MAX_PUBLISHERS };
    let publishers: Vec<PublisherId> = match ask_catalog(context, earning).await {
        Ok(publishers) => publishers,
        Err(refusal) => return found.add(Err(refusal)),
    };
    let list = ListRewards {
        app: None,
        filter: RewardFilter { user_id: Some(text.to_owned()), ..RewardFilter::default() },
        limit: REWARDS,
        before: None,
        after: None,
        is_analyst: false,
    };
    let pages = stream::iter(publishers).map(async |publisher| {
        let to = activity::address(&publisher);
        let list = Box::new(list.clone());
        context.workers.call(&to, list, SPARE_TIMEOUT).await
    });
    let mut pages = pin!(pages.buffered(CONNECTIONS));
    let (mut apps, mut failures) = (BTreeSet::new(), 0);
    while let Some(page) = pages.next().await {
        match page {
            Ok(page) => apps.extend(page.rewards.iter().map(|reward: &ListedReward| reward.app)),
            Err(error) => {
                found.add(Err(error.into()));
                failures += 1;
                if failures == MAX_FAILURES {
                    break;
                }
            }
        }
    }
    for app in apps.into_iter().take(MAX_APPS) {
        found.add(user(context, app, text).await);
    }
}

/// Returns the newest rewards of a user of an app.
async fn user(context: &RequestContext, app: AppId, text: &str) -> Result<Option<Value>, Refusal> {
    let Some(outboxes) = none_if_unknown(Outboxes::of(context, app).await)? else {
        return Ok(None);
    };
    let list = List { user_id: Some(text.to_owned()), limit: REWARDS, max_text: merge::MAX_TEXT, ..List::default() };
    let page = outboxes.list(&list).await?;
    let mut found = json!({ "kind": "user", "app_id": app, "user_id": text, "rewards": page.conversions });
    match found.get_mut("rewards").and_then(Value::as_array_mut) {
        Some(rewards) if !rewards.is_empty() => offer_names::add(context, rewards).await,
        _ => return Ok(None),
    }
    Ok(Some(found))
}

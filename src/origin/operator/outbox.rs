//! The operator's calls to an app's outbox: the log of conversions, and its callbacks.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use worker::Request;

use super::{MAX_DOCUMENT, TIMEOUT, ask_catalog, conversion_query, read_page, segment};
use crate::{
    isolate::RequestContext,
    outbox::{
        merge,
        replay::{check_selection, replay_in_steps},
        settlement::{self, ManyOrder, Order, settle_in_steps},
    },
    refusal::Refusal,
    routes::OutboxCall,
};
use contract::{
    catalog::{self, AppSettings, GetAppSettings, Resource},
    operation::{CallError, Operation, Reply},
    outbox::{
        Enable, Erase, Get, GetStatus, List, ReadReward, Replay, ReplayMany, SettleMany, Settled, Shard,
        Standing, Test,
    },
};
use domain::{
    conversions::{ids, shards, table::UNKNOWN_CONVERSION},
    model::{
        AppId,
        api_error::{ApiError, common},
        document::Document,
        time::SECOND_MS,
    },
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

/// The timeout of an action, which may wait for the catalog, a `txn` and the counters, 5 s each.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(25);

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
        owner: None,
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
    let outboxes = async {
        let settings = settings(context, app.app_id).await.ok()?;
        Outboxes::new(context, app.app_id, settings)
            .standing(STATUS_TIMEOUT)
            .await
            .ok()
    };
    let mut status = match outboxes.await.map(serde_json::to_value) {
        Some(Ok(Value::Object(standing))) => standing,
        _ => [("state".to_owned(), "unknown".into())].into_iter().collect(),
    };
    status.insert("app_id".into(), app.app_id.to_string().into());
    status.insert("publisher_id".into(), app.publisher_id.into());
    status
}

/// An app's settings from the catalog; or the answer to the operator, for example 404 for an app that there is not.
pub(super) async fn settings(context: &RequestContext, app: AppId) -> Result<AppSettings, Answer> {
    let catalog = catalog::address(catalog::COMMAND_PATH);
    let get = GetAppSettings { app_id: app };
    let reply = context.workers.call(&catalog, get, TIMEOUT).await?;
    serde_json::from_str(&reply.body).map_err(|_| {
        log::error("operator", "the catalog's settings of an app do not parse");
        common::INTERNAL_ERROR.into()
    })
}

/// The outboxes of an app that there is.
pub(super) async fn of_app<'c>(
    context: &'c RequestContext,
    app: AppId,
) -> Result<Option<Outboxes<'c>>, Refusal> {
    let get = GetAppSettings { app_id: app };
    match ask_catalog(context, get).await {
        Ok(settings) => Ok(Some(Outboxes::new(context, app, settings))),
        Err(refusal) if refusal.status() == 404 => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// The outboxes of an app.
pub struct Outboxes<'c> {
    context: &'c RequestContext,
    app: AppId,
    pub settings: AppSettings,
}

impl<'c> Outboxes<'c> {
    pub fn new(context: &'c RequestContext, app: AppId, settings: AppSettings) -> Self {
        Self {
            context,
            app,
            settings,
        }
    }

    pub async fn call<O: Operation>(
        &self,
        number: u8,
        operation: O,
        timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        let shard = Shard {
            app: self.app,
            number,
        };
        self.context
            .workers
            .call(&shard.address(), operation, timeout)
            .await
    }

    /// The outboxes' numbers. An outbox that never had a conversion is asked like the others: a catalog that was restored
    /// from a backup does not know which have.
    fn numbers(&self) -> Vec<u8> {
        (0..self.settings.outbox_shards).collect()
    }

    /// Asks each outbox by its number. The answers are in the order of the numbers.
    pub async fn ask_each<T>(
        &self,
        ask: impl AsyncFn(u8) -> Result<T, CallError>,
    ) -> Result<Vec<T>, CallError> {
        stream::iter(self.numbers())
            .map(|number| ask(number))
            .buffered(CONNECTIONS)
            .try_collect()
            .await
    }

    /// Sends an operation to each outbox.
    async fn call_each<O: Operation + Copy>(
        &self,
        operation: O,
        timeout: Duration,
    ) -> Result<Vec<O::Answer>, CallError> {
        self.ask_each(async |number| self.call(number, operation, timeout).await)
            .await
    }

    fn has_callback(&self) -> bool {
        self.settings.callback.sealed.is_some()
    }

    async fn standing(&self, timeout: Duration) -> Result<Standing, CallError> {
        let each = self.call_each(GetStatus {}, timeout).await?;
        Ok(merge::standing(self.has_callback(), each))
    }

    pub async fn enable(&self) -> Result<Standing, CallError> {
        let each = self.call_each(Enable {}, TIMEOUT).await?;
        Ok(merge::standing(self.has_callback(), each))
    }

    pub(super) async fn list(&self, list: &List) -> Result<merge::Page, CallError> {
        let ask = async |number, part| self.call(number, part, TIMEOUT).await;
        let numbers = match &list.user_id {
            Some(user_id) => vec![shards::of_user(user_id, self.settings.outbox_shards)],
            None => self.numbers(),
        };
        merge::list(&numbers, list, ask).await
    }

    /// The story of a reward.
    pub(super) async fn read_story(&self, transaction_id: &str) -> Result<Reply, Refusal> {
        let keeper = self.keeper(transaction_id)?;
        let read = ReadReward {
            publisher: self.settings.publisher_id.clone(),
            transaction_id: transaction_id.to_owned(),
            is_analyst: false,
        };
        Ok(self.call(keeper, read, TIMEOUT).await?)
    }

    /// The number of the outbox that keeps a transaction.
    fn keeper(&self, transaction_id: &str) -> Result<u8, ApiError> {
        ids::shard_of(transaction_id)
            .filter(|number| *number < self.settings.outbox_shards)
            .ok_or(UNKNOWN_CONVERSION)
    }

    /// Sends an operation to the outbox that keeps a transaction.
    async fn of_transaction<O>(&self, transaction_id: &str, operation: O) -> Result<Answer, ApiError>
    where
        O: Operation<Answer = Reply>,
    {
        let reply = self.call(self.keeper(transaction_id)?, operation, TIMEOUT).await;
        Ok(reply.map_or_else(Answer::from, Answer::from))
    }

    async fn replay_many(&self, body: &str) -> Result<i64, CallError> {
        let (mut replayed, mut until) = (0_i64, None);
        for number in self.numbers() {
            let step = async |step: ReplayMany| self.call(number, step, TIMEOUT).await;
            let all = replay_in_steps(body, until, step).await?;
            replayed = replayed.saturating_add(all.replayed);
            until = Some(all.until);
        }
        Ok(replayed)
    }

    /// Settles what matches in each outbox.
    async fn settle_many(&self, first: &SettleMany) -> Result<Value, CallError> {
        let mut all = Settled::default();
        for number in self.numbers() {
            let step = async |step: SettleMany| self.call(number, step, SETTLE_TIMEOUT).await;
            settlement::add(&mut all, settle_in_steps(first, step).await?);
        }
        let until = first.filter.until;
        Ok(if first.dry_run {
            json!({ "count": all.count, "until": until })
        } else {
            json!({ "count": all.count, "settled": all.settled, "refused": all.refused, "until": until })
        })
    }

    /// Erases a user, all of whose conversions are in one outbox.
    async fn erase(&self, user_id: String) -> Answer {
        let number = shards::of_user(&user_id, self.settings.outbox_shards);
        let reply = self.call(number, Erase { user_id }, TIMEOUT).await;
        reply.map_or_else(Answer::from, Answer::from)
    }
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
    let settings = match settings(context, app).await {
        Ok(settings) => settings,
        Err(answer) => return Ok(answer),
    };
    let outboxes = Outboxes::new(context, app, settings);
    match call {
        OutboxCall::ListConversions => Ok(answer(outboxes.list(&conversion_query::of_query(query)?).await)),
        OutboxCall::FindConversions => {
            body::check_media_type(&request, &[JSON], false)?;
            let body = body::read_text(&mut request, MAX_DOCUMENT).await?;
            let list = conversion_query::of_body(&body)?;
            Ok(answer(outboxes.list(&list).await))
        }
        OutboxCall::ReadConversion => {
            let transaction_id = segment(1);
            let get = Get {
                transaction_id: transaction_id.clone(),
            };
            outboxes.of_transaction(&transaction_id, get).await
        }
        OutboxCall::ReadStory => {
            let story = outboxes.read_story(&segment(1)).await;
            let publisher = &outboxes.settings.publisher_id;
            Ok(story.map_or_else(Refusal::into_answer, |story| {
                // Both are objects, which are put together.
                let body = story
                    .body
                    .replacen('{', &format!(r#"{{"publisher_id":"{publisher}","#), 1);
                Answer::json(story.status, body).header("Cache-Control", "no-store")
            }))
        }
        OutboxCall::ReplayConversion => {
            let transaction_id = segment(1);
            let replay = Replay {
                transaction_id: transaction_id.clone(),
            };
            outboxes.of_transaction(&transaction_id, replay).await
        }
        OutboxCall::ReplayConversions => {
            body::check_media_type(&request, &[JSON], false)?;
            let body = body::read_text(&mut request, MAX_DOCUMENT).await?;
            check_selection(&body)?;
            let replayed = outboxes.replay_many(&body).await;
            Ok(answer(replayed.map(|replayed| json!({ "replayed": replayed }))))
        }
        OutboxCall::Settle(action) => {
            body::check_media_type(&request, &[JSON], false)?;
            let body = body::read_text(&mut request, MAX_DOCUMENT).await?;
            let settle = Order::from_json(&body)?.into_settle(segment(1), action);
            let keeper = outboxes.keeper(&settle.transaction_id)?;
            Ok(answer(outboxes.call(keeper, settle, SETTLE_TIMEOUT).await))
        }
        OutboxCall::SettleMany(action) => {
            body::check_media_type(&request, &[JSON], false)?;
            let body = body::read_text(&mut request, MAX_DOCUMENT).await?;
            // Conversion times are whole seconds, so "until now" includes the current second.
            let until = context.now_ms.div_euclid(SECOND_MS).saturating_add(1);
            let first = ManyOrder::from_json(&body)?.into_first_step(action, until);
            Ok(answer(outboxes.settle_many(&first).await).dry_run(first.dry_run))
        }
        OutboxCall::ReadCallback => Ok(answer(outboxes.standing(TIMEOUT).await)),
        OutboxCall::EnableCallback => Ok(answer(outboxes.enable().await)),
        OutboxCall::TestCallback => {
            let AppSettings {
                currency, callback, ..
            } = outboxes.settings.clone();
            let tested = outboxes.call(0, Test { currency, callback }, TIMEOUT).await;
            Ok(tested.map_or_else(Answer::from, Answer::from))
        }
        // User ids may contain an @, which a client may percent-encode.
        OutboxCall::EraseUser => {
            let user_id = percent_decode_str(&segment(1)).decode_utf8_lossy().into_owned();
            Ok(outboxes.erase(user_id).await)
        }
    }
}

/// The answer with a body, or with the error of a call.
pub(super) fn answer(outcome: Result<impl Serialize, CallError>) -> Answer {
    match outcome.map(|body| serde_json::to_string(&body)) {
        Ok(Ok(body)) => Reply { status: 200, body }.into(),
        Ok(Err(error)) => {
            log::error("operator", error);
            common::INTERNAL_ERROR.into()
        }
        Err(error) => error.into(),
    }
}

//! The operator's calls to an app's outbox: the log of conversions, and its callbacks.

use std::{collections::BTreeMap, time::Duration};

use futures_util::{StreamExt, TryStreamExt, stream};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};
use worker::Request;

use super::{
    MAX_DOCUMENT, TIMEOUT, ask_catalog, audit_words, conversion_query,
    lists::{SEARCH_MS, SEARCH_TOO_LONG},
    read_page, read_reply, segment,
};
use crate::{
    isolate::RequestContext,
    outbox::{
        merge,
        replay::{check_selection, replay_in_steps},
        settlement::{self, ManyOrder, Order, Place, settle_in_steps},
    },
    refusal::Refusal,
    routes::OutboxCall,
};
use contract::{
    catalog::{self, AppSettings, GetAppSettings, ListFilter, Resource},
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
        document::{Document, FieldError},
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
    runtime::now_ms,
    traits::ObjectCall,
};

/// Apps on one page of `GET …/callbacks`.
const MAX_ASKED: u32 = 100;
/// The timeout of each call. It is short because few run at a time, and if one outbox hangs, all may.
const STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// How long one call settles conversions, in milliseconds: a step takes a few seconds, and an invocation has 1,000 calls.
const MANY_MS: i64 = 15_000;
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
/// out, so a page may be short, but no page is empty but the last. An outbox that does not answer is `unknown`.
pub async fn list_callbacks(context: &RequestContext, query: &str) -> Result<Answer, Refusal> {
    let (limit, cursor) = read_page(query, MAX_ASKED)?;
    let mut list = catalog::List {
        resource: Resource::App,
        limit,
        cursor,
        owner: None,
        filter: ListFilter::default(),
    };
    let until_ms = now_ms().saturating_add(SEARCH_MS);
    loop {
        let Apps { apps, cursor } = ask_catalog(context, list.clone()).await?;
        let with_callback = apps.into_iter().filter(|app| app.callback.is_some());
        let callbacks: Vec<_> = stream::iter(with_callback)
            .map(|app| status(context, app))
            .buffered(CONNECTIONS)
            .collect()
            .await;
        if !callbacks.is_empty() || cursor.is_none() {
            return Ok(Reply::ok(&json!({ "callbacks": callbacks, "cursor": cursor })).into());
        }
        if now_ms() >= until_ms {
            return Err(SEARCH_TOO_LONG.into());
        }
        list.cursor = cursor;
    }
}

async fn status(context: &RequestContext, app: App) -> Map<String, Value> {
    let outboxes = async {
        let outboxes = Outboxes::of(context, app.app_id).await.ok()?;
        outboxes.standing(STATUS_TIMEOUT).await.ok()
    };
    let mut status = match outboxes.await.map(serde_json::to_value) {
        Some(Ok(Value::Object(standing))) => standing,
        _ => [("state".to_owned(), "unknown".into())].into_iter().collect(),
    };
    status.insert("app_id".into(), app.app_id.to_string().into());
    status.insert("publisher_id".into(), app.publisher_id.into());
    status
}

/// The outboxes of an app.
pub struct Outboxes<'c> {
    context: &'c RequestContext,
    app: AppId,
    pub settings: AppSettings,
}

impl<'c> Outboxes<'c> {
    /// Those of an app of the catalog.
    ///
    /// # Errors
    /// There is no such app, or the catalog does not answer.
    pub async fn of(context: &'c RequestContext, app: AppId) -> Result<Self, Refusal> {
        let settings = ask_catalog(context, GetAppSettings { app_id: app }).await?;
        Ok(Self::new(context, app, settings))
    }

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
        let enable = Enable { at_ms: now_ms() };
        let each = self.call_each(enable, TIMEOUT).await?;
        Ok(merge::standing(self.has_callback(), each))
    }

    /// A page of the log. It has at least one entry if there is one.
    pub(super) async fn list(&self, list: &List) -> Result<merge::Page, Refusal> {
        let until_ms = now_ms().saturating_add(SEARCH_MS);
        let mut list = list.clone();
        loop {
            let page = self.list_part(&list).await?;
            list.before = page.before;
            if !page.conversions.is_empty() || list.before.is_none() {
                return Ok(page);
            }
            if now_ms() >= until_ms {
                return Err(SEARCH_TOO_LONG.into());
            }
        }
    }

    async fn list_part(&self, list: &List) -> Result<merge::Page, CallError> {
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
    async fn of_transaction<O>(&self, transaction_id: &str, operation: O) -> Result<Answer, Refusal>
    where
        O: Operation<Answer = Reply>,
    {
        let keeper = self.keeper(transaction_id)?;
        Ok(self.call(keeper, operation, TIMEOUT).await?.into())
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

    /// Settles what matches from a place on, as much as [`MANY_MS`] allows, and tells where to go on.
    async fn settle_many(
        &self,
        first: &SettleMany,
        from: Place,
    ) -> Result<(Settled, Option<Place>), CallError> {
        let until_ms = now_ms().saturating_add(MANY_MS);
        let has_time = || now_ms() < until_ms;
        let mut all = Settled::default();
        for number in self.numbers().into_iter().skip(from.outbox.into()) {
            let first = SettleMany {
                after: if number == from.outbox { from.after } else { 0 },
                ..first.clone()
            };
            let step = async |step: SettleMany| self.call(number, step, SETTLE_TIMEOUT).await;
            let settled = settle_in_steps(&first, has_time, step).await?;
            let next = settled.next;
            settlement::add(&mut all, settled);
            if let Some(after) = next {
                let place = Place {
                    outbox: number,
                    after,
                };
                return Ok((all, Some(place)));
            }
        }
        Ok((all, None))
    }

    /// Erases a user, all of whose conversions are in one outbox.
    async fn erase(&self, user_id: String) -> Result<Answer, Refusal> {
        let number = shards::of_user(&user_id, self.settings.outbox_shards);
        Ok(self.call(number, Erase { user_id }, TIMEOUT).await?.into())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EraseBody {
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
) -> Result<Answer, Refusal> {
    let segment = |at| segment(segments, at);
    let app =
        AppId::parse(&segment(0)).ok_or_else(|| common::NOT_FOUND.with_message("there is no such app"))?;
    let outboxes = Outboxes::of(context, app).await?;
    match call {
        OutboxCall::ListConversions => answer(&outboxes.list(&conversion_query::of_query(query)?).await?),
        OutboxCall::FindConversions => {
            let list = conversion_query::of_body(&read_body(&mut request).await?)?;
            answer(&outboxes.list(&list).await?)
        }
        OutboxCall::ReadConversion => {
            let transaction_id = segment(1);
            let get = Get {
                transaction_id: transaction_id.clone(),
            };
            outboxes.of_transaction(&transaction_id, get).await
        }
        OutboxCall::ReadStory => {
            let story = outboxes.read_story(&segment(1)).await?;
            // The story's members are passed on as they are.
            let mut story: BTreeMap<String, Box<RawValue>> = read_reply(&story)?;
            let publisher = to_raw_value(&outboxes.settings.publisher_id).map_err(internal)?;
            story.insert("publisher_id".into(), publisher);
            answer(&story)
        }
        OutboxCall::ReplayConversion => {
            let transaction_id = segment(1);
            let replay = Replay {
                transaction_id: transaction_id.clone(),
            };
            outboxes.of_transaction(&transaction_id, replay).await
        }
        OutboxCall::ReplayConversions => {
            let body = read_body(&mut request).await?;
            check_selection(&body)?;
            let replayed = outboxes.replay_many(&body).await?;
            Ok(answer(&json!({ "replayed": replayed }))?.audited(format!("{replayed} sent again")))
        }
        OutboxCall::Settle(action) => {
            let order = Order::from_json(&read_body(&mut request).await?)?;
            let settle = order.into_settle(segment(1), action);
            let detail = audit_words::of_order(&settle.reason, &settle.despite);
            let keeper = outboxes.keeper(&settle.transaction_id)?;
            let settled = outboxes.call(keeper, settle, SETTLE_TIMEOUT).await?;
            Ok(answer(&settled)?.audited(detail))
        }
        OutboxCall::SettleMany(action) => {
            let order = ManyOrder::from_json(&read_body(&mut request).await?)?;
            order.check_action(action)?;
            // Conversion times are whole seconds, so "until now" includes the current second.
            let until = context.now_ms.div_euclid(SECOND_MS).saturating_add(1);
            let from = order.place();
            let first = order.into_first_step(action, until);
            let (all, next) = outboxes.settle_many(&first, from).await?;
            let Settled {
                count,
                settled,
                refused,
                ..
            } = &all;
            let (until, next) = (first.filter.until, next.map(Place::to_text));
            if first.dry_run {
                let body = json!({ "count": count, "until": until, "next": next });
                return Ok(answer(&body)?.dry_run(true));
            }
            let body = json!({ "count": count, "settled": settled, "refused": refused, "until": until, "next": next });
            Ok(answer(&body)?.audited(audit_words::of_many(&first, *count, *settled)))
        }
        OutboxCall::ReadCallback => answer(&outboxes.standing(TIMEOUT).await?),
        OutboxCall::EnableCallback => answer(&outboxes.enable().await?),
        OutboxCall::TestCallback => {
            let AppSettings {
                currency, callback, ..
            } = outboxes.settings.clone();
            let test = Test { currency, callback };
            Ok(outboxes.call(0, test, TIMEOUT).await?.into())
        }
        // User ids may contain an @, which a client may percent-encode.
        OutboxCall::EraseUserInPath => {
            let user_id = percent_decode_str(&segment(1)).decode_utf8_lossy().into_owned();
            outboxes.erase(user_id).await
        }
        OutboxCall::EraseUser => {
            let EraseBody { user_id } = Document::from_json(&read_body(&mut request).await?)?;
            outboxes.erase(user_id).await
        }
    }
}

async fn read_body(request: &mut Request) -> Result<String, ApiError> {
    body::check_media_type(request, &[JSON], false)?;
    body::read_text(request, MAX_DOCUMENT).await
}

/// The answer with a body.
pub(super) fn answer(body: &impl Serialize) -> Result<Answer, Refusal> {
    let body = serde_json::to_string(body).map_err(internal)?;
    Ok(Reply { status: 200, body }.into())
}

fn internal(error: serde_json::Error) -> ApiError {
    log::error("operator", error);
    common::INTERNAL_ERROR
}

//! Replays of many callbacks of an app, which the publisher's activity object carries out. The dashboard and the
//! operator share this code.

use worker::Request;

use crate::http::{
    Refusal, RequestContext,
    calls::read_json,
    site::{idempotency_key, replay_query},
};
use contract::{
    activity::{self, CountReplay, FindOutbox, StartReplay},
    rewards::RewardFilter,
};
use domain::model::{ApiError, AppId, PublisherId, common};

const MAX_BODY: usize = 16 << 10;

/// The refusal for an unknown app, and for an app of another publisher.
pub fn unknown_app() -> ApiError {
    common::NOT_FOUND.with_message("no app with rewards has this id")
}

/// The parsed body of `POST …/replays`.
pub struct ReplayOrder {
    publisher: PublisherId,
    app: AppId,
    pub filter: RewardFilter,
    pub is_dry_run: bool,
    key: Result<String, ApiError>,
}

impl ReplayOrder {
    /// # Errors
    /// The app has no rewards, or the body is wrong.
    pub async fn read(
        context: &RequestContext,
        publisher: PublisherId,
        app: AppId,
        mut request: Request,
    ) -> Result<Self, Refusal> {
        let find = FindOutbox { app, shard: None };
        let to = activity::address(&publisher);
        if !context.call(&to, find).await?.found {
            return Err(unknown_app().into());
        }
        let key = idempotency_key::read(&request);
        let body = read_json(&mut request, MAX_BODY).await?;
        let (filter, is_dry_run) = replay_query::parse(&body, context.now_ms)?;
        Ok(Self { publisher, app, filter, is_dry_run, key })
    }

    /// Returns the number of callbacks that would be resent.
    pub async fn count(&self, context: &RequestContext) -> Result<i64, Refusal> {
        let count = CountReplay { publisher: self.publisher.clone(), app: self.app, filter: self.filter.clone() };
        let to = activity::address(&self.publisher);
        Ok(context.call(&to, count).await?.count)
    }

    /// # Errors
    /// `Idempotency-Key` is missing or malformed.
    pub fn into_start(self, most: Option<u32>) -> Result<StartReplay, ApiError> {
        Ok(StartReplay { publisher: self.publisher, app: self.app, filter: self.filter, key: self.key?, most })
    }
}

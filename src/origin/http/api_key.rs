//! Checks the publisher's key of calls that the origin answers.

use worker::Request;

use crate::http::{
    HandlerResult, Refusal, RequestContext,
    limits::{PER_MEMBER, Pool},
};
use contract::{
    ledger::{self, UseKey, UsedKey},
    operation::Bytes,
};
use domain::{
    model::{ApiError, PublisherId, credentials},
    reporting::keys::{self, INVALID_API_KEY, Scope},
};
use platform::{
    concurrency_limit::Permit,
    http::{Answer, answer::LogFields, header},
};

/// The key of a request, before the ledger has confirmed that it is active.
pub struct ApiKey {
    text: String,
    /// The publisher that the key names. The key's MAC proves that the name is genuine.
    pub publisher: PublisherId,
}

impl ApiKey {
    /// # Errors
    /// `invalid_api_key` for a text that was never issued.
    pub fn of(context: &RequestContext, request: &Request) -> Result<Self, ApiError> {
        let text = header(request, "X-Api-Key").unwrap_or_default();
        let publisher = keys::publisher(&context.isolate.config.report_keys, &text).ok_or(INVALID_API_KEY)?;
        Ok(Self { text, publisher })
    }

    /// Takes one of the key's permits.
    pub fn enter(&self, context: &RequestContext) -> Result<Permit, ApiError> {
        let pool = context.isolate.pools.get(Pool::Publishers);
        pool.acquire_part(self.publisher.as_str(), (&self.text, PER_MEMBER), context.now_ms)
    }

    /// Counts a use of the key. Refuses the call if the key is not active, lacks the scope or exceeds its rate.
    pub async fn use_for(
        &self,
        context: &RequestContext,
        scope: Scope,
        log_fields: &mut LogFields,
    ) -> Result<UsedKey, Refusal> {
        let hash = Bytes(credentials::hash(&self.text).to_vec());
        let ledger = ledger::address(&self.publisher, ledger::OPERATOR);
        let used = context.call(&ledger, UseKey { hash, scope }).await?;
        log_fields.publisher = Some(self.publisher.to_string());
        log_fields.key = Some(credentials::fingerprint(&self.text));
        Ok(used)
    }
}

/// Runs a handler if the request has an active key of this scope.
pub async fn answer_for(
    context: &RequestContext,
    request: &Request,
    scope: Scope,
    handler: impl AsyncFnOnce(PublisherId) -> HandlerResult,
) -> Answer {
    answer(async |log_fields| {
        let key = ApiKey::of(context, request)?;
        let _permit = key.enter(context)?;
        key.use_for(context, scope, log_fields).await?;
        handler(key.publisher).await
    })
    .await
}

/// Runs a handler. No cache may keep its answer.
pub async fn answer(handler: impl AsyncFnOnce(&mut LogFields) -> HandlerResult) -> Answer {
    let mut log_fields = LogFields::default();
    let answer = match handler(&mut log_fields).await {
        Ok(answer) => answer.with_log_fields(log_fields),
        Err(refusal) => refusal.into_answer(),
    };
    answer.header("Cache-Control", "no-store")
}

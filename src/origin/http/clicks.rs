//! Reads the records and the rewards of clicks by their ids.

use crate::http::RequestContext;
use contract::{
    clicks,
    operation::{Bytes, CallError},
    outbox::{ClickOutcome, OutboxShard, ReadClick},
};
use domain::{
    model::AppId,
    tracking::{Click, Nonce, click_id, keys::KeyRing},
};

/// Reads the rewards of a click, and whether its user was erased after the click.
pub async fn click_outcome(
    context: &RequestContext,
    shard: OutboxShard,
    nonce: Nonce,
    click: Option<&Click<'_>>,
) -> Result<ClickOutcome, CallError> {
    let read = ReadClick {
        nonce: Bytes(nonce.to_vec()),
        of: click.map(|click| (click.user_id.to_string(), click.clicked_at_ms)),
    };
    context.call(&shard.address(), read).await
}

/// Reads the click of a short click id. Returns `None` if the click's record was deleted or cannot be opened.
pub async fn record(
    context: &RequestContext,
    keys: &KeyRing,
    app: AppId,
    shard: u8,
    nonce: Nonce,
) -> Result<Option<Click<'static>>, CallError> {
    let get = clicks::Get { nonce: Bytes(nonce.to_vec()) };
    let found = context.call(&clicks::address(&nonce), get).await?;
    let record = found.record;
    Ok(record.and_then(|record| click_id::open_record(keys, &record.0, app, shard, nonce).ok()))
}

//! Asks an outbox about a click whose id was pasted.

use crate::http::RequestContext;
use contract::{
    operation::{Bytes, CallError},
    outbox::{ClickOutcome, OutboxShard, ReadClick},
};
use domain::tracking::{Click, Nonce};

/// Reads the rewards of a click, and whether its user was erased after it.
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

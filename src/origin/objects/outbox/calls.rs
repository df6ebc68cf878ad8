//! An outbox's calls to other objects: the catalog, the counters, and the app's other outboxes.

use std::time::Duration;

use serde::de::DeserializeOwned;

use contract::{
    catalog::{self, LOST_TERMS},
    counters,
    operation::{CallError, ObjectAddress, Operation, OperatorReply, code_in},
    outbox::{Disabled, OutboxShard},
};
use domain::{
    conversions::parameters::INVALID_CLICK_ID,
    model::{OfferId, common},
};
use platform::{Failure, ObjectCall, Result, concurrent::each, log};

/// The timeout of a call. It is short because a sender waits.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Asks the catalog for terms, and parses the reply's body as `K`.
pub async fn ask_catalog<O, K>(runtime: &impl ObjectCall, question: O) -> Result<K>
where
    O: Operation<Answer = OperatorReply>,
    K: DeserializeOwned,
{
    let catalog = catalog::address(catalog::COMMAND_PATH);
    match runtime.call(&catalog, question, TIMEOUT).await {
        Ok(reply) => serde_json::from_str(&reply.body)
            .map_err(|error| Failure::Internal(format!("the catalog's answer about terms cannot be parsed: {error}"))),
        Err(CallError::Refused { body, .. }) if code_in(&body).as_deref() == Some(LOST_TERMS.code) => {
            Err(LOST_TERMS.into())
        }
        // An offer is deleted only once none of its clicks can convert, so a 404 means a wrong click id.
        Err(CallError::Refused { status: 404, .. }) => {
            Err(INVALID_CLICK_ID.with_message("click_id refers to an unknown app or offer").into())
        }
        Err(error) => Err(unavailable("the catalog", &error)),
    }
}

/// Sends an operation to an object. Every failure of the call is logged and returned as `unavailable`.
pub async fn ask<O: Operation>(runtime: &impl ObjectCall, to: &ObjectAddress, operation: O) -> Result<O::Answer> {
    let answer = runtime.call(to, operation, TIMEOUT).await;
    answer.map_err(|error| unavailable(&to.name, &error))
}

/// Returns the address of the counters that have an offer's caps.
pub fn counters_of(offer: &OfferId) -> ObjectAddress {
    counters::address(counters::object_name(offer))
}

/// Tells an app's other outboxes that the endpoint has disabled itself. An outbox that cannot be reached learns of it
/// from its own next attempt.
pub async fn tell_disabled(runtime: &impl ObjectCall, own: OutboxShard, outboxes: u8, disabled: Disabled) {
    let tell = async |number| {
        let other = OutboxShard { number, ..own };
        let told = runtime.call(&other.address(), disabled, TIMEOUT).await;
        if let Err(error) = told {
            log::warn(
                "outbox",
                format_args!("{} was not told that the endpoint is disabled: {error}", other.object_name()),
            );
        }
    };
    let others = (0..outboxes).filter(|number| *number != own.number);
    each(others, tell).await;
}

fn unavailable(object: &str, error: &CallError) -> Failure {
    log::warn("outbox", format_args!("a call to {object} failed: {error}"));
    common::UNAVAILABLE.into()
}

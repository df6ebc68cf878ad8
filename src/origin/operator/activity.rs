//! The counts of a publisher's rewards, from its activity object.

use super::{TIMEOUT, ask_catalog, segment};
use crate::{
    dashboard::reward_query::{self, Firsts},
    isolate::RequestContext,
};
use contract::{
    activity::{self, ReadActivity},
    catalog::{Get, Resource},
};
use domain::model::{
    PublisherId,
    api_error::{ApiError, common},
    time::UtcDay,
};
use platform::{http::answer::Answer, traits::ObjectCall};

/// `GET publishers/{publisher_id}/activity`: as the publisher's dashboard reads it, without the steps to go live that only
/// the ledger knows.
pub async fn read(context: &RequestContext, segments: &[&str]) -> Result<Answer, ApiError> {
    let id = segment(segments, 0);
    let publisher = PublisherId::parse(&id)
        .ok_or_else(|| common::NOT_FOUND.with_message("there is no such publisher"))?;
    let resource = Resource::Publisher;
    if let Err(refused) = ask_catalog::<_, serde_json::Value>(context, Get { resource, id }).await {
        return Ok(refused.into_answer());
    }
    let from = UtcDay::of_ms(context.now_ms).minus(reward_query::DAYS - 1);
    let to = activity::address(&publisher);
    let read = context.workers.call(&to, ReadActivity { from }, TIMEOUT).await;
    Ok(match read {
        Ok(read) => Answer::json(200, reward_query::activity(&read, Firsts::default()).to_string()),
        Err(error) => error.into(),
    })
}

//! The counts of a publisher's rewards, from its activity object.

use super::{TIMEOUT, segment};
use crate::{
    dashboard::reward_query::{self, Firsts},
    isolate::RequestContext,
};
use contract::activity::{self, ReadActivity};
use domain::model::{
    PublisherId,
    api_error::{ApiError, common},
    time::UtcDay,
};
use platform::{http::answer::Answer, traits::ObjectCall};

/// `GET publishers/{publisher_id}/activity`: as the publisher's dashboard reads it, without the steps to go live that only
/// the ledger knows.
pub async fn read(context: &RequestContext, segments: &[&str]) -> Result<Answer, ApiError> {
    let publisher = PublisherId::parse(&segment(segments, 0))
        .ok_or_else(|| common::NOT_FOUND.with_message("there is no such publisher"))?;
    let from = UtcDay::of_ms(context.now_ms).minus(reward_query::DAYS - 1);
    let to = activity::address(&publisher);
    let read = context.workers.call(&to, ReadActivity { from }, TIMEOUT).await;
    Ok(match read {
        Ok(read) => Answer::json(200, reward_query::activity(&read, Firsts::default()).to_string()),
        Err(error) => error.into(),
    })
}

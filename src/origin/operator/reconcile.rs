//! `GET …/reconcile`: compares what an app's outboxes paid on a UTC day with the ledger's facts.

use futures_util::{StreamExt, TryStreamExt, stream};
use url::form_urlencoded;

use super::{
    TIMEOUT,
    outbox::{Outboxes, answer, settings},
};
use crate::{
    isolate::RequestContext,
    outbox::reconcile::{Comparison, MAX_TRANSACTIONS},
};
use contract::{
    ledger::{self, OPERATOR, ReadOffers},
    operation::CallError,
    outbox::{ListDay, ReadDay},
};
use domain::{
    model::{
        AppId,
        api_error::{ApiError, common},
        document::FieldError,
        time::UtcDay,
    },
    reporting::facts,
};
use platform::{CONNECTIONS, http::answer::Answer, traits::ObjectCall};

pub async fn reconcile(context: &RequestContext, query: &str) -> Result<Answer, ApiError> {
    let parameter = |name: &str| {
        form_urlencoded::parse(query.as_bytes())
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.into_owned())
            .ok_or_else(|| common::MISSING_FIELD.with_message(format!("{name} is required")))
    };
    let app =
        AppId::parse(&parameter("app")?).ok_or_else(|| FieldError::new("app", "must be exactly 8 digits"))?;
    let day = facts::day(&parameter("date")?).map_err(|problem| FieldError::new("date", problem))?;
    let settings = match settings(context, app).await {
        Ok(settings) => settings,
        Err(answer) => return Ok(answer),
    };
    let outboxes = Outboxes::new(context, app, settings);
    Ok(answer(compare(context, &outboxes, app, day).await))
}

async fn compare(
    context: &RequestContext,
    outboxes: &Outboxes<'_>,
    app: AppId,
    day: UtcDay,
) -> Result<Comparison, CallError> {
    let read = async |number: &u8| {
        let read = outboxes.call(*number, ReadDay { day }, TIMEOUT).await?;
        Ok::<_, CallError>((*number, read))
    };
    let mut days: Vec<_> = stream::iter(&outboxes.settings.outboxes)
        .map(read)
        .buffer_unordered(CONNECTIONS)
        .try_collect()
        .await?;
    days.sort_unstable_by_key(|(number, _)| *number);
    let ledger = ledger::address(&outboxes.settings.publisher_id, OPERATOR);
    let facts = context
        .workers
        .call(&ledger, ReadOffers { app, day }, TIMEOUT)
        .await?;
    let mut comparison = Comparison::new(app, day, &days, facts);
    for (number, offer) in comparison.to_list(&days) {
        let limit = MAX_TRANSACTIONS.saturating_sub(comparison.transactions.len());
        let list = ListDay {
            day,
            offer,
            limit: u32::try_from(limit).unwrap_or(0),
        };
        if limit > 0 {
            let listed = outboxes.call(number, list, TIMEOUT).await?;
            comparison.transactions.extend(listed);
        }
    }
    Ok(comparison)
}

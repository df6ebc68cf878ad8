//! `GET …/reconcile`: compares what an app's outboxes paid on a UTC day with the ledger's facts.

use super::{TIMEOUT, outbox::answer, parameter};
use crate::http::{
    comparison::{Comparison, MAX_TRANSACTIONS, read_day},
    isolate::RequestContext,
    refusal::HandlerResult,
    site::outboxes::Outboxes,
};
use contract::{
    ledger::{self, OPERATOR, ReadOffers},
    operation::CallError,
    outbox::{ListDay, OutboxShard, ReadDay},
};
use domain::{
    model::{AppId, api_error::common, document::FieldError, time::UtcDay},
    reporting::facts,
};

pub async fn reconcile(context: &RequestContext, query: &str) -> HandlerResult {
    let required = |name: &str| {
        parameter(query, name)
            .ok_or_else(|| common::MISSING_FIELD.with_message(format!("{name} is required")))
    };
    let app =
        AppId::parse(&required("app")?).ok_or_else(|| FieldError::new("app", "must be exactly 8 digits"))?;
    let day = facts::day(&required("date")?).map_err(|problem| FieldError::new("date", problem))?;
    let outboxes = Outboxes::of(context, app).await?;
    answer(&compare(context, &outboxes, app, day).await?)
}

async fn compare(
    context: &RequestContext,
    outboxes: &Outboxes<'_>,
    app: AppId,
    day: UtcDay,
) -> Result<Comparison, CallError> {
    // The marks first: up to them, logs do not change.
    let numbers = outboxes.numbers();
    let name = |number: &u8| OutboxShard { app, number: *number }.object_name();
    let read = ReadOffers {
        app,
        day,
        sources: numbers.iter().map(name).collect(),
    };
    let ledger = ledger::address(&outboxes.settings.publisher_id, OPERATOR);
    let counted = context.call(&ledger, read).await?;
    let read = async |number: u8| {
        let mark = counted
            .sources
            .get(usize::from(number))
            .map_or(0, |source| source.mark);
        let step = async |step: ReadDay| outboxes.call(number, step, TIMEOUT).await;
        Ok((number, read_day(day, mark, step).await?))
    };
    let days = outboxes.ask_each(read).await?;
    let mut comparison = Comparison::new(app, day, &days, counted);
    for (number, offer) in comparison.to_list(&days) {
        let mut next = Some(0);
        while let Some(after) = next {
            let limit = MAX_TRANSACTIONS.saturating_sub(comparison.transactions.len());
            if limit == 0 {
                return Ok(comparison);
            }
            let list = ListDay {
                day,
                offer: offer.clone(),
                after,
                limit: u32::try_from(limit).unwrap_or(0),
            };
            let listed = outboxes.call(number, list, TIMEOUT).await?;
            comparison.transactions.extend(listed.entries);
            next = listed.next;
        }
    }
    Ok(comparison)
}

//! `GET …/reconcile`: compares what an app's outboxes paid on a UTC day with the ledger's facts.

use super::{TIMEOUT, answer, parameter};
use crate::http::{
    HandlerResult, RequestContext,
    comparison::{Comparison, MAX_TRANSACTIONS},
    site::outboxes::Outboxes,
};
use contract::{operation::CallError, outbox::ListDay};
use domain::{
    model::{AppId, FieldError, UtcDay, common},
    reporting::facts,
};

pub async fn reconcile(context: &RequestContext, query: &str) -> HandlerResult {
    let required = |name: &str| {
        parameter(query, name).ok_or_else(|| common::MISSING_FIELD.with_message(format!("{name} is required")))
    };
    let app = AppId::parse(&required("app")?).ok_or_else(|| FieldError::new("app", "must be exactly 8 digits"))?;
    let day = facts::day(&required("date")?).map_err(|problem| FieldError::new("date", problem))?;
    let outboxes = Outboxes::of(context, app).await?;
    answer(&compare(&outboxes, app, day).await?)
}

async fn compare(outboxes: &Outboxes<'_>, app: AppId, day: UtcDay) -> Result<Comparison, CallError> {
    let counted = outboxes.read_counted(day).await?;
    let days = outboxes.read_days(day, &counted, outboxes.numbers()).await?;
    let mut comparison = Comparison::new(app, day, &days, counted);
    for (number, offer) in comparison.to_list(&days) {
        let mut next = Some(0);
        while let Some(after) = next {
            let limit = MAX_TRANSACTIONS.saturating_sub(comparison.transactions.len());
            if limit == 0 {
                return Ok(comparison);
            }
            let list = ListDay { day, offer: offer.clone(), after, limit: u32::try_from(limit).unwrap_or(0) };
            let listed = outboxes.call(number, list, TIMEOUT).await?;
            comparison.transactions.extend(listed.entries);
            next = listed.next;
        }
    }
    Ok(comparison)
}

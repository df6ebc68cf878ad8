//! The rows behind a figure: an app's day by offer, the payments of an offer on that day, and changes of final days.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use super::{own_app, visitor::Visitor};
use crate::{
    http::{
        calls::{read_page, read_place, segment},
        comparison, day_changes,
        isolate::RequestContext,
        refusal::{HandlerResult, Refusal},
        site::outboxes::Outboxes,
    },
    objects::outbox::{conversions::settlement::Place, retention::ROW_RETENTION_MS},
};
use contract::{
    catalog::AppSettings,
    ledger::{CountedDay, ListDayChanges},
    outbox::{DayEntry, ListDay},
    rewards::RewardKind,
};
use domain::{
    model::{MicroUsd, OfferId, api_error::ApiError, document::FieldError, time::UtcDay},
    reporting::facts,
};
use platform::{database::MAX_INTEGER, http::answer::Answer, runtime::now_ms};

/// Maximum payments or changes on a page.
const MAX_LIMIT: u32 = 100;
/// The time limit of the search for a page of payments, in milliseconds. After it, the page has the payments found so
/// far.
const SEARCH_MS: i64 = 10_000;
const TIMEOUT: Duration = Duration::from_secs(5);

/// The app and the day that a path names. The app belongs to the visitor's publisher.
struct AppDay<'c> {
    outboxes: Outboxes<'c>,
    day: UtcDay,
    counted: CountedDay,
}

impl<'c> AppDay<'c> {
    async fn of(context: &'c RequestContext, visitor: &Visitor, segments: &[&str]) -> Result<Self, Refusal> {
        let (app, settings) = own_app::read::<AppSettings>(context, visitor, segments).await?;
        let day = facts::day(&segment(segments, 1)).map_err(|problem| FieldError::new("date", problem))?;
        let outboxes = Outboxes::new(context, app, settings);
        let counted = outboxes.read_counted(day).await?;
        Ok(Self { outboxes, day, counted })
    }

    /// Returns the outboxes that have sent sums to the ledger. Other outboxes may not exist, and calling one would
    /// create it.
    fn numbers(&self) -> Vec<u8> {
        let has_reported = |number: &u8| {
            let source = self.counted.sources.get(usize::from(*number));
            source.is_some_and(|source| source.mark > 0)
        };
        self.outboxes.numbers().into_iter().filter(has_reported).collect()
    }
}

/// `GET apps/{app_id}/days/{date}`: the revenue of each offer, next to the rewards behind it.
pub async fn offers(context: &RequestContext, visitor: &Visitor, segments: &[&str]) -> HandlerResult {
    let of = AppDay::of(context, visitor, segments).await?;
    let days = of.outboxes.read_days(of.day, &of.counted, of.numbers()).await?;
    let is_kept = of.day > UtcDay::of_ms(context.now_ms.saturating_sub(ROW_RETENTION_MS));
    let body = json!({ "offers": comparison::figures(&days, of.counted, is_kept) });
    Ok(Answer::json(200, body.to_string()))
}

/// A payment as a publisher reads it.
#[derive(Serialize)]
struct Payment<'e> {
    transaction_id: &'e str,
    kind: RewardKind,
    goal_id: &'e str,
    conversion_ts: i64,
    /// Negative for a reversal.
    payout: MicroUsd,
}

impl<'e> Payment<'e> {
    fn of(entry: &'e DayEntry) -> Self {
        Self {
            transaction_id: &entry.transaction_id,
            kind: entry.kind,
            goal_id: &entry.goal_id,
            conversion_ts: entry.conversion_ts,
            payout: MicroUsd(entry.paid_micro_usd),
        }
    }
}

/// `GET apps/{app_id}/days/{date}/offers/{offer_id}`: the offer's rewards and reversals on the day, outbox by outbox.
pub async fn payments(context: &RequestContext, visitor: &Visitor, segments: &[&str], query: &str) -> HandlerResult {
    let (limit, cursor) = read_page(query, MAX_LIMIT)?;
    let from = parse_cursor(cursor.as_deref())?;
    let of = AppDay::of(context, visitor, segments).await?;
    let Some(offer) = OfferId::parse(&segment(segments, 2)) else {
        return Err(FieldError::new("offer_id", "must be an offer id").into());
    };
    let (mut found, mut next): (Vec<DayEntry>, _) = (Vec::new(), None);
    let until_ms = now_ms().saturating_add(SEARCH_MS);
    'outboxes: for number in of.numbers().into_iter().filter(|number| *number >= from.outbox) {
        let mut next_after = Some(if number == from.outbox { from.after } else { 0 });
        while let Some(after) = next_after {
            let left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(limit));
            if left == 0 || now_ms() >= until_ms {
                let place = Place { outbox: number, after };
                next = Some(place.to_text());
                break 'outboxes;
            }
            let list = ListDay { day: of.day, offer: offer.clone(), after, limit: left };
            let listed = of.outboxes.call(number, list, TIMEOUT).await?;
            found.extend(listed.entries);
            next_after = listed.next;
        }
    }
    let rows: Vec<_> = found.iter().map(Payment::of).collect();
    Ok(Answer::json(200, json!({ "rows": rows, "cursor": next }).to_string()))
}

/// Parses a cursor: an outbox, and the number in its log after which the page begins.
fn parse_cursor(cursor: Option<&str>) -> Result<Place, ApiError> {
    let Some(cursor) = cursor else {
        return Ok(Place::default());
    };
    let problem = "must be the cursor of an earlier page";
    Place::parse(cursor).ok_or_else(|| FieldError::new("cursor", problem).into())
}

/// `GET changes`: changes of final days, the newest first.
pub async fn changes(context: &RequestContext, visitor: &Visitor, query: &str) -> HandlerResult {
    let (limit, cursor) = read_page(query, MAX_LIMIT)?;
    let list = ListDayChanges { after: 0, limit, before: Some(read_place(cursor)?.unwrap_or(MAX_INTEGER)) };
    day_changes::page(context, &visitor.publisher, list).await
}

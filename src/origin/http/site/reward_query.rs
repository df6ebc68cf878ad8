//! The body of `POST rewards`, and the JSON of activity and rewards as pages read it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::reward_filter::{Conditions, parse as parse_member};
use contract::{
    activity::{Activity, Counts, ListRewards, ListedReward, Place, RewardPage},
    ledger::Freshness,
    rewards::{RewardDelivery, RewardKind, RewardState},
};
use domain::model::{ApiError, AppId, Document, FieldError, SECOND_MS};

/// Number of days that the counts cover, today included.
pub const DAYS: i32 = 60;
/// The default number of rewards on a page.
const DEFAULT_LIMIT: u32 = 50;
pub const MAX_LIMIT: u32 = 200;
#[derive(Default, Deserialize)]
struct Body {
    app_id: Option<String>,
    #[serde(default)]
    filter: Conditions,
    limit: Option<u32>,
    cursor: Option<String>,
    after: Option<String>,
}

impl Document for Body {
    fn check(&self) -> Result<(), FieldError> {
        let error = |path: &str, problem: &str| Err(FieldError::new(path, problem));
        self.filter.check()?;
        if self.limit.is_some_and(|limit| !(1..=MAX_LIMIT).contains(&limit)) {
            return error("limit", "must be an integer from 1 to 200");
        }
        if self.cursor.is_some() && self.after.is_some() {
            return error("after", "must not come with a cursor");
        }
        Ok(())
    }
}

/// Parses the body of `POST rewards`.
///
/// # Errors
/// A field is unknown, or its value is invalid.
pub fn parse(body: &str, is_analyst: bool) -> Result<ListRewards, ApiError> {
    let body = Body::from_json(body)?;
    Ok(ListRewards {
        app: parse_member("app_id", body.app_id.as_deref(), AppId::parse, "must have 8 digits")?,
        filter: body.filter.read()?,
        limit: body.limit.unwrap_or(DEFAULT_LIMIT),
        before: parse_member("cursor", body.cursor.as_deref(), parse_place, "must be the cursor of an earlier page")?,
        after: parse_member(
            "after",
            body.after.as_deref(),
            |text| text.parse().ok().filter(|version: &i64| *version >= 0),
            "must be the `newest` of an earlier answer",
        )?,
        is_analyst,
    })
}

fn parse_place(text: &str) -> Option<Place> {
    let (entry, app) = text.split_once('.')?;
    Some(Place { entry: entry.parse().ok().filter(|entry: &i64| *entry >= 0)?, app: AppId::parse(app)? })
}

/// The answer to `POST rewards`.
pub fn page(page: &RewardPage, is_analyst: bool) -> Value {
    let next = page.next.map(|place| format!("{}.{}", place.entry, place.app));
    let rows = page.rewards.iter();
    json!({
        "behind_ms": page.behind_ms,
        "rows": match is_analyst {
            true => json!(rows.map(AnalystRow::of).collect::<Vec<_>>()),
            false => json!(rows.map(Row::of).collect::<Vec<_>>()),
        },
        "unmatched": page.unmatched,
        "cursor": next,
        "newest": page.version.to_string(),
        "has_more_changes": page.has_more_changes,
    })
}

/// A row for an analyst: `AnalystRow` of openapi-dashboard.yaml. A test compares the keys.
#[derive(Serialize)]
struct AnalystRow<'r> {
    app_id: AppId,
    transaction_id: &'r str,
    original_transaction_id: Option<&'r str>,
    kind: RewardKind,
    state: RewardState,
    delivery: Option<RewardDelivery>,
    http_status: Option<u16>,
    attempts: u32,
    offer_id: &'r str,
    goal_id: &'r str,
    value: Value,
    payout: Value,
    currency: &'r str,
    click_ts: i64,
    conversion_ts: i64,
    delivered_ts: Option<i64>,
}

impl<'r> AnalystRow<'r> {
    fn of(reward: &'r ListedReward) -> Self {
        let details = &reward.details;
        Self {
            app_id: reward.app,
            transaction_id: &reward.transaction_id,
            original_transaction_id: details.original_transaction_id.as_deref(),
            kind: details.kind,
            state: reward.state,
            delivery: reward.delivery,
            http_status: reward.http_status,
            attempts: details.attempts,
            offer_id: &details.offer_id,
            goal_id: &details.goal_id,
            value: number(&details.value),
            payout: number(&details.payout),
            currency: &details.currency,
            click_ts: details.click_ts,
            conversion_ts: reward.conversion_ts,
            delivered_ts: reward.delivered_ms.map(|ms| ms.div_euclid(SECOND_MS)),
        }
    }
}

/// A row for members of all other roles.
#[derive(Serialize)]
struct Row<'r> {
    #[serde(flatten)]
    for_all: AnalystRow<'r>,
    user_id: Option<&'r str>,
    code: Option<&'r str>,
}

impl<'r> Row<'r> {
    fn of(reward: &'r ListedReward) -> Self {
        Self {
            for_all: AnalystRow::of(reward),
            user_id: reward.user_id.as_deref(),
            code: reward.details.code.as_deref(),
        }
    }
}

/// Returns a decimal number as JSON, rounded to a double. The story of a reward has all digits.
fn number(text: &str) -> Value {
    text.parse::<f64>().map_or(Value::Null, Value::from)
}

/// The answer to `GET activity`. The ledger's `freshness` has the times of the first counted click and first report.
pub fn activity(activity: &Activity, freshness: Option<Freshness>) -> Value {
    let days = activity.days.iter().map(|day| {
        let mut members = counts(&day.counts);
        members.insert("date".into(), day.day.to_string().into());
        Value::Object(members)
    });
    let apps = activity.apps.iter().map(|app| {
        let mut members = counts(&app.counts);
        members.insert("app_id".into(), app.app.to_string().into());
        let endpoint = &app.endpoint;
        members.insert(
            "endpoint".into(),
            json!({
                "state": endpoint.state,
                "since": endpoint.disabled_ms.map(|ms| ms.div_euclid(SECOND_MS)),
                "waiting": endpoint.waiting,
                "dead": endpoint.dead,
            }),
        );
        Value::Object(members)
    });
    let seconds = |ms: Option<i64>| ms.map(|ms| ms.div_euclid(SECOND_MS));
    json!({
        "behind_ms": activity.behind_ms,
        "days": days.collect::<Vec<_>>(),
        "apps": apps.collect::<Vec<_>>(),
        "first": {
            // Always null, because the edge answers lists of offers and reports them to no object.
            "list": null,
            "click": seconds(freshness.and_then(|freshness| freshness.first_click_ms)),
            "conversion": seconds(activity.first_conversion_ms),
            "callback": seconds(activity.first_callback_ms),
            "report": seconds(freshness.and_then(|freshness| freshness.first_report_ms)),
        },
    })
}

fn counts(counts: &Counts) -> serde_json::Map<String, Value> {
    match json!(counts) {
        Value::Object(members) => members,
        _ => serde_json::Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::rewards::RewardFilter;

    #[test]
    fn every_condition_is_read() {
        let body = json!({
            "app_id": "00000042", "limit": 7, "cursor": "12.00000042",
            "filter": {
                "state": "held", "delivery": "no_endpoint", "http_status": 503, "from": 1, "until": 2,
                "transaction_id": "t", "user_id": "u"
            },
        });
        let list = parse(&body.to_string(), false).unwrap();
        let app = AppId::parse("00000042").unwrap();
        assert_eq!(list.app, Some(app));
        assert_eq!(
            list.filter,
            RewardFilter {
                state: Some(RewardState::Held),
                delivery: Some(RewardDelivery::NoEndpoint),
                http_status: Some(503),
                from: Some(1),
                until: Some(2),
                transaction_id: Some("t".into()),
                user_id: Some("u".into()),
            }
        );
        assert_eq!((list.limit, list.before), (7, Some(Place { entry: 12, app })));
        let polled = parse(r#"{"after":"3"}"#, true).unwrap();
        assert_eq!((polled.after, polled.limit, polled.is_analyst), (Some(3), 50, true));
    }

    #[test]
    fn a_wrong_field_is_named() {
        for (body, path) in [
            (r#"{"app_id":"42"}"#, "app_id"),
            (r#"{"filter":{"state":"paid"}}"#, "filter.state"),
            (r#"{"filter":{"delivery":"sent"}}"#, "filter.delivery"),
            (r#"{"filter":{"http_status":42}}"#, "filter.http_status"),
            (r#"{"filter":{"http_status":600}}"#, "filter.http_status"),
            (r#"{"filter":{"from":-1}}"#, "filter.from"),
            (r#"{"filter":{"from":2,"until":1}}"#, "filter.until"),
            (r#"{"app_id":"00000042","filter":{"user_id":""}}"#, "filter.user_id"),
            (r#"{"filter":{"transaction_id":""}}"#, "filter.transaction_id"),
            (r#"{"limit":0}"#, "limit"),
            (r#"{"limit":201}"#, "limit"),
            (r#"{"cursor":"12"}"#, "cursor"),
            (r#"{"after":"x"}"#, "after"),
            (r#"{"after":"1","cursor":"12.00000042"}"#, "after"),
        ] {
            let error = parse(body, false).unwrap_err();
            assert_eq!(error.code, "invalid_field", "{body}");
            assert!(error.message.starts_with(&format!("{path}: ")), "{body}: {}", error.message);
        }
        // A filter by user needs no app.
        assert!(parse(r#"{"filter":{"user_id":"u"}}"#, false).is_ok());
        for body in [r#"{"user":"u"}"#, r#"{"filter":{"to":1}}"#] {
            assert_eq!(parse(body, false).unwrap_err().code, "unknown_field");
        }
    }
}

//! `GET …/facts`: segments, rows and sums of each day and layer, so that an operator can see whether a day was loaded.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::{
    segments::{self, Layer},
    sql,
};
use contract::{accounts::OPERATOR_NAME, catalog::MAX_PAGE, operation::OperatorReply};
use domain::{
    model::{
        MicroUsd,
        api_error::ApiError,
        document::FieldError,
        time::{SECOND_MS, UtcDay},
    },
    reporting::Measure,
};
use platform::{database::Database, failure::Failure, params};

/// A page of days, the newest first. `before` is the previous page's cursor, a date.
pub fn list(db: &impl Database, limit: u32, before: Option<&str>) -> Result<OperatorReply, Failure> {
    let before = match before {
        None => i64::from(i32::MAX),
        Some(cursor) => UtcDay::parse(cursor)
            .ok_or_else(|| ApiError::from(FieldError::new("cursor", "is not one that a list gave")))?
            .number(),
    };
    // One day more than requested shows whether there is a next page.
    let limit = limit.clamp(1, MAX_PAGE);
    let mut days: BTreeMap<UtcDay, Map<String, Json>> = BTreeMap::new();
    for row in db.query(sql::LIST_DAYS, params![before, limit + 1])? {
        let layer = if row.integer(1)? == Layer::Offers.number() {
            "offers"
        } else {
            "loaded"
        };
        let mut summary = Map::new();
        summary.insert("segments".into(), json!(row.integer(2)?));
        summary.insert("rows".into(), json!(row.integer(3)?));
        for (at, measure) in Measure::ALL.into_iter().enumerate() {
            let sum = row.integer(4 + at)?;
            let value = if measure == Measure::Revenue {
                json!(MicroUsd(sum))
            } else {
                json!(sum)
            };
            summary.insert(measure.as_str().into(), value);
        }
        let day = days.entry(segments::day(row.integer(0)?)?).or_default();
        day.insert(layer.into(), summary.into());
    }
    note_loads(db, &mut days)?;
    let more = u32::try_from(days.len()).is_ok_and(|found| found > limit);
    let listed: Vec<(UtcDay, Map<String, Json>)> = days.into_iter().rev().take(limit as usize).collect();
    let cursor = listed.last().filter(|_| more).map(|(day, _)| day.to_string());
    let listed: Vec<Json> = listed
        .into_iter()
        .map(|(day, mut layers)| {
            layers.insert("date".into(), day.to_string().into());
            layers.into()
        })
        .collect();
    Ok(OperatorReply::ok(&json!({ "days": listed, "cursor": cursor })))
}

/// Adds when each day's facts were last loaded and by whom, where that is known.
fn note_loads(db: &impl Database, days: &mut BTreeMap<UtcDay, Map<String, Json>>) -> Result<(), Failure> {
    let (Some((first, _)), Some((last, _))) = (days.first_key_value(), days.last_key_value()) else {
        return Ok(());
    };
    for row in db.query(sql::LIST_LOADS, params![first.number(), last.number()])? {
        let loaded = days
            .get_mut(&segments::day(row.integer(0)?)?)
            .and_then(|layers| layers.get_mut("loaded")?.as_object_mut());
        if let Some(loaded) = loaded {
            let by = row.optional_text(2)?.unwrap_or(OPERATOR_NAME);
            loaded.insert("loaded_at".into(), row.integer(1)?.div_euclid(SECOND_MS).into());
            loaded.insert("loaded_by".into(), by.into());
        }
    }
    Ok(())
}

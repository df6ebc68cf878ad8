//! `GET …/facts`: segments, rows and sums of each day and layer, and whether the day was loaded and is final.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::{
    day_changes::shown,
    segments::{self, Layer},
    sql,
};
use contract::{accounts::OPERATOR_NAME, catalog::MAX_PAGE, ledger::DayState, operation::OperatorReply};
use domain::model::{ApiError, FieldError, SECOND_MS, UtcDay};
use platform::{Database, DbResult, Result, params};

/// Returns a page of days, newest first. `before` is the previous page's cursor, a date.
pub fn list(db: &impl Database, limit: u32, before: Option<&str>) -> Result<OperatorReply> {
    let before = match before {
        None => i64::from(i32::MAX),
        Some(cursor) => UtcDay::parse(cursor)
            .ok_or_else(|| ApiError::from(FieldError::new("cursor", "must be the cursor of an earlier page")))?
            .number(),
    };
    // One day more than the limit shows whether there is a next page.
    let limit = limit.clamp(1, MAX_PAGE);
    let rows = db.query(sql::LIST_DAYS, params![before, limit + 1])?;
    let mut layers = match (rows.last(), rows.first()) {
        (Some(first), Some(last)) => sum_layers(db, first.integer(0)?, last.integer(0)?)?,
        _ => BTreeMap::new(),
    };
    let mut days: Vec<Json> = Vec::new();
    for row in rows.iter().take(limit as usize) {
        let number = row.integer(0)?;
        let mut day = Map::new();
        day.insert("date".into(), segments::day(number)?.to_string().into());
        let state = match row.optional_integer(3)? {
            None => "not_loaded",
            Some(_) => row.decode(3, DayState::from_number)?.as_str(),
        };
        day.insert("state".into(), state.into());
        let mut layer = |layer: Layer| layers.remove(&(number, layer.number()));
        let mut loaded = layer(Layer::Loaded);
        if let Some(at_ms) = row.optional_integer(1)? {
            let loaded = loaded.get_or_insert_with(|| summary(&[0; 7]));
            loaded.insert("loaded_at".into(), at_ms.div_euclid(SECOND_MS).into());
            loaded.insert("loaded_by".into(), row.optional_text(2)?.unwrap_or(OPERATOR_NAME).into());
        }
        for (name, layer) in [("loaded", loaded), ("offers", layer(Layer::Offers))] {
            if let Some(layer) = layer {
                day.insert(name.into(), layer.into());
            }
        }
        days.push(day.into());
    }
    let more = rows.len() > days.len();
    let cursor = days.last().filter(|_| more).and_then(|day| day.get("date")).cloned();
    Ok(OperatorReply::ok(&json!({ "days": days, "cursor": cursor })))
}

/// The figures of layers, by day number and layer number.
type Layers = BTreeMap<(i64, i64), Map<String, Json>>;

fn sum_layers(db: &impl Database, first: i64, last: i64) -> DbResult<Layers> {
    let rows = db.query(sql::SUM_LAYERS, params![first, last])?;
    rows.iter()
        .map(|row| {
            let mut figures = [0; 7];
            for (at, figure) in figures.iter_mut().enumerate() {
                *figure = row.integer(2 + at)?;
            }
            Ok(((row.integer(0)?, row.integer(1)?), summary(&figures)))
        })
        .collect()
}

/// Returns the segments, the rows and the five sums as JSON.
fn summary([segments, rows, sums @ ..]: &[i64; 7]) -> Map<String, Json> {
    let mut summary = Map::new();
    summary.insert("segments".into(), json!(segments));
    summary.insert("rows".into(), json!(rows));
    summary.extend(shown(sums));
    summary
}

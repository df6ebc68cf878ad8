//! The operator's list: a page of the open items, oldest first, and the number of open items of each kind.

use std::collections::BTreeMap;

use contract::{
    attention::{ItemPlace, Kind, ListAttention},
    operation::OperatorReply,
};
use domain::model::AppId;
use platform::{Database, DbResult, Result, Row, database::json as as_json, params};
use serde::Serialize;
use serde_json::value::RawValue;

use super::sql;

#[derive(Serialize)]
struct Page<'r> {
    items: Vec<Item<'r>>,
    /// The number of open items, by kind.
    counts: BTreeMap<Kind, i64>,
    /// The number of open items for which the list has no room, by kind.
    not_listed: BTreeMap<Kind, i64>,
    behind_ms: i64,
    cursor: Option<String>,
}

#[derive(Serialize)]
struct Item<'r> {
    /// Set if only a person can end the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    item_id: Option<String>,
    kind: Kind,
    app_id: Option<AppId>,
    publisher_id: Option<&'r str>,
    subject: &'r str,
    since_ms: i64,
    reason: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    payout_usd: Option<&'r RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<i64>,
}

/// Answers `GET …/attention`.
pub fn list(db: &impl Database, now_ms: i64, list: &ListAttention) -> Result<OperatorReply> {
    let after = list.after.unwrap_or(ItemPlace { since_ms: 0, item: 0 });
    let mut rows = db.query(
        sql::LIST,
        params![
            after.since_ms,
            after.item,
            list.kind.map(|kind| kind.number()),
            list.app.map(AppId::number),
            list.limit.saturating_add(1)
        ],
    )?;
    let limit = usize::try_from(list.limit).unwrap_or(usize::MAX);
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let cursor = match rows.last() {
        Some(last) if has_more => Some(place(last)?.to_cursor()),
        _ => None,
    };
    let [counts, not_listed] = count(db)?;
    let missing_since_ms = db.query_integer(sql::MISSING_SINCE, params![now_ms])?;
    let page = Page {
        items: rows.iter().map(item).collect::<Result<_, _>>()?,
        counts,
        not_listed,
        behind_ms: missing_since_ms.map_or(0, |since_ms| now_ms.saturating_sub(since_ms).max(0)),
        cursor,
    };
    Ok(OperatorReply::new(200, as_json(&page)?))
}

fn place(row: &Row) -> DbResult<ItemPlace> {
    Ok(ItemPlace { since_ms: row.integer(5)?, item: row.integer(0)? })
}

fn item(row: &Row) -> DbResult<Item<'_>> {
    let kind = row.decode(1, Kind::from_number)?;
    let place = place(row)?;
    Ok(Item {
        item_id: (kind == Kind::Restored).then(|| place.to_cursor()),
        kind,
        app_id: row.optional_number(2)?.and_then(AppId::from_number),
        publisher_id: row.optional_text(3)?,
        subject: row.text(4)?,
        since_ms: row.integer(5)?,
        reason: row.text(6)?,
        // A decimal number is valid JSON.
        payout_usd: row.optional_text(7)?.and_then(|payout| serde_json::from_str(payout).ok()),
        bytes: row.optional_integer(8)?,
    })
}

/// Counts, by kind, the open items and those missing from the list. For limited kinds the sources supply the number of
/// open items, because the list may omit some.
fn count(db: &impl Database) -> DbResult<[BTreeMap<Kind, i64>; 2]> {
    let zeros = || Kind::ALL.iter().map(|kind| (*kind, 0)).collect::<BTreeMap<_, _>>();
    let (mut counts, mut not_listed) = (zeros(), zeros());
    not_listed.retain(|kind, _| kind.is_limited());
    for row in db.query(sql::COUNT, &[])? {
        let kind = row.decode(0, Kind::from_number)?;
        let listed = row.integer(1)?;
        let open = match kind.is_limited() {
            true => row.optional_integer(2)?.unwrap_or(0).max(listed),
            false => listed,
        };
        counts.insert(kind, open);
        if let Some(count) = not_listed.get_mut(&kind) {
            *count = open.saturating_sub(listed);
        }
    }
    Ok([counts, not_listed])
}
